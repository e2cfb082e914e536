// Like `pg_ctl start`: leaves a process in a session of its own, says its pid, and exits. With "bare" that has none of its environment,
// with "silent" none of its descriptors either, and with "both" neither.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const [how = '', program = 'waiting.js'] = process.argv.slice(2)
const [isBare, isSilent] = [/bare|both/.test(how), /silent|both/.test(how)]
const child = spawn(process.execPath, [fileURLToPath(new URL(program, import.meta.url))], {
  detached: true,
  env: isBare ? {} : process.env,
  stdio: isSilent ? 'ignore' : ['ignore', 1, 2],
})
child.once('spawn', () => {
  console.log(`left ${child.pid}`)
  child.unref()
})
