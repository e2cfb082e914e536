// The CommonJS copy of the package.
const { serveRuntime } = require('@custody/runtime')

serveRuntime({ name: 'serving-from-commonjs', locator: process.argv[2], onShutdown() {} }).then(() => console.log('ready'))
