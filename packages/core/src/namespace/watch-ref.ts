/** What starts processes besides Node tells nowhere whether the event loop waits for one of them: it is known from the calls. */
export function watchRef(child: { ref(): void; unref(): void }): () => boolean {
  let isWaitedFor = true
  const { ref, unref } = child
  child.ref = () => {
    isWaitedFor = true
    ref.call(child)
  }
  child.unref = () => {
    isWaitedFor = false
    unref.call(child)
  }
  return () => isWaitedFor
}
