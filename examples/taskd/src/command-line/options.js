/** What every command takes. */
export const commonOptions = {
  home: { type: 'string' },
  store: { type: 'string' },
  'idle-ms': { type: 'string', default: '600000' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
}

export const task = { task: { type: 'string' } }
export const lease = { lease: { type: 'string' } }
export const ttl = { 'ttl-ms': { type: 'string', default: '60000' } }
