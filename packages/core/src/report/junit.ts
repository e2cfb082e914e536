import { createRequire } from 'node:module'
import { stripVTControlCharacters } from 'node:util'
import type { XMLBuilder, XMLBuilderConstructor } from 'fast-xml-builder'
import { describeReceipt } from './describe-receipt.js'
import type { FailureEvent } from './events.js'
import type { Report } from './report.js'

const SUITE = 'Custody'
const TITLE = 'leaves no process behind'

/**
 * What Custody has to say of a run as JUnit XML, of a shape like jest-junit's, so that a reader may put both together: a test case for the run,
 * one for each test and file that Custody has made red, and a property for each runtime.
 */
export function junitOf({ events }: Report): string {
  const failures = events.filter((event) => event.type === 'failure')
  const ofRun = failures.filter(({ file }) => file === null)
  const cases = [caseOf(SUITE, `the run ${TITLE}`, ofRun), ...casesOf(failures.filter(({ file }) => file !== null))]
  const counts = {
    '@tests': cases.length,
    '@failures': cases.filter(({ failure }) => failure !== undefined).length,
    '@errors': 0,
  }
  const property = events.flatMap((event) =>
    event.type === 'receipt' ? [{ '@name': 'custody', '@value': validXml(describeReceipt(event.receipt)) }] : [],
  )
  return loadBuilder().build({
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    testsuites: {
      ...{ '@name': SUITE, ...counts },
      testsuite: {
        '@name': SUITE,
        ...counts,
        '@skipped': 0,
        ...(property.length > 0 && { properties: { property } }),
        testcase: cases,
      },
    },
  })
}

/** One for each test or file: a reader would take two of the same name for two runs of one. */
function casesOf(failures: readonly FailureEvent[]): TestCase[] {
  const byName = new Map<string, FailureEvent[]>()
  for (const failure of failures) {
    const key = JSON.stringify([failure.file, failure.test])
    byName.set(key, [...(byName.get(key) ?? []), failure])
  }
  return [...byName.values()].map((all) => caseOf(all[0]?.file ?? '', all[0]?.test ?? TITLE, all))
}

interface TestCase {
  readonly '@classname': string
  readonly '@name': string
  readonly '@time': number
  readonly failure?: { readonly '@message': string; readonly '@type': string; readonly '#text': string }
}

function caseOf(file: string, name: string, failures: readonly FailureEvent[]): TestCase {
  const named = { '@classname': validXml(file), '@name': validXml(name), '@time': 0 }
  const [first] = failures
  if (first === undefined) return named
  const [message = ''] = first.message.split('\n')
  const text = failures.map(({ stack }) => stack).join('\n\n')
  return { ...named, failure: { '@message': validXml(message), '@type': first.code, '#text': validXml(text) } }
}

/** An attribute may be `true`, and a node empty. */
const asTheyAre = { suppressBooleanAttributes: false, suppressEmptyNode: true }

/** Loaded when it is needed: few runs do. Synchronous, as a runner may be leaving. */
function loadBuilder(): XMLBuilder {
  const { default: Builder } = createRequire(import.meta.url)('fast-xml-builder') as { default: XMLBuilderConstructor }
  return new Builder({ ignoreAttributes: false, attributeNamePrefix: '@', format: true, ...asTheyAre })
}

/** Without the characters that XML 1.0 cannot say, as of a command's colours. */
function validXml(text: string): string {
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/gu, '\ufffd')
}
