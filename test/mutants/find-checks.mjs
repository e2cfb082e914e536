import { parseAst } from 'vitest/node'

/**
 * @typedef {object} Check something that can be taken out
 * @property {number} line where it stands
 * @property {string} shown for people, and unlike any other of its module
 * @property {string} without the module's code without it
 * @property {number} start
 * @property {number} end
 */

/**
 * Finds the checks of a module, in the order of its text: the conditions of branches, each side of an `&&` and an `||`, both ways of a
 * `?:`, and the errors that are thrown without a condition of their own.
 * @param {string} code
 * @param {'ts' | 'js'} lang
 * @returns {Check[]}
 */
export function findChecks(code, lang) {
  const found = []
  const textOf = ({ start, end }) => code.slice(start, end)
  const add = (node, instead, shown) => found.push({ start: node.start, end: node.end, instead, shown })
  const guarded = new Set()
  visit(parseAst(code, { lang }), (node) => {
    if (node.type === 'IfStatement') {
      add(node.test, '(false)', `if (${textOf(node.test)})`)
      // Without its condition it is not thrown either.
      if (node.alternate === null) guarded.add(onlyStatementOf(node.consequent))
    }
    if (node.type === 'LogicalExpression' && node.operator !== '??') {
      const [left, right] = [textOf(node.left), textOf(node.right)]
      add(node, `(${right})`, `${left} ${node.operator} …`)
      add(node, `(${left})`, `… ${node.operator} ${right}`)
    }
    if (node.type === 'ConditionalExpression') {
      add(node, `(${textOf(node.alternate)})`, `${textOf(node.test)} ? … : `)
      add(node, `(${textOf(node.consequent)})`, `${textOf(node.test)} ? : …`)
    }
    if (node.type === 'ThrowStatement' && !guarded.has(node)) add(node, ';', textOf(node))
  })
  const seen = new Map()
  return found
    .sort((a, b) => a.start - b.start || a.end - b.end)
    .map(({ end, instead, shown, start }) => {
      const text = shown.replace(/\s+/g, ' ')
      seen.set(text, (seen.get(text) ?? 0) + 1)
      return {
        ...{ start, end },
        line: code.slice(0, start).split('\n').length,
        shown: seen.get(text) === 1 ? text : `${text} (${seen.get(text)})`,
        without: code.slice(0, start) + instead + code.slice(end),
      }
    })
}

/**
 * The module's code, which notes the number of each check as soon as it is looked at.
 * @param {string} code
 * @param {readonly Check[]} checks
 */
export function markChecks(code, checks) {
  const marks = checks.flatMap(({ end, shown, start }, at) => {
    const note = `globalThis.reachedChecks?.add(${at})`
    const [before, after] = shown.startsWith('throw ') ? [`{${note};`, '}'] : [`(${note}, `, ')']
    // What is inside of another begins after it, and ends before it.
    return [
      { at: start, to: end, text: before },
      { at: end, from: start, text: after },
    ]
  })
  let marked = ''
  let from = 0
  const isEnd = (mark) => mark.from !== undefined
  const sorted = marks.sort((a, b) => a.at - b.at || isEnd(b) - isEnd(a) || (isEnd(a) ? b.from - a.from : b.to - a.to))
  for (const { at, text } of sorted) {
    marked += code.slice(from, at) + text
    from = at
  }
  return marked + code.slice(from)
}

function onlyStatementOf(node) {
  return node.type === 'BlockStatement' && node.body.length === 1 ? node.body[0] : node
}

function visit(value, onNode) {
  if (typeof value !== 'object' || value === null) return
  if (typeof value.type === 'string') onNode(value)
  for (const each of Object.values(value)) visit(each, onNode)
}
