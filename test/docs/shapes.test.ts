/** Each section of docs/shapes.md on PostgreSQL and MariaDB or MySQL: its tables, its options, and what bets answer. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { handlePlaceBet, type WalletOptions, type WalletStore } from '../../src/index.js'
import {
  createMysqlStore,
  type MysqlStoreOptions,
  type MysqlTables,
  migrateMysql,
} from '../../src/stores/mysql/index.js'
import {
  createPostgresStore,
  migratePostgres,
  type PostgresStoreOptions,
} from '../../src/stores/postgres/index.js'
import type { MariadbServer } from '../mariadb/server.js'
import { fastSettings, isMysql, noServer, startServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { compile } from '../tools/init/compile.js'
import { type CodeBlock, codeBlocksOf, readPage, root } from './pages.js'

const path = 'docs/shapes.md'
const [, ...parts] = readPage(path).text.split(/^## /m)
const sections = parts.map(text => ({ name: text.split('\n')[0] ?? '', text }))
const blocksOf = (text: string) => codeBlocksOf({ path, text })

interface Shape extends Pick<WalletOptions, 'minorUnits'> {
  players: NonNullable<PostgresStoreOptions['players']>
  withinTransaction?: PostgresStoreOptions['withinTransaction']
}

interface Engine {
  /** What its own blocks are headed by, if there is one for each engine. */
  heading: string
  run(sql: string): Promise<unknown>
  /** The fields of each row, as text. */
  rows(sql: string): Promise<string[][]>
  open(shape: Shape): Promise<WalletStore>
}

const shapeIn = (code: string): Shape => {
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  })
  const exported = {} as Shape
  new Function('exports', outputText)(exported)
  return exported
}

/** `sql` is the last block of another engine. */
const isOfOther = (text: string, { code }: CodeBlock, { heading }: Engine) => {
  const [, named] = /^On (\w+):\n\n```sql\n$/m.exec(text.slice(0, text.indexOf(code)).slice(-40)) ?? []
  return named !== undefined && named !== heading
}

let sent = 0
async function bet(store: WalletStore, shape: Shape, playerId: string, amount: string, currency: string) {
  sent += 1
  const request = { transactionId: `t-${sent}`, betId: `b-${sent}`, playerId, amount, currency }
  const outcome = await handlePlaceBet(
    store,
    {
      ...request,
      sessionId: 's-1',
      odds: '1.85',
      betType: 'SINGLE',
      transactionDate: '2026-11-21T18:00:00Z',
    },
    { minorUnits: shape.minorUnits ?? (() => undefined) },
  )
  return outcome.ok
    ? `${printed(outcome.balance, shape, outcome.currency)} ${outcome.currency}`
    : outcome.errorCode
}

/** With the decimals of the currency, as the wallet answers over HTTP. */
function printed(balance: string, { minorUnits }: Shape, currency: string): string {
  const decimals = minorUnits?.(currency) ?? (currency === 'JPY' ? 0 : 2)
  const [whole = '', fraction = ''] = balance.split('.')
  return decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, '0')}`
}

/** @returns the line with what happened */
async function played(line: string, store: WalletStore, shape: Shape): Promise<string> {
  const [, who = '', amounts = '', currency = '', atOnce] =
    /^(\S+) bets ([\d., ]+) (\w+)( at once)?: /.exec(line) ?? []
  const answers = await Promise.all(
    amounts.split(', ').map(amount => bet(store, shape, who, amount, currency)),
  )
  if (atOnce === undefined) return `${who} bets ${amounts} ${currency}: ${answers.join()}`
  const refused = answers.filter(answer => !answer.includes(' '))
  const accepted = ['none', 'one', 'two'][answers.length - refused.length]
  return `${who} bets ${amounts} ${currency} at once: ${accepted} accepted, ${refused.join(', ')}`
}

/** The first section's table and mapping, which the sections without such a table have. */
const usual = blocksOf(sections[0]?.text ?? '').map(block => ({ ...block, output: null }))

async function play(text: string, engine: Engine): Promise<void> {
  let shape = {} as Shape
  let store: WalletStore | undefined
  const before = /CREATE TABLE pam\.(?:accounts|wallets) /.test(text) ? [] : usual
  for (const block of [...before, ...blocksOf(text)]) {
    const { language, code, output } = block
    if (language === 'ts') shape = { ...shape, ...shapeIn(code) }
    else if (code.startsWith('SELECT')) {
      expect((await engine.rows(code)).map(row => row.join(' | ')).join('\n')).toBe(output?.trimEnd())
      continue
    } else if (!isOfOther(text, block, engine)) await engine.run(code)
    for (const line of output?.trimEnd().split('\n') ?? []) {
      store ??= await engine.open(shape)
      expect(await played(line, store, shape)).toBe(line)
    }
  }
}

const withBlocks = sections.filter(({ text }) => blocksOf(text).length > 0)

test('every shape has its statements, its options where they differ, and its answers, but for those without', () => {
  const without = sections.filter(section => !withBlocks.includes(section)).map(({ name }) => name)
  expect(without).toEqual(['A float balance', 'A balance that is a sum of entries'])
  for (const { name, text } of withBlocks) {
    const blocks = blocksOf(text)
    expect(
      blocks.some(({ language }) => language === 'sql'),
      name,
    ).toBe(true)
    expect(
      blocks.some(({ output }) => output?.includes(' bets ')),
      name,
    ).toBe(true)
  }
})

test('the blocks compile, strictly', () => {
  const folder = join(root, 'test/.tmp/init/shapes')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [index, { code }] of blocksOf(readPage(path).text)
    .filter(({ language }) => language === 'ts')
    .entries()) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `shape-${index}.ts`), code)
  }
  expect(compile([folder])).toBe('')
})

describe('on PostgreSQL', () => {
  test.each(withBlocks)('$name', async ({ text }) => {
    const { pool, drop } = await freshDatabase()
    onTestFinished(drop)
    await pool.query('CREATE SCHEMA pam')
    await play(text, {
      heading: 'PostgreSQL',
      run: sql => pool.query(sql),
      async rows(text) {
        const { rows } = await pool.query<unknown[]>({ text, rowMode: 'array' })
        return rows.map(row => row.map(String))
      },
      async open({ players, withinTransaction }) {
        await migratePostgres(pool, { players })
        const store = createPostgresStore(pool, {
          players,
          timeoutMs: 120_000,
          ...(withinTransaction && { withinTransaction }),
        })
        await store.ready()
        return store
      },
    })
  })
})

const name = isMysql ? 'MySQL' : 'MariaDB'
describe.skipIf(noServer !== null)(
  noServer === null ? `on ${name}` : `${name} (skipped: ${noServer})`,
  () => {
    let server: MariadbServer
    let pool: mysql.Pool
    beforeAll(async () => {
      server = await startServer({ settings: fastSettings })
      pool = mysql.createPool({ ...server.config, multipleStatements: true })
    })
    afterAll(async () => {
      await pool?.end()
      await server?.stop()
    })

    test.each(withBlocks)('$name', async ({ text }) => {
      await pool.query('DROP DATABASE IF EXISTS pam; DROP DATABASE IF EXISTS bet_wallet')
      await pool.query('CREATE DATABASE pam CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci')
      // A pool of the store alone, which remembers nothing of the section before.
      const own = mysql.createPool({ ...server.config, multipleStatements: true })
      onTestFinished(() => own.end())
      await play(text, {
        heading: 'MariaDB',
        run: sql => pool.query(sql),
        async rows(sql) {
          const [rows] = await pool.query({ sql, rowsAsArray: true })
          return (rows as unknown[][]).map(row => row.map(String))
        },
        async open({ players, withinTransaction }) {
          const text = players.idType === undefined ? { idCollation: 'utf8mb4_general_ci' } : {}
          const tables = { players: { ...players, ...text } } as MysqlTables
          await migrateMysql(own, tables)
          const hook: NonNullable<MysqlStoreOptions['withinTransaction']> = async (query, pending) =>
            await withinTransaction?.((sql, values) => query(sql.replaceAll(/\$\d/g, '?'), values), pending)
          const store = createMysqlStore(own, {
            ...tables,
            timeoutMs: 120_000,
            ...(withinTransaction && { withinTransaction: hook }),
          })
          await store.ready()
          return store
        },
      })
    })
  },
)
