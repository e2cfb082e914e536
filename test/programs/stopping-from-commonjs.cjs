// Stops another runtime with the CommonJS copy of the package.
const { connectRuntime, readLocator } = require('@custody/runtime')

connectRuntime(readLocator(process.argv[2])).then(async (client) => {
  const { name } = await client.identify()
  const { already } = await client.shutdown()
  await client.ended
  console.log(`stopped ${name}, ${already ? 'again' : 'for the first time'}`)
})
