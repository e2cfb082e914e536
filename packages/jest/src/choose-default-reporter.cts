import { requireThrough } from './resolve-from-jest.cjs'

/** The variables by which Jest 30.5 knows that it runs for an agent: then it prints less. */
const AGENT_VARIABLES = [
  ...['AI_AGENT', 'AUGMENT_AGENT', 'CLAUDECODE', 'CLAUDE_CODE', 'CODEX_SANDBOX', 'CODEX_THREAD_ID', 'CURSOR_AGENT'],
  ...['GEMINI_CLI', 'GOOSE_PROVIDER', 'OPENCODE', 'REPL_ID'],
]

/**
 * The reporter that Jest takes where a configuration names none: one that names ours has to name it too.
 * @param directory from where Jest is looked for
 */
export function chooseDefaultReporter(directory: string): 'agent' | 'default' {
  if (!AGENT_VARIABLES.some((name) => process.env[name])) return 'default'
  try {
    const { AgentReporter } = requireThrough(['jest', '@jest/core'], directory)('@jest/reporters') as { AgentReporter?: unknown }
    return AgentReporter === undefined ? 'default' : 'agent'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    return 'default'
  }
}
