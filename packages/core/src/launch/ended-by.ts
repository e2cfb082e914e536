/** Whose end has aborted something, as the reason of its signal tells. That of an older jsdom has none. */
export function endedBy({ reason }: AbortSignal): 'file' | 'test' {
  return reason === 'file' ? 'file' : 'test'
}
