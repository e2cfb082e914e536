import type { NamespaceId } from '../namespace/namespace-id.js'

interface Needing {
  readonly id: NamespaceId
  readonly needs: readonly NamespaceId[]
}

/** Waves to stop one after the other: what needs another is in an earlier wave than that. What needs each other goes together. */
export function inStopOrder<T extends Needing>(all: readonly T[]): T[][] {
  const waves: T[][] = []
  let left = [...all]
  while (left.length > 0) {
    const needed = new Set(left.flatMap(({ needs }) => needs.map(firstOf)))
    const free = left.filter(({ id }) => !needed.has(firstOf(id)))
    const wave = free.length > 0 ? free : left
    waves.push(wave)
    left = left.filter((each) => !wave.includes(each))
  }
  return waves
}

/** The id of a runtime's first start: a restart has one of its own, and those that need it know the one that they were given. */
function firstOf(id: NamespaceId): NamespaceId {
  return id.replace(/x\d+$/, '')
}
