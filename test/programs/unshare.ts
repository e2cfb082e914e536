/** The beginning of a command line that runs what follows it in namespaces of its own: as root there, whoever the user is here. */
export function unshare(...flags: readonly string[]): [string, ...string[]] {
  return ['unshare', ...(process.geteuid?.() === 0 ? [] : ['--map-root-user']), ...flags]
}

/**
 * In a pid namespace, with a /proc and mounts of its own, in which the first process is a shell: what goes astray there hits nobody outside,
 * and nothing stays.
 */
export function unsharePids(): [string, ...string[]] {
  return unshare('--pid', '--fork', '--kill-child', '--mount-proc', '/bin/sh', '-c', '"$@"; exit $?', 'sh')
}
