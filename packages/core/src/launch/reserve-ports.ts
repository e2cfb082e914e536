import { randomInt } from 'node:crypto'
import { mkdirSync, unlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { CustodyError, hasCode, hasEnded, readText, writeText } from '@custody/runtime/internals'

// Below the range from which systems take ports by themselves, for clients and for port 0.
const FIRST = 20_000
const LAST = 31_999
const ATTEMPTS = 400

/** Ports that nobody else of this user's runs is given, on this machine, until they are released. */
export interface Reservation<P extends string> {
  readonly ports: Readonly<Record<P, number>>
  /** The files that hold them. */
  readonly claims: readonly string[]
  release(): void
}

/**
 * Reserves a port for each name.
 * @param base the directory that all runs of this user share
 * @param holder the process whose life they are bound to: a dead holder's are free again
 * @throws CUSTODY_NO_PORT when none can be had
 */
export async function reservePorts<P extends string>(
  names: readonly P[],
  base: string,
  holder: Identity,
  draw: () => number = () => randomInt(FIRST, LAST + 1),
): Promise<Reservation<P>> {
  const directory = join(base, 'ports')
  if (names.length > 0) mkdirSync(directory, { recursive: true, mode: 0o700 })
  const held: string[] = []
  const release = () => {
    for (const path of held.splice(0)) remove(path)
  }
  const ports: Partial<Record<P, number>> = {}
  for (const name of names) {
    for (let attempt = 0; ports[name] === undefined; attempt++) {
      if (attempt === ATTEMPTS) {
        release()
        throw new CustodyError('CUSTODY_NO_PORT', `Could not reserve the port "${name}": none of ${ATTEMPTS} tried was free.`, {
          hint: `see who listens between ${FIRST} and ${LAST}.`,
          facts: { name },
        })
      }
      const port = draw()
      const path = join(directory, String(port))
      if (!claim(path, holder)) continue
      if (await isFree(port)) {
        held.push(path)
        ports[name] = port
      } else remove(path)
    }
  }
  return { ports: ports as Record<P, number>, claims: [...held], release }
}

function claim(path: string, holder: Identity): boolean {
  try {
    writeText(path, JSON.stringify(holder), { flag: 'wx' })
    return true
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    // A dead holder's is taken away; whoever asks next for this one gets it.
    if (isHolderDead(path)) remove(path)
    return false
  }
}

function isHolderDead(path: string): boolean {
  try {
    return hasEnded(JSON.parse(readText(path)) as Identity) === true
  } catch (error) {
    // Released since, or being written just now.
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return false
    throw error
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

/** Whether nobody listens there, on any address. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
