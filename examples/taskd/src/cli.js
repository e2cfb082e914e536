#!/usr/bin/env node
import { fail } from './command-line/fail.js'
import { helpOf } from './command-line/help.js'
import { parseCommand } from './command-line/parse-command.js'
import { findHome } from './home.js'

const isJson = process.argv.includes('--json')
try {
  const { name, command, values, argument } = parseCommand(process.argv.slice(2))
  if (command === undefined || values.help) {
    console.log(helpOf(name))
  } else {
    const context = { home: findHome(values.home), wishes: { store: values.store, idleMs: values.idleMs }, values, argument }
    for await (const answer of command.run(context)) console.log(isJson ? JSON.stringify(answer) : command.print(answer))
  }
} catch (error) {
  process.exitCode = fail(error, isJson)
}
