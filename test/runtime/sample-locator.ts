import type { Locator } from '@custody/runtime'

/** A locator in which every field is right and nobody listens. */
export function sampleLocator(changes: Partial<Locator> = {}): Locator {
  return {
    version: 1,
    name: 'sample',
    pid: 4_194_303,
    start: '12345',
    boot: 'b1f2c3d4-0000-4000-8000-000000000000',
    pidns: 'pid:[4026531836]',
    timens: 'time:[4026531834]',
    instance: 'a'.repeat(32),
    namespace: null,
    endpoint: 'unix:/nonexistent/s/a.sock',
    token: '7'.repeat(64),
    created: '2026-01-01T00:00:00.000Z',
    details: { port: 4711 },
    ...changes,
  }
}
