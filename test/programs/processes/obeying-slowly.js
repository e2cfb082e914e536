// Takes a moment to leave when it is told to, as a server with open requests does.
process.on('SIGTERM', () => setTimeout(() => process.exit(0), 50))
setInterval(() => {}, 60_000)
console.log('ready')
