import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { defineConfig, type Options } from 'tsup'

/** The library: bundled by applications, so as ESM and as CommonJS. */
const library = {
  index: 'src/index.ts',
  decide: 'src/decide/index.ts',
  http: 'src/http/index.ts',
  batches: 'src/batches/index.ts',
  memory: 'src/stores/memory.ts',
  lookups: 'src/lookups/index.ts',
  operations: 'src/operations/index.ts',
}

/** What is large, and runs on servers. Built once, as CommonJS, with an ESM entry that re-exports it. */
const servers = {
  postgres: 'src/stores/postgres/index.ts',
  mysql: 'src/stores/mysql/index.ts',
  testing: 'src/testing/index.ts',
  try: 'src/tools/try/index.ts',
}

/** Tools for wallets in any language, and their command: the largest part, and none of it runs in a wallet. */
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

/** The tools load the wallet from its entries: the package has each part of it once. */
const walletFromEntries: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'wallet-from-entries',
  setup(build) {
    const entries = { ...library, ...servers }
    build.onResolve({ filter: /^(?:\.\.\/)+[a-z/]+\.js$/ }, ({ path, resolveDir }) => {
      const source = relative('.', join(resolveDir, path)).replace(/\.js$/, '.ts')
      const entry = Object.entries(entries).find(([, file]) => file === source)?.[0]
      return entry === undefined ? undefined : { path: `./${entry}.cjs`, external: true }
    })
  },
}

const require = createRequire(import.meta.url)

export default defineConfig([
  {
    ...shared,
    entry: library,
    format: 'esm',
    // The kit's types name those of fast-check, which has other ones for ESM than for CommonJS.
    dts: { entry: { ...library, testing: servers.testing } },
  },
  {
    ...shared,
    entry: { ...library, ...servers },
    format: 'cjs',
    dts: { entry: { ...library, ...servers } },
    async onSuccess() {
      await writeEntries(Object.keys(servers))
      await writeTypes('postgres')
      await writeTypes('mysql')
      await writeTypes('try')
    },
  },
  {
    ...shared,
    entry: { ...tools, command: 'src/tools/command/command.ts' },
    format: 'cjs',
    // `init` finds the package's examples from where it is.
    shims: true,
    // What runs in a wallet is not minified: a stack trace must be readable.
    minify: true,
    // Node prints the line of an error that ends the process: it must not fill the terminal.
    esbuildOptions(options) {
      options.lineLimit = 400
    },
    esbuildPlugins: [walletFromEntries],
    // The command has no importers.
    dts: { entry: tools },
    async onSuccess() {
      await writeEntries(Object.keys(tools))
      await writeTypes('audit')
      await writeTypes('reconcile')
    },
  },
])

/** ESM entries, by name: `export *` would also export the name "module.exports", which Node 23 and later add. */
async function writeEntries(entries: readonly string[]): Promise<void> {
  for (const entry of entries) {
    const names = Object.keys(require(`./dist/${entry}.cjs`)).sort()
    await writeFile(`dist/${entry}.js`, `export { ${names.join(', ')} } from './${entry}.cjs'\n`)
  }
}

async function writeTypes(entry: string): Promise<void> {
  await writeFile(`dist/${entry}.d.ts`, `export * from './${entry}.cjs'\n`)
}
