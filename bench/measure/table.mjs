/** A Markdown table whose columns are aligned in the source too. The first column is text, the others are numbers. */
export function tableOf(rows) {
  const names = Object.keys(rows[0] ?? {})
  const lines = [names, ...rows.map((row) => names.map((name) => row[name]))]
  const widths = names.map((_, at) => Math.max(...lines.map((line) => line[at].length)))
  const text = (line) =>
    `| ${line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join(' | ')} |`
  const rule = `| ${widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [text(lines[0]), rule, ...lines.slice(1).map(text)].join('\n')
}
