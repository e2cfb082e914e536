const core = 'packages/core/src'
const runtime = 'packages/runtime/src'

/**
 * @typedef {object} Module whose checks are taken out
 * @property {string} file
 * @property {readonly string[]} tests those that are to notice, the quickest first
 * @property {Readonly<Record<string, string>>} [spared] the checks that no test can miss, each with the reason
 */

/** @type {Readonly<Record<string, Module>>} */
export const modules = {
  judge: { file: `${core}/provenance/judge.ts`, tests: [`${core}/provenance/judge.test.ts`] },
  prove: {
    file: `${core}/provenance/prove.ts`,
    tests: [`${core}/provenance/prove.test.ts`],
    spared: {
      "asked.answer !== 'none' || …": 'it is for an answer that comes with the very end of its time',
      'locator.start !== null && …': 'who has none is not seen alive before; it is for the compiler',
    },
  },
  'own-processes': {
    file: `${core}/provenance/own-processes.ts`,
    tests: [`${core}/provenance/own-processes.test.ts`, `${core}/provenance/prove.test.ts`],
  },
  retire: { file: `${core}/retire/retire.ts`, tests: [`${core}/retire/retire.test.ts`] },
  'observe-exit': { file: `${core}/retire/observe-exit.ts`, tests: [`${core}/retire/observe-exit.test.ts`] },
  'send-signal': {
    file: `${core}/tree/send-signal.ts`,
    tests: [`${core}/tree/send-signal.test.ts`, `${core}/tree/stop-tree.test.ts`],
    spared: {
      '!Number.isSafeInteger(pid) || …':
        'nobody has such a number, as the look finds too; a tool of another system might read some other of it',
      'if (isPausing(signal) && !Object.hasOwn(constants.signals, signal))': 'only Windows is without these signals',
      "target.kind === 'group' ? … :  (2)": 'only a group has the field',
    },
  },
  'find-born-here': { file: `${core}/tree/find-born-here.ts`, tests: [`${core}/tree/find-born-here.test.ts`] },
  'stop-tree': { file: `${core}/tree/stop-tree.ts`, tests: [`${core}/tree/stop-tree.test.ts`] },
  capture: { file: `${core}/locators/capture.ts`, tests: [`${core}/locators/capture.test.ts`] },
  'settle-locators': {
    file: `${core}/scope/settle-locators.ts`,
    tests: [`${core}/scope/settle-locators.test.ts`, `${core}/scope/scope.test.ts`],
  },
  exemptions: { file: `${core}/supervisor/exemptions.ts`, tests: [`${core}/supervisor/exemptions.test.ts`] },
  'serve-runtime': {
    file: 'packages/runtime/dist/serve/serve-runtime.js',
    tests: ['test/runtime/shutdown.test.ts', 'test/runtime/publication.test.ts', 'test/runtime/attacks.test.ts'],
  },
  'protocol-server': {
    file: `${runtime}/serve/protocol-server.ts`,
    tests: [`${runtime}/serve/protocol-server.test.ts`, `${runtime}/serve/stranger-time.test.ts`],
  },
  ownership: { file: `${runtime}/serve/ownership.ts`, tests: [`${runtime}/serve/ownership.test.ts`] },
  'registry-entry': { file: `${runtime}/serve/registry-entry.ts`, tests: [`${runtime}/serve/registry-entry.test.ts`] },
  'open-session': {
    file: `${runtime}/client/open-session.ts`,
    tests: [`${runtime}/client/open-session.test.ts`, `${runtime}/client/connect-runtime.test.ts`],
  },
  'read-locator': { file: `${runtime}/locator/read-locator.ts`, tests: [`${runtime}/locator/read-locator.test.ts`] },
  'private-directory': {
    file: `${runtime}/locator/private-directory.ts`,
    tests: [`${runtime}/locator/private-directory.test.ts`],
  },
  proof: { file: `${runtime}/wire/proof.ts`, tests: [`${runtime}/wire/proof.test.ts`, `${runtime}/wire/vectors.test.ts`] },
  'sealed-lines': {
    file: `${runtime}/wire/sealed-lines.ts`,
    tests: [`${runtime}/wire/sealed-lines.test.ts`, `${runtime}/wire/vectors.test.ts`],
  },
}
