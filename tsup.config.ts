import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { defineConfig, type Options } from 'tsup'

/** The library: bundled by applications, so as ESM and as CommonJS. */
const library = {
  index: 'src/index.ts',
  decide: 'src/decide/index.ts',
  http: 'src/http/index.ts',
  batches: 'src/batches/index.ts',
  memory: 'src/stores/memory.ts',
}

/** What is large, and runs on servers. Built once, as CommonJS, with an ESM entry that re-exports it. */
const servers = {
  postgres: 'src/stores/postgres/index.ts',
  testing: 'src/testing/index.ts',
  audit: 'src/audit/index.ts',
}

const shared: Options = {
  target: 'node20',
  platform: 'node',
  // Shared chunks: one WalletError and one options cache per format, for all entry points.
  splitting: true,
  // By rollup, which keeps the CommonJS of split chunks as modern as the source; tsup itself compiles `?.` and `??` down.
  treeshake: true,
  removeNodeProtocol: false,
  // The package has a limit of size. Names stay: they are in stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
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
    entry: { ...library, ...servers, command: 'src/audit/command.ts' },
    format: 'cjs',
    // The command has no importers.
    dts: { entry: { ...library, ...servers } },
    async onSuccess() {
      // By name: `export *` would also export the name "module.exports", which Node 23 and later add.
      for (const name of Object.keys(servers)) {
        const names = Object.keys(require(`./dist/${name}.cjs`)).sort()
        await writeFile(`dist/${name}.js`, `export { ${names.join(', ')} } from './${name}.cjs'\n`)
      }
      for (const name of ['postgres', 'audit'])
        await writeFile(`dist/${name}.d.ts`, `export * from './${name}.cjs'\n`)
    },
  },
])
