/** Every entry point in a bundle of esbuild, as applications for functions and containers are built: one file, no packages. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createProject } from './project.js'

const { folder: project, remove } = createProject(['fast-check'])
/** Outside the project: what a bundle would still load is not found from here. */
const outside = mkdtempSync(join(tmpdir(), 'bet-wallet-bundles-'))
afterAll(() => {
  remove()
  rmSync(outside, { recursive: true, force: true })
})

const names = Object.entries(manifest.exports).flatMap(([path, entry]) =>
  typeof entry === 'string' ? [] : [path.slice(2) || 'index'],
)

/** Every entry point alone, and one program that bets. */
const sources = join(project, 'sources')
mkdirSync(sources)
for (const name of names) {
  const path = name === 'index' ? 'bet-wallet' : `bet-wallet/${name}`
  writeFileSync(
    join(sources, `${name}.js`),
    `import * as entry from '${path}'\nexport const values = Object.keys(entry)\n`,
  )
}
writeFileSync(
  join(sources, 'bets.js'),
  `import { handlePlaceBet } from 'bet-wallet'
  import { createMemoryStore } from 'bet-wallet/memory'
  import { createMysqlStore } from 'bet-wallet/mysql'
  import { createPostgresStore, StoreError } from 'bet-wallet/postgres'
  export async function values() {
    const memory = createMemoryStore([{ playerId: 'p1', currency: 'EUR', balance: '100.00' }])
    const bet = {
      transactionId: 't1', betId: 'b1', playerId: 'p1', sessionId: 's1', amount: '30.00', currency: 'EUR', odds: '1.85',
      betType: 'SINGLE', transactionDate: '2026-11-21T10:00:00Z',
    }
    const { balance } = await handlePlaceBet(memory, bet)
    const postgres = createPostgresStore({ query: async () => ({ rows: [] }) })
    const failed = await postgres.ready().catch(error => error instanceof StoreError && error.code)
    return [balance, failed, typeof createMysqlStore([{ getConnection() {} }], { schema: 'wallet' }).ready]
  }`,
)

/** Loads every bundle of the folder, and prints their values. */
const runner = `
  import { createRequire } from 'node:module'
  const values = {}
  for (const [name, file] of JSON.parse(process.argv[2])) {
    const bundle = file.endsWith('.cjs') ? createRequire(import.meta.url)(file) : await import(file)
    values[name] = typeof bundle.values === 'function' ? await bundle.values() : bundle.values.toSorted()
  }
  console.log(JSON.stringify(values))`

/** The same from the package as it is installed. */
const installed = `
  const values = {}
  for (const name of ${JSON.stringify(names)})
    values[name] = Object.keys(await import(name === 'index' ? 'bet-wallet' : 'bet-wallet/' + name)).toSorted()
  console.log(JSON.stringify(values))`

function printed(file: string, text: string, ...args: string[]): Record<string, unknown> {
  writeFileSync(file, text)
  const env = { ...process.env, NODE_OPTIONS: '' }
  return JSON.parse(execFileSync(process.execPath, [file, ...args], { encoding: 'utf8', env }))
}

describe.each(['esm', 'cjs'] as const)('in a bundle, %s', format => {
  it.each([false, true])('every entry point loads, and bets are taken (minified: %s)', async minify => {
    const folder = join(outside, `${format}-${minify}`)
    const extension = format === 'esm' ? '.mjs' : '.cjs'
    await build({
      entryPoints: readdirSync(sources).map(name => join(sources, name)),
      ...{
        bundle: true,
        platform: 'node',
        format,
        minify,
        outdir: folder,
        outExtension: { '.js': extension },
      },
      ...{ logLevel: 'error', absWorkingDir: project },
    })
    const bundles = [...names, 'bets'].map(name => [name, join(folder, `${name}${extension}`)])
    const { bets, ...loaded } = printed(join(folder, 'run.mjs'), runner, JSON.stringify(bundles))
    expect(bets).toEqual(['70.00', expect.any(String), 'function'])
    expect(loaded).toEqual(printed(join(project, 'installed.mjs'), installed))
  })
})
