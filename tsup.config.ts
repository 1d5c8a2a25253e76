import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { defineConfig, type Options } from 'tsup'

/** The core, and what is beside it. */
const library = {
  index: 'src/index.ts',
  decide: 'src/decide/index.ts',
  http: 'src/http/index.ts',
  batches: 'src/batches/index.ts',
  memory: 'src/stores/memory.ts',
  lookups: 'src/lookups/index.ts',
  operations: 'src/operations/index.ts',
}

/** What runs on servers and in tests. */
const servers = {
  postgres: 'src/stores/postgres/index.ts',
  mysql: 'src/stores/mysql/index.ts',
  testing: 'src/testing/index.ts',
  try: 'src/tools/try/index.ts',
}

/** Tools for wallets in any language: the largest part, and none of it runs in a wallet. */
const tools = {
  audit: 'src/tools/audit/index.ts',
  reconcile: 'src/tools/reconcile/index.ts',
}

const shared: Options = {
  target: 'node20',
  platform: 'node',
  // Shared chunks: one WalletError and one options cache per format, for all entry points.
  splitting: true,
  // By rollup, which keeps the CommonJS of split chunks as modern as the source; tsup itself compiles `?.` and `??` down.
  treeshake: true,
  removeNodeProtocol: false,
}

/** The tools load the wallet from its entries: the package has each part of it once per format. */
const walletFromEntries = (extension: 'js' | 'cjs'): NonNullable<Options['esbuildPlugins']>[number] => ({
  name: 'wallet-from-entries',
  setup(build) {
    const entries = { ...library, ...servers }
    build.onResolve({ filter: /^(?:\.\.\/)+[a-z/]+\.js$/ }, ({ path, resolveDir }) => {
      const source = relative('.', join(resolveDir, path)).replace(/\.js$/, '.ts')
      const entry = Object.entries(entries).find(([, file]) => file === source)?.[0]
      return entry === undefined ? undefined : { path: `./${entry}.${extension}`, external: true }
    })
  },
})

const sharedByTools: Options = {
  ...shared,
  // What runs in a wallet is not minified: a stack trace must be readable.
  minify: true,
  // Node prints the line of an error that ends the process: it must not fill the terminal.
  esbuildOptions(options) {
    options.lineLimit = 400
  },
}

/** Each entry as ESM and as CommonJS: an ESM bundle cannot load CommonJS that requires a module of Node. */
export default defineConfig([
  {
    ...shared,
    entry: { ...library, ...servers },
    format: 'esm',
    // The kit's types name those of fast-check, which has other ones for ESM than for CommonJS.
    dts: { entry: { ...library, testing: servers.testing } },
  },
  {
    ...shared,
    entry: { ...library, ...servers },
    format: 'cjs',
    dts: { entry: { ...library, ...servers } },
    onSuccess: () => writeTypes('postgres', 'mysql', 'try'),
  },
  {
    ...sharedByTools,
    entry: tools,
    format: 'esm',
    esbuildPlugins: [walletFromEntries('js')],
  },
  {
    ...sharedByTools,
    // The command has no importers.
    entry: { ...tools, command: 'src/tools/command/command.ts' },
    format: 'cjs',
    // `init` finds the package's examples from where it is.
    shims: true,
    esbuildPlugins: [walletFromEntries('cjs')],
    dts: { entry: tools },
    onSuccess: () => writeTypes('audit', 'reconcile'),
  },
])

/** The types of both formats are the same. */
async function writeTypes(...entries: readonly string[]): Promise<void> {
  for (const entry of entries) await writeFile(`dist/${entry}.d.ts`, `export * from './${entry}.cjs'\n`)
}
