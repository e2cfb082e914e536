import { buildSync } from 'esbuild'

/** Makes one ES module of a script that imports sources of the core, for a process of its own. */
export function bundleScript(contents: string, resolveDir: string): string {
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir, loader: 'ts' },
    ...{ bundle: true, platform: 'node', format: 'esm', write: false },
  })
  return outputFiles[0]?.text ?? ''
}
