import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { walkGlob } from './walk-glob.js'

let base: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'glob-')))
})
afterEach(() => rmSync(base, { recursive: true }))

function put(path: string): string {
  mkdirSync(join(base, path, '..'), { recursive: true })
  writeFileSync(join(base, path), '')
  return join(base, path)
}

test('finds what a relative glob matches below its base, in hidden directories too', () => {
  const [a, b] = [put('.app/daemon.json'), put('deep/er/.app/daemon.json')]
  put('.app/other.txt')
  expect(walkGlob('**/.app/*.json', base).paths.toSorted()).toEqual([a, b].toSorted())
})

test('goes no deeper than its pattern', () => {
  const found = put('one/daemon.json')
  put('one/two/daemon.json')
  expect(walkGlob('*/daemon.json', base).paths).toEqual([found])
})

test('takes its base as it is, whatever its name looks like', () => {
  const found = put('a (b) [c] {d}/home/daemon.json')
  expect(walkGlob('*/daemon.json', join(base, 'a (b) [c] {d}')).paths).toEqual([found])
})

test('takes a plain path as it is', () => {
  expect(walkGlob('home/daemon.json', base).paths).toEqual([join(base, 'home/daemon.json')])
})

test('takes an absolute glob without a base, and leaves out a relative one', () => {
  const found = put('x/daemon.json')
  expect(walkGlob(`${base}/*/daemon.json`, null).paths).toEqual([found])
  expect(walkGlob('*/daemon.json', null).paths).toEqual([])
})

test('does not follow a directory that is a symbolic link', () => {
  put('real/daemon.json')
  symlinkSync(join(base, 'real'), join(base, 'link'))
  expect(walkGlob('**/daemon.json', base).paths).toEqual([join(base, 'real/daemon.json')])
})

test('stops at its bound and says so', () => {
  for (let i = 0; i < 201; i++) {
    const directory = join(base, `d${i}`)
    mkdirSync(directory)
    for (let j = 0; j < 100; j++) writeFileSync(join(directory, `f${j}`), '')
  }
  expect(walkGlob('**/daemon.json', base).isCutShort).toBe(true)
})

test('passes over a directory that may not be listed', () => {
  // Root may list everything, so another user looks.
  put('closed/daemon.json')
  const found = put('open/daemon.json')
  execFileSync('chmod', ['0755', base])
  execFileSync('chmod', ['0700', join(base, 'closed')])
  const script = `import(${JSON.stringify(new URL('../../dist/locators/walk-glob.js', import.meta.url).href)}).then(({ walkGlob }) => {
    if (process.getuid() === 0) process.setuid(65534)
    console.log(JSON.stringify(walkGlob('*/daemon.json', ${JSON.stringify(base)})))
  })`
  if (process.getuid?.() !== 0) execFileSync('chmod', ['0000', join(base, 'closed')])
  const walk = JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })) as unknown
  execFileSync('chmod', ['0700', join(base, 'closed')])
  expect(walk).toEqual({ paths: [found], isCutShort: false })
})
