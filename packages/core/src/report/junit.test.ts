// @vitest-environment jsdom
import { describe, expect, test } from 'vitest'
import type { FailureEvent, ReportEvent } from './events.js'
import { junitOf } from './junit.js'
import { reportOf } from './report.js'

interface Parsed {
  querySelectorAll(selector: string): Iterable<{ getAttribute(name: string): string | null; textContent: string }>
}
declare const DOMParser: new () => { parseFromString(text: string, type: 'application/xml'): Parsed }

/** What a parser of XML, which is strict, finds. */
function parse(
  events: readonly ReportEvent[],
): (selector: string) => { attributes(...names: string[]): (string | null)[]; text: string }[] {
  const parsed = new DOMParser().parseFromString(junitOf(reportOf(events)), 'application/xml')
  return (selector) =>
    [...parsed.querySelectorAll(selector)].map((found) => ({
      attributes: (...names) => names.map((name) => found.getAttribute(name)),
      text: found.textContent,
    }))
}

function failure(file: string | null, of: string | null, changes: Partial<FailureEvent> = {}): FailureEvent {
  return {
    type: 'failure',
    file,
    test: of,
    code: 'CUSTODY_LEAK',
    message: 'is alive\n  pid 1',
    stack: 'LeakError: is alive',
    ...changes,
  }
}

describe('the JUnit XML of a run', () => {
  test('has one green test case when all is well', () => {
    const find = parse([])
    expect(find('testcase').map((each) => each.attributes('classname', 'name'))).toEqual([
      ['Custody', 'the run leaves no process behind'],
    ])
    expect(find('testsuite')[0]?.attributes('tests', 'failures', 'errors', 'skipped')).toEqual(['1', '0', '0', '0'])
    expect(find('failure')).toEqual([])
  })

  test('has a red test case for each test and file, and for the run', () => {
    const find = parse([failure('a.test.ts', 'x › leaks'), failure('a.test.ts', null), failure(null, null)])
    expect(find('testcase:has(failure)').map((each) => each.attributes('classname', 'name'))).toEqual([
      ['Custody', 'the run leaves no process behind'],
      ['a.test.ts', 'x › leaks'],
      ['a.test.ts', 'leaves no process behind'],
    ])
    expect(find('testsuites')[0]?.attributes('tests', 'failures')).toEqual(['3', '3'])
  })

  test('has all failures of a test in one test case, with the first line of the first', () => {
    const [found] = parse([failure('a', 'x'), failure('a', 'x', { code: 'CUSTODY_OTHER', stack: 'another' })])('failure')
    expect(found?.attributes('message', 'type')).toEqual(['is alive', 'CUSTODY_LEAK'])
    expect(found?.text).toBe('LeakError: is alive\n\nanother')
  })

  test('has a test case for a test of the name "true"', () => {
    expect(parse([failure('true', 'true')])('testcase:has(failure)')[0]?.attributes('classname', 'name')).toEqual([
      'true',
      'true',
    ])
  })

  test('says what XML can say, whatever is in a message', () => {
    const hostile = '<a & "b"> ]]> \u001b[31m\u0000 \ud800 \uffff é 🎉'
    const [found] = parse([failure(hostile, hostile, { message: hostile, stack: hostile })])('failure')
    expect(found?.text).toBe('<a & "b"> ]]> \ufffd \ufffd \ufffd é 🎉')
    expect(found?.attributes('message')).toEqual([found?.text])
  })
})
