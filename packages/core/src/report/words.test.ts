import { expect, test } from 'vitest'
import { counted, grouped, printable, quoted } from './words.js'

test.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1 000'],
  [12_345_678, '12 345 678'],
  [4_999.6, '5 000'],
])('writes %d as %j', (value, text) => expect(grouped(value).replace(/\s/gu, ' ')).toBe(text))

test.each([
  [0, '0 runtimes'],
  [1, '1 runtime'],
  [2, '2 runtimes'],
  [1_000, '1 000 runtimes'],
])('counts %d as %j', (count, text) => expect(counted(count, 'runtime').replace(/\s/gu, ' ')).toBe(text))

test('leaves nothing in a text that a terminal would obey', () => {
  expect(printable('a\u001b[31mb\r\n\u0007ü')).toBe('a\\x1b[31mb\\x0d\\n\\x07ü')
  expect(quoted("it's\u001b\\")).toBe("'it\\'s\\x1b\\\\'")
})
