/** A number with thin groups, as in "5 000". */
export function grouped(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ' ')
}

/** "1 runtime", "2 runtimes". */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** A text as source. */
export function quoted(text: string): string {
  return `'${printable(text.replace(/[\\']/g, '\\$&'))}'`
}

/** A text that does nothing to a terminal: its control characters are escaped. */
export function printable(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, (sign) =>
    sign === '\n' ? '\\n' : `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}
