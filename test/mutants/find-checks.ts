/** A node of a parsed module, as far as it matters here. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

interface Branch extends Node {
  readonly test: Node
}

interface Logical extends Node {
  readonly operator: string
  readonly left: Node
  readonly right: Node
}

/** A condition that can be taken out. */
export interface Check {
  readonly start: number
  readonly end: number
  /** What stands there without it. */
  readonly instead: string
  /** For people. */
  readonly shown: string
}

/** Finds the checks of a module, in the order of its text: whole conditions of branches, and each side of an `&&` and an `||`. */
export function findChecks(program: object, code: string): Check[] {
  const checks: Check[] = []
  const textOf = ({ end, start }: Node) => code.slice(start, end)
  const add = ({ end, start }: Node, instead: string, shown: string) =>
    checks.push({ start, end, instead, shown: shown.replace(/\s+/g, ' ') })
  visit(program, (node) => {
    if (node.type === 'IfStatement') add((node as Branch).test, 'false', `if (${textOf((node as Branch).test)})`)
    if (node.type !== 'LogicalExpression' || (node as Logical).operator === '??') return
    const { left, operator, right } = node as Logical
    add(node, textOf(right), `${textOf(left)} ${operator} …`)
    add(node, textOf(left), `… ${operator} ${textOf(right)}`)
  })
  return checks.sort((a, b) => a.start - b.start || a.end - b.end)
}

function visit(value: unknown, onNode: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (typeof (value as Partial<Node>).type === 'string') onNode(value as Node)
  for (const each of Object.values(value)) visit(each, onNode)
}
