// Its endpoint is taken over by something that does not speak the protocol.
import { renameSync } from 'node:fs'
import { createServer } from 'node:net'
import { readLocator } from '@custody/runtime'
import { ready, serve } from './daemon.js'

const { locator } = await serve()
const path = readLocator(locator).endpoint.slice('unix:'.length)
const garbage = createServer((socket) => {
  socket.on('error', () => {})
  socket.end('220 welcome\r\n')
})
garbage.listen(`${path}.g`, () => {
  renameSync(`${path}.g`, path)
  ready()
})
