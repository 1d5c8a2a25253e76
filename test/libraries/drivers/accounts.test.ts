/**
 * A PAM whose players have an account for each currency, in a table of TypeORM: its own code, by TypeORM and by
 * Prisma, writes to the accounts while the random run plays them. The books agree to the cent.
 */
import { PrismaMariaDb } from '@prisma/adapter-mariadb'
import { PrismaPg } from '@prisma/adapter-pg'
import { handlePlaceBet, handleRollbackBet, recordSettlement, type WalletStore } from 'bet-wallet'
import { simulateSportsbook } from 'bet-wallet/audit'
import { createMysqlStore, migrateMysql } from 'bet-wallet/mysql'
import { createPostgresStore, migratePostgres } from 'bet-wallet/postgres'
import { DataSource, type DataSourceOptions, EntitySchema } from 'typeorm'
import { afterEach, describe, expect, test } from 'vitest'
import { placeBet, rollbackBet, settlement } from '../../fixtures.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { isMysql, noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { accountsOf, withHome } from '../../tools/wallets/accounts.js'
import { serveAccounts } from '../../tools/wallets/accounts-server.js'
import { credentials } from '../../tools/wallets/library.js'

/** Of the random run: it must see every change of their balances. */
const played = ['dora', 'emil', 'fay']
/** Beside it: deposits, and bets. */
const depositor = 'gwen'
const known = [...played, depositor].flatMap(accountsOf)

const money = { type: 'decimal', precision: 20, scale: 2 } as const
const Wallet = new EntitySchema<{ playerId: string; currency: string; balance: string }>({
  ...{ name: 'Wallet', tableName: 'wallets' },
  columns: {
    playerId: { type: 'varchar', length: 64, name: 'player_id', primary: true },
    currency: { type: 'varchar', length: 16, primary: true },
    balance: money,
  },
})
const Deposit = new EntitySchema<{ id: number; playerId: string; currency: string; amount: string }>({
  ...{ name: 'Deposit', tableName: 'deposits' },
  columns: {
    id: { type: 'int', primary: true, generated: true },
    playerId: { type: 'varchar', length: 64, name: 'player_id' },
    currency: { type: 'varchar', length: 16 },
    amount: money,
  },
})

interface Account {
  playerId: string
  currency: string
}

/** The PAM's own code over one library. Each call is a database transaction. */
interface HostCode {
  deposit(account: Account, amount: number): Promise<unknown>
  /** A deposit that the payment provider reverses in the same database transaction: no other reader sees it. */
  depositAndReverse(account: Account, amount: number): Promise<unknown>
}

const byTypeOrm = (source: DataSource): HostCode => {
  const add = (account: Account, amounts: readonly number[]) =>
    source.transaction(async manager => {
      for (const amount of amounts) {
        const lock = { mode: 'pessimistic_write' } as const
        const wallet = await manager.findOneOrFail(Wallet, { where: { ...account }, lock })
        wallet.balance = (Number(wallet.balance) + amount).toFixed(2)
        await manager.save(Wallet, wallet)
        await manager.insert(Deposit, { ...account, amount: amount.toFixed(2) })
      }
    })
  return {
    deposit: (account, amount) => add(account, [amount]),
    depositAndReverse: (account, amount) => add(account, [amount, -amount]),
  }
}

/** @param client what global-setup.ts has generated: the compiler cannot see it, nor may it look */
async function byPrisma(client: string, adapter: unknown): Promise<HostCode> {
  const { PrismaClient } = await import(/* @vite-ignore */ new URL(client, import.meta.url).href)
  const prisma = new PrismaClient({ adapter })
  closing.push(() => prisma.$disconnect())
  const statementsOf = (account: Account, amount: number) => [
    prisma.wallet.update({
      where: { playerId_currency: account },
      data: { balance: { increment: amount } },
    }),
    prisma.deposit.create({ data: { ...account, amount } }),
  ]
  return {
    deposit: (account, amount) => prisma.$transaction(statementsOf(account, amount)),
    depositAndReverse: (account, amount) =>
      prisma.$transaction([...statementsOf(account, amount), ...statementsOf(account, -amount)]),
  }
}

interface Pam {
  store: WalletStore
  host: HostCode
  rows(text: string): Promise<Record<string, unknown>[]>
  /** The recorded transactions of the store. */
  transactions: string
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** TypeORM creates the tables. */
async function sourceOf(options: DataSourceOptions): Promise<DataSource> {
  const source = new DataSource({ ...options, entities: [Wallet, Deposit], synchronize: true } as never)
  await source.initialize()
  closing.push(() => source.destroy())
  await source.getRepository(Wallet).insert(known)
  return source
}

const columns = {
  id: 'player_id',
  currency: 'currency',
  balance: 'balance',
  accountPerCurrency: true,
} as const

type Code = 'TypeORM' | 'Prisma'

async function onPostgres(code: Code): Promise<Pam> {
  const { pool, url, drop } = await freshDatabase()
  closing.push(drop)
  const source = await sourceOf({ type: 'postgres', url })
  const options = { schema: 'wallet', players: { table: 'public.wallets', ...columns } }
  await migratePostgres(pool, options)
  return {
    store: createPostgresStore(pool, options),
    host:
      code === 'TypeORM'
        ? byTypeOrm(source)
        : await byPrisma(
            './.blocks/drivers/generated/prisma/client.ts',
            new PrismaPg({ connectionString: url }),
          ),
    rows: async text => (await pool.query(text)).rows,
    transactions: 'wallet.transactions',
  }
}

async function onMysql(code: Code): Promise<Pam> {
  const { pool, config, drop } = await freshMariadb()
  closing.push(drop)
  const { user = 'root', password = '', host, port, database = '' } = config
  const source = await sourceOf({
    type: isMysql ? 'mysql' : 'mariadb',
    url: `mysql://${user}:${password}@${host}:${port}/${database}`,
  })
  const [[row]] = (await pool.query('SELECT @@collation_database AS collation')) as never as [
    [{ collation: string }],
  ]
  const players = { table: `${database}.wallets`, idCollation: row.collation, ...columns }
  const options = { schema: database, players }
  await migrateMysql(pool, options)
  return {
    store: createMysqlStore(pool, options),
    host:
      code === 'TypeORM'
        ? byTypeOrm(source)
        : await byPrisma(
            './.blocks/prisma-mysql/client.ts',
            new PrismaMariaDb({ host, port, user, password, database }),
          ),
    rows: async text => (await pool.query(text))[0] as Record<string, unknown>[],
    transactions: 'wallet_transactions',
  }
}

/** Deposits, and bets of the depositor in both currencies, which are settled or rolled back. */
async function playDepositor({ store, host }: Pam): Promise<void> {
  for (let n = 1; n <= 60; n += 1) {
    const currency = n % 2 === 0 ? 'EUR' : 'JPY'
    const [bets, deposits] = [n, n + 1000].map(number => ({
      betId: `g-${number}`,
      transactionId: `g-${number}`,
    }))
    const ids = { playerId: depositor, currency }
    await Promise.all([
      host.deposit(ids, 7),
      host.deposit({ ...ids, currency: 'EUR' }, 0.13),
      handlePlaceBet(store, placeBet({ ...ids, ...bets, amount: '11' }), withHome),
      handlePlaceBet(store, placeBet({ ...ids, ...deposits, amount: '5' }), withHome),
    ]).then(([, , ...outcomes]) => expect(outcomes).toMatchObject([{ ok: true }, { ok: true }]))
    const paid = settlement({ ...ids, ...bets, transactionId: `s-${n}`, amount: '23' })
    const undone = rollbackBet({ playerId: depositor, ...deposits, transactionId: `r-${n}` })
    expect(await recordSettlement(store, paid, withHome)).toMatchObject({ ok: true, currency })
    expect(await handleRollbackBet(store, undone, withHome)).toMatchObject({ ok: true, currency })
  }
}

async function writeBeside({ host }: Pam): Promise<void> {
  for (let n = 0; n < 40; n += 1)
    await Promise.all(
      played.flatMap(playerId =>
        ['EUR', 'JPY'].map(currency => host.depositAndReverse({ playerId, currency }, 250 + n)),
      ),
    )
}

const engine = isMysql ? 'MySQL' : 'MariaDB'
const pams: { name: string; reason: string | null; open(): Promise<Pam> }[] = [
  { name: 'TypeORM on PostgreSQL', reason: null, open: () => onPostgres('TypeORM') },
  { name: 'Prisma on PostgreSQL', reason: null, open: () => onPostgres('Prisma') },
  { name: `TypeORM on ${engine}`, reason: noServer, open: () => onMysql('TypeORM') },
  { name: `Prisma on ${engine}`, reason: noServer, open: () => onMysql('Prisma') },
]

describe.each(pams)('accounts for each currency, with code of $name beside', ({ reason, open }) => {
  test.skipIf(reason !== null).each([1, 2])(
    `the random run passes, and the books agree${reason === null ? '' : ` (skipped: ${reason})`}: seed %i`,
    { timeout: 300_000 },
    async seed => {
      const pam = await open()
      const { baseUrl, errors, close } = await serveAccounts(pam.store)
      closing.push(close)
      const options = {
        baseUrl,
        credentials,
        players: played,
        accounts: ['EUR', 'JPY'],
        bets: 300,
        chaos: 0.3,
        seed,
      }
      const [report] = await Promise.all([simulateSportsbook(options), writeBeside(pam), playDepositor(pam)])
      expect(report.differences).toEqual([])
      expect(report).toMatchObject({ passed: true, complete: true })
      expect(errors).toEqual([])

      const sums = (table: string, currency: string, amount: string) =>
        `(SELECT COALESCE(SUM(${amount}), 0) FROM ${table} o WHERE o.player_id = w.player_id AND o.${currency} = w.currency)`
      const rows = await pam.rows(`SELECT player_id, currency, balance,
          ${sums('deposits', 'currency', 'amount')} AS deposited,
          ${sums(pam.transactions, 'account_currency', 'delta')} AS delta
        FROM wallets w ORDER BY player_id, currency`)
      const openings = new Map(
        known.map(account => [`${account.playerId} ${account.currency}`, account.balance]),
      )
      const inCents = (amount: unknown) => Math.round(Number(amount) * 100)
      expect(rows).toHaveLength(known.length)
      for (const { player_id: playerId, currency, balance, deposited, delta } of rows) {
        const opening = openings.get(`${playerId} ${currency}`)
        const sum = inCents(opening) + inCents(deposited) + inCents(delta)
        expect([playerId, currency, inCents(balance)]).toEqual([playerId, currency, sum])
      }
      const balanceOf = (playerId: unknown, currency: unknown) =>
        rows.find(row => row.player_id === playerId && row.currency === currency)?.balance
      for (const { playerId, currency, expected } of report.books.players)
        expect(inCents(balanceOf(playerId, currency))).toBe(inCents(expected))
      // 30 bets each in EUR and JPY: a stake of 11 pays 23.
      expect(inCents(balanceOf(depositor, 'EUR'))).toBe(inCents(9000 + 30 * 7 + 60 * 0.13 + 30 * 12))
      expect(inCents(balanceOf(depositor, 'JPY'))).toBe(inCents(50_000 + 30 * 7 + 30 * 12))
    },
  )
})
