// Runs the daemon that it is given, and says on its output what that would tell its parent.
process.send = (message) => console.log(message)
process.disconnect = () => {}
const [, , name] = process.argv
process.argv = [process.argv[0], new URL(`${name}.js`, import.meta.url).pathname]
await import(`./${name}.js`)
