import { expect, test } from 'vitest'
import { describeRunners, shareSuite } from './run-suite.js'

describeRunners('a run around which CUSTODY_NAMESPACE is', (runner) => {
  const files = { some: `test('starts one', async () => { await custody.start({ name: 'one', command: ['sleep', '100'] }) })` }
  const suites = ['garbage', '../../../x:/y', 'a'.repeat(125), ':'].map((value) => ({
    value,
    suite: shareSuite(runner, () => ({ files, env: { CUSTODY_NAMESPACE: value } })),
  }))

  test.each(suites)('"$value" is in no namespace, and as any other', ({ suite }) => {
    const { exitCode, output } = suite()
    expect(exitCode, output).toBe(0)
    expect(output).toContain('custody  1 runtime, 1 owned, 1 retired, 1 exit observed')
  })
})
