import { parseArgs } from 'node:util'
import { TaskdError } from '../errors.js'
import { commands } from './commands.js'
import { commonOptions } from './options.js'

/**
 * Reads the arguments.
 * @param {string[]} args
 */
export function parseCommand(args) {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h') return { values: { help: true } }
  if (!Object.hasOwn(commands, name)) throw wrongUsage(`There is no command "${name}".`)
  const command = commands[name]
  const { values, positionals } = parse(name, rest, { ...commonOptions, ...command.options })
  if (values.help) return { name, command, values }
  for (const option of command.required) {
    if (values[option] === undefined) throw wrongUsage(`The option --${option} is missing.`, name)
  }
  if (positionals.length !== (command.argument === undefined ? 0 : 1)) {
    throw wrongUsage(command.argument === undefined ? `"${positionals[0]}" is too much.` : `Give one ${command.argument}.`, name)
  }
  if (values.store !== undefined && values.store !== 'file' && values.store !== 'sqlite') {
    throw wrongUsage(`The option --store is "${values.store}"; it can be file or sqlite.`, name)
  }
  const numbers = {
    idleMs: number(values, 'idle-ms', name),
    ttlMs: number(values, 'ttl-ms', name),
    count: number(values, 'count', name),
  }
  return { name, command, values: { ...values, ...numbers }, argument: positionals[0] }
}

function parse(name, args, options) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw wrongUsage(error.message, name)
  }
}

function number(values, option, name) {
  const text = values[option]
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw wrongUsage(`The option --${option} is "${text}"; give a whole number from 1 to 999999999.`, name)
}

function wrongUsage(message, name) {
  return new TaskdError({ code: 'wrong_usage', message, hint: name === undefined ? 'taskd --help' : `taskd ${name} --help` })
}
