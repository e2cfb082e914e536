/** Whether the event loop waits for a child, by the calls of its `ref` and `unref`: children of Bun and Deno have no `_handle.hasRef()`. */
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
