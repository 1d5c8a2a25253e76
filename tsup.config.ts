import { defineConfig } from 'tsup'

const entry = {
  index: 'src/index.ts',
  decide: 'src/decide/index.ts',
  http: 'src/http/index.ts',
  memory: 'src/stores/memory.ts',
  postgres: 'src/stores/postgres/index.ts',
  testing: 'src/testing/index.ts',
  audit: 'src/audit/index.ts',
}

export default defineConfig({
  entry: { ...entry, command: 'src/audit/command.ts' },
  format: ['esm', 'cjs'],
  target: 'node20',
  platform: 'node',
  // Nobody imports the command.
  dts: { entry },
  // Shared chunks, in CommonJS too: one WalletError and one options cache whatever the entry point.
  splitting: true,
  // By rollup, which writes the CommonJS of split chunks as the source is; tsup's own way compiles `?.` and `??` down.
  treeshake: true,
  // `node:crypto` stays what it is.
  removeNodeProtocol: false,
  clean: true,
})
