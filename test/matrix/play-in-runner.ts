import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunnerName, Suite } from '../contract/run-suite.js'
import { apart, bundleStage } from './apart.js'
import { isWaitedFor, optionsOf } from './options.js'
import type { Row } from './row.js'

/** A suite with a test for each row. Another process, which is not of the run, arranges each when its test asks for it. */
export function suiteOf(runner: RunnerName, rows: readonly Row[], directory: string): Suite {
  const arranger = join(directory, 'arranger.mjs')
  writeFileSync(
    arranger,
    bundleStage("import { arrangeRows } from './arrange-rows.js'\nawait arrangeRows(process.argv.slice(2))"),
  )
  // More than there are processors, where the workers wait more than they work.
  const files = rows.some(isWaitedFor) ? 4 : 2
  const bodies = Array.from({ length: files }, (_, file) => rows.filter((_, at) => at % files === file).map(({ title }) => title))
  return {
    wrapper: [...apart, process.execPath, arranger],
    args: runner === 'jest' ? ['-w', String(files)] : [`--maxWorkers=${files}`],
    env: { CUSTODY_WITNESS: actsFile(directory) },
    options: optionsOf(rows),
    files: Object.fromEntries(bodies.map((titles, at) => [`rows-${at}`, bodyOf(titles)])),
  }
}

/** Where the run tells what it does to others. */
export function actsFile(directory: string): string {
  return join(directory, 'acts.jsonl')
}

const bodyOf = (titles: readonly string[]) => `
  const ask = async (step, title) => {
    const { dir: directory, env, id } = custody.namespace
    const place = { id, directory, mark: env.CUSTODY_NAMESPACE, pid: process.pid }
    const answer = await fetch(process.env.ARRANGER, { method: 'POST', body: JSON.stringify({ step, title, place }) })
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json()
  }
  let title
  afterEach(() => ask('restore', title))
  for (const each of ${JSON.stringify(titles)}) test(each, async () => {
    title = each
    const { retired } = await ask('arrange', title)
    await Promise.all(retired.map((path) => custody.retire(path)))
  })`
