/** Whether the system has refused to say anything of a process, as Linux does where /proc is mounted with `hidepid`. */
export function isHidden(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EACCES' || code === 'EPERM'
}
