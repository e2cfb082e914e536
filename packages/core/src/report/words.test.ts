import { expect, test } from 'vitest'
import { counted, grouped } from './words.js'

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
