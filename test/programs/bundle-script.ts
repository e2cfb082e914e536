import { buildSync } from 'esbuild'

/**
 * Makes one ES module of a script that imports sources of the core, for a process of its own.
 * @param url what all of it takes for its `import.meta.url`
 */
export function bundleScript(contents: string, resolveDir: string, url?: string): string {
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir, loader: 'ts' },
    ...{ bundle: true, platform: 'node', format: 'esm', write: false },
    ...(url !== undefined && { define: { 'import.meta.url': JSON.stringify(url) } }),
  })
  return outputFiles[0]?.text ?? ''
}
