// Writes the title that it is given over its command line, and stays.
process.title = process.argv[2]
console.log('ready')
setInterval(() => {}, 1_000)
