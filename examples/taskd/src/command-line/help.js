import { commands } from './commands.js'

const common = `Options of every command:
  --home <dir>           where the server keeps everything (default: TASKD_HOME, else ~/.taskd)
  --store file|sqlite    how a new home keeps its tasks (default: file)
  --idle-ms <n>          a server started now leaves after so long without work (default: 600000)
  --json                 answers and errors as JSON, one a line

Exit codes: 0 done, 1 refused, 2 wrong usage`

/** @param {string} [name] of a command */
export function helpOf(name) {
  if (name !== undefined) return `Usage: taskd ${commands[name].usage}\n\n${capitalize(commands[name].summary)}.\n\n${common}`
  const width = Math.max(...Object.values(commands).map(({ usage }) => usage.length))
  const lines = Object.values(commands).map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`)
  return `Usage: taskd <command> [options]

A task list with leases. The first command starts the server, all others use it.

${lines.join('\n')}

${common}

Examples:
  taskd add "Water the plants"
  taskd lease --task t1 --holder ann --ttl-ms 60000
  taskd complete --task t1 --lease <lease>
  taskd watch --json --count 1`
}

function capitalize(text) {
  return text[0].toUpperCase() + text.slice(1)
}
