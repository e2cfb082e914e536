// Does nothing, for as long as it lives.
setInterval(() => {}, 60_000)
console.log('ready')
