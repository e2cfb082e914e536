import { expect, test } from 'vitest'
import { isCommonHelper } from './common-helpers.js'

test.each([
  ['/usr/bin/git maintenance run --auto --quiet --detach'],
  ['/usr/lib/git-core/git gc --auto --quiet'],
  ['git fsmonitor--daemon run --detach'],
  ['git-credential-cache--daemon /tmp/s'],
  ['gpg-agent --homedir /tmp/x --use-standard-socket --daemon'],
  ['dirmngr --daemon'],
  ['ssh-agent -s'],
  ['/usr/local/bin/watchman --foreground'],
  ['adb -L tcp:5037 fork-server server --reply-fd 4'],
  ['ssh: /tmp/control [mux]'],
])('spares %s', (command) => {
  expect(isCommonHelper(command.split(' '))).toBe(true)
})

test.each([
  ['git daemon --base-path=/srv'],
  ['node git-maintenance.js'],
  ['ssh -N host'],
  ['adb logcat'],
  ['sleep gpg-agent'],
  [''],
])('does not spare %s', (command) => {
  expect(isCommonHelper(command.split(' '))).toBe(false)
})
