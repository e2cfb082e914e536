// What the tests of real services need and npm does not have: redis and nginx, through apt-get.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const programs = ['redis-server', 'nginx']
/** The scripts of the packages ask it before they start a service; 101 says no. The tests start their own. */
const policy = '/usr/sbin/policy-rc.d'
const isRoot = process.getuid?.() === 0

const missing = programs.filter((program) => !isInstalled(program))
if (missing.length > 0) install(missing)

function isInstalled(program) {
  // Debian has nginx where only root looks for programs.
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  return spawnSync(program, ['-v'], { env, stdio: 'ignore' }).error === undefined
}

function install(missing) {
  console.log(`Installing ${missing.join(' and ')}.`)
  const isOurPolicy = !existsSync(policy)
  if (isOurPolicy) run('sh', '-c', `printf '#!/bin/sh\\nexit 101\\n' > ${policy} && chmod 755 ${policy}`)
  try {
    run('apt-get', 'update', '-qq')
    run('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-qq', '--no-install-recommends', ...missing)
    // Nor at the next start of the machine.
    if (existsSync('/usr/bin/systemctl')) run('systemctl', '--quiet', 'disable', ...missing)
  } finally {
    if (isOurPolicy) run('rm', policy)
  }
}

function run(...command) {
  const [file, ...args] = isRoot ? command : ['sudo', '--non-interactive', ...command]
  const { error, status } = spawnSync(file, args, { stdio: ['ignore', 2, 2] })
  if (error === undefined && status === 0) return
  const how = error === undefined ? `it exited with code ${status}` : error.message
  throw new Error(
    `Could not install ${missing.join(' and ')}: ${command.join(' ')}: ${how}. Install them by hand, without starting them.`,
  )
}
