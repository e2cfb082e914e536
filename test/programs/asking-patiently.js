// Asks a runtime who it is, with all the time in the world, and has nothing to do after that.
import { connectRuntime, readLocator } from '@custody/runtime'

const client = await connectRuntime(readLocator(process.argv[2]), { timeoutMs: 600_000 })
const { name } = await client.identify()
client.close()
await client.ended
console.log(`asked ${name}`)
