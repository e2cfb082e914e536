import { expect, test } from 'vitest'
import { LineReader } from './line-reader.js'

function read(limitBytes: number, ...chunks: (string | number[] | Buffer)[]): string[] {
  const seen: string[] = []
  const reader = new LineReader(
    limitBytes,
    (line) => seen.push(line),
    (violation) => seen.push(`! ${violation}`),
  )
  for (const chunk of chunks) reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk))
  return seen
}

test('puts a line together from pieces, also when a character is split', () => {
  const bytes = Buffer.from('früh ✓ 😀\n')
  expect(read(64, ...[...bytes].map((byte) => [byte]))).toEqual(['früh ✓ 😀'])
})

test('cuts many lines from one chunk and holds the rest', () => {
  expect(read(64, 'a\nb\n\nc', 'd\n')).toEqual(['a', 'b', '', 'cd'])
})

test('ends a line at its newline only: a carriage return belongs to it', () => {
  expect(read(64, 'a\r\nb\rc\n')).toEqual(['a\r', 'b\rc'])
})

test('takes a line of exactly the limit, counted in bytes, and refuses one byte more', () => {
  expect(read(4, 'ääää\n')).toEqual(['! line too long'])
  expect(read(4, 'ää\n')).toEqual(['ää'])
  expect(read(4, '12345\n')).toEqual(['! line too long'])
})

test('refuses an endless line as soon as it is over the limit', () => {
  expect(read(4, '123', '4', '5')).toEqual(['! line too long'])
})

test('refuses once and ignores everything after it', () => {
  expect(read(4, 'ok\n12345', '\nok\n', 'ok\n')).toEqual(['ok', '! line too long'])
})

test.each([[[0x61, 0xff, 0x0a]], [[0xc3, 0x0a]], [[0xed, 0xa0, 0x80, 0x0a]], [[0xc0, 0x80, 0x0a]]])(
  'refuses the bytes %j, which are not UTF-8',
  (bytes) => {
    expect(read(64, bytes, 'ok\n')).toEqual(['! not UTF-8'])
  },
)

test('keeps a byte order mark as part of the line', () => {
  expect(read(64, [0xef, 0xbb, 0xbf, 0x61, 0x0a])).toEqual(['\ufeffa'])
})

test('applies a limit that was raised by a line to the next one of the same chunk', () => {
  const seen: string[] = []
  const reader: LineReader = new LineReader(
    2,
    (line) => {
      seen.push(line)
      reader.limitBytes = 8
    },
    (violation) => seen.push(violation),
  )
  reader.push(Buffer.from('12\n12345678\n'))
  expect(seen).toEqual(['12', '12345678'])
})

test('emits nothing after it was stopped from within a line', () => {
  const seen: string[] = []
  const reader: LineReader = new LineReader(
    8,
    (line) => {
      seen.push(line)
      reader.stop()
    },
    (violation) => seen.push(violation),
  )
  reader.push(Buffer.from('a\nb\n123456789'))
  reader.push(Buffer.from('c\n'))
  expect(seen).toEqual(['a'])
})
