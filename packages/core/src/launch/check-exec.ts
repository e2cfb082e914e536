import { checkMembers, inTheNameOf, isBoolean, isDuration, isEnvironment, isText, type Members, refuse } from './check-spec.js'

const members: Members = {
  input: [(value) => typeof value === 'string', 'a text'],
  cwd: [isText, 'a path'],
  env: [isEnvironment, 'an object of texts'],
  timeout: [isDuration, 'milliseconds, 0 or more'],
  reject: [isBoolean, 'true or false'],
}

/** @throws CUSTODY_INVALID_OPTION which names what is wrong with a call of `exec` */
export function checkExec(file: unknown, args: unknown, options: unknown): void {
  inTheNameOf(isText(file) ? `Could not run ${file}` : 'Could not run a command', () => {
    if (!isText(file)) refuse('its first parameter', file, 'the program, a text')
    if (!Array.isArray(args)) refuse('its second parameter', args, expectedFor(file, args))
    const wrong = args.findIndex((argument) => typeof argument !== 'string')
    if (wrong >= 0) refuse(`its argument ${wrong + 1}`, args[wrong], 'a text')
    if (typeof options !== 'object' || options === null) refuse('its third parameter', options, 'its options, an object')
    checkMembers(options, members)
  })
}

/** What belongs there instead of what was given. */
function expectedFor(file: string, args: unknown): string {
  return typeof args === 'object' && args !== null
    ? `the options as the third one: custody.exec('${file}', [], { … })`
    : `the arguments as a list: custody.exec('${file}', [ … ])`
}
