// Exits in its drain, and closes nothing. Each of its connections is left to a child, which holds it open as long as it lives.
import { spawn } from 'node:child_process'
import { Server } from 'node:net'
import { ready, serve } from './daemon.js'

const { emit } = Server.prototype
Server.prototype.emit = function (event, socket, ...rest) {
  if (event === 'connection')
    spawn('sleep', ['303'], { stdio: ['ignore', 'ignore', 'ignore', socket._handle.fd], detached: true }).unref()
  return emit.call(this, event, socket, ...rest)
}
await serve(() => process.exit(0))
ready()
