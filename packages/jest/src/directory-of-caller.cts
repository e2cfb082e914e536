import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The directory of the file that has called a function: for a configuration, which nobody tells where it stands. */
export function directoryOfCaller(called: (...args: never[]) => unknown): string {
  const { prepareStackTrace } = Error
  const holder: { stack?: unknown } = {}
  try {
    Error.prepareStackTrace = (_, frames) => frames[0]?.getFileName() ?? null
    Error.captureStackTrace(holder, called)
    const { stack: file } = holder
    if (typeof file !== 'string') return process.cwd()
    return dirname(file.startsWith('file:') ? fileURLToPath(file) : file)
  } finally {
    Error.prepareStackTrace = prepareStackTrace
  }
}
