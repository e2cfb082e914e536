/** Names of options and variables whose values are for nobody. */
const SECRET = '(?:[\\w-]*(?:password|passwd|passphrase|secret|token|api[-_]?key|auth|credential)[\\w-]*)'
const secretWithValue = new RegExp(`^(-{0,2}${SECRET}[=:]).+$`, 'is')
const secretOption = new RegExp(`^-{1,2}${SECRET}$`, 'i')

/** The same inside of a text for a shell, or of a document: a value ends where its quotes do, or its word. */
const secretInText = new RegExp(
  `(^|[\\s;&|("'{,])(-{0,2}${SECRET}["']?(?:=|:\\s*)|-{1,2}${SECRET}\\s+(?!-))("[^"]*"|'[^']*'|[^\\s;&|<>(){},]+)`,
  'gi',
)
/** The password of an address. */
const secretOfUrl = /(:\/\/[^\s/:@]*:)[^\s/@]+@/g

/** What stands for a secret where nothing else is asked for. */
const HIDDEN = '…'

/** A command line to be shown, with something else in the place of each secret. */
export function withoutSecrets(command: readonly string[], instead: string = HIDDEN): string[] {
  return command.map((part, at) => {
    const before = command[at - 1] ?? ''
    if (secretOption.test(before) && !part.startsWith('-')) return instead
    const isText = /^-\w*[ce]$/.test(before) || (/\s/.test(part) && !secretWithValue.test(part))
    const shown = isText
      ? part.replace(secretInText, (_, start: string, name: string) => start + name + instead)
      : part.replace(secretWithValue, (_, name: string) => name + instead)
    return shown.replace(secretOfUrl, (_, start: string) => `${start}${instead}@`)
  })
}
