// Serves one runtime after the other, as it is told by lines of JSON, and says each thing that becomes of them.
import { createInterface } from 'node:readline'
import { serveRuntime } from '@custody/runtime'

let runtime = null
console.log('ready')
for await (const line of createInterface(process.stdin)) {
  const { act, locator, name, variable, exit } = JSON.parse(line)
  if (act === 'close') {
    await runtime?.close()
    console.log('closed')
    continue
  }
  if (variable === null) delete process.env.CUSTODY_NAMESPACE
  else process.env.CUSTODY_NAMESPACE = variable
  const onShutdown = ({ reason }) => console.log(`drains ${reason}`)
  try {
    runtime = await serveRuntime({ name, locator, onShutdown, exit, signals: false })
    console.log(`serves ${runtime.instance}`)
  } catch (error) {
    console.log(`refused ${error.code}`)
  }
}
