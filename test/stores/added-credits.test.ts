/**
 * A settlement without a load, on each store: for every stored state it is answered and recorded as the same
 * settlement that loads its bet first.
 */
import { recordSettlement, type WalletStore } from 'bet-wallet'
import { createMemoryStore } from 'bet-wallet/memory'
import mysql from 'mysql2/promise'
import { describe, expect, onTestFinished, test } from 'vitest'
import { add, isDecimal } from '../../src/money.js'
import type { Account, Bet, Credit, SettlementType, WalletChanges } from '../../src/store.js'
import type { WithinTransaction } from '../../src/stores/database/within-transaction.js'
import { bet, live, settlement, transaction, uncollected } from '../fixtures.js'
import { sharedMariadb } from '../mariadb/fresh-database.js'
import { exactCollation, isMysql, noServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { openWallet as openMysqlWallet } from './mysql/wallet.js'
import { longTimeouts, openWallet } from './postgres/wallet.js'

type Open = (accounts: readonly Account[], options?: object) => Promise<WalletStore>
const currencyOf = (playerId: string) => (playerId.startsWith('yen') ? 'JPY' : 'EUR')
const oneEach = (players: readonly string[]): Account[] =>
  players.map(playerId => ({ playerId, currency: currencyOf(playerId), balance: '100' }))
const twoEach = (players: readonly string[]): Account[] =>
  players.flatMap(playerId => ['EUR', 'JPY'].map(currency => ({ playerId, currency, balance: '100' })))

const rowsOf = (accounts: readonly Account[]) =>
  accounts.map(({ playerId, currency, balance }) => `('${playerId}', '${currency}', ${balance})`).join(', ')

/** The players' table of a PAM whose players have an account per currency; nothing for the library's own table. */
function tableOf(accounts: readonly Account[], code: string, more = {}) {
  if (accounts.length === new Set(accounts.map(({ playerId }) => playerId)).size) return null
  const players = { table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'balance' }
  return {
    ddl: `CREATE TABLE SCHEMA.accounts (id ${code}, currency ${code}, balance decimal(38, 18) NOT NULL, PRIMARY KEY (id, currency))`,
    options: { players: { ...players, accountPerCurrency: true, ...more } },
  }
}

const inMemory: Open = async accounts => createMemoryStore(accounts)

const onPostgres: Open = async (accounts, options) => {
  const { pool: admin, url, drop } = await freshDatabase()
  onTestFinished(drop)
  const table = tableOf(accounts, 'text')
  const wallet = await openWallet({
    ...{ admin, url, options: { ...longTimeouts, ...options, ...table?.options } },
    ...(table && { ddl: table.ddl }),
  })
  onTestFinished(() => wallet.close())
  await wallet.rows(`INSERT INTO SCHEMA.${table ? 'accounts' : 'players'} VALUES ${rowsOf(accounts)}`)
  return wallet.store
}

const onMysql: Open = async (accounts, options) => {
  const { config } = await sharedMariadb()
  const admin = mysql.createPool(config)
  onTestFinished(() => admin.end())
  const code = `varchar(32) CHARACTER SET utf8mb4 COLLATE ${exactCollation}`
  const table = tableOf(accounts, code, { idCollation: exactCollation })
  const wallet = await openMysqlWallet({
    ...{ admin, config, options: { ...longTimeouts, ...options, ...table?.options } },
    ...(table && { ddl: [table.ddl] }),
  })
  onTestFinished(() => wallet.close())
  const columns = table ? 'accounts' : 'wallet_players (player_id, currency, balance)'
  await wallet.rows(`INSERT INTO SCHEMA.${columns} VALUES ${rowsOf(accounts)}`)
  return wallet.store
}

/** A stored state, and a settlement that meets it. */
interface State {
  /** `null`: the bet is unknown. */
  stored: Partial<Bet> | null
  request: { type: SettlementType; amount: string; currency?: string }
  player?: 'unknown' | 'other' | 'yen'
  /** The transaction is recorded: this very settlement, or another one of its id. */
  recorded?: 'same' | 'another'
}

const types = ['BET_PAID', 'VOIDED', 'CASHOUT'] as const
const ofType: (Credit | undefined)[] = [
  ...[undefined, live('0'), live('12.34'), uncollected('5')],
  ...[
    { live: null, reversed: '7', owed: '0' },
    { live: '1', reversed: '2', owed: '3' },
  ],
]
const amounts = ['0', '60.00', '0.01', '123456789012345.67']

const states: State[] = [
  ...types.flatMap(type =>
    ofType.flatMap(credit =>
      ofType.slice(0, 5).flatMap(other =>
        amounts.map(amount => {
          const otherType = type === 'BET_PAID' ? 'VOIDED' : 'BET_PAID'
          const credits = { ...(credit && { [type]: credit }), ...(other && { [otherType]: other }) }
          return { stored: { credits }, request: { type, amount } }
        }),
      ),
    ),
  ),
  ...types.flatMap((type): State[] => {
    const request = { type, amount: '60' }
    return [
      { stored: null, request },
      { stored: { status: 'ROLLED_BACK' }, request },
      { stored: { status: 'ROLLED_BACK', stake: '0' }, request },
      { stored: { playerId: 'another-player' }, request },
      { stored: { currency: 'JPY' }, request },
      { stored: {}, request: { ...request, currency: 'JPY' } },
      { stored: { currency: 'JPY' }, request: { ...request, currency: 'JPY' } },
      { stored: { currency: 'JPY' }, request: { ...request, currency: 'JPY' }, player: 'yen' },
      { stored: {}, request, player: 'unknown' },
      { stored: {}, request, player: 'other' },
      { stored: {}, request, recorded: 'same' },
      { stored: {}, request, recorded: 'another' },
    ]
  }),
]

/** What is live becomes more than a decimal(38,18) holds, or than 40 digits; the last one with zeros at its end. */
const large: State[] = [
  ['99999999999999999999', '60'],
  ['9'.repeat(40), '60'],
  [`${'9'.repeat(38)}.99`, '0.01'],
].map(([stored = '', amount = '']) => ({
  stored: { credits: { BET_PAID: live(stored) } },
  request: { type: 'BET_PAID', amount },
}))

/** The ids of a state: each form of its settlement has a player and a bet of its own. */
function idsOf(index: number, form: string, { player, recorded }: State) {
  const own = `${player === 'yen' ? 'yen' : 'player'}-${index}-${form}`
  const playerId = player === 'unknown' ? `unknown-${index}-${form}` : own
  return {
    own,
    betId: `bet-${index}-${form}`,
    playerId,
    transactionId: `${recorded ?? 's'}-${index}-${form}`,
  }
}

/** Writes the state, without a movement. */
async function store(wallet: WalletStore, state: State, { own, betId, ...ids }: ReturnType<typeof idsOf>) {
  const record = async (changes: Pick<WalletChanges, 'transaction' | 'bet'>) => {
    const account = { currency: currencyOf(own), delta: '0', floor: null }
    const { transaction: of, bet: written } = changes
    const result = await wallet.commit({ transaction: of, bet: written, credit: null, account, request: {} })
    expect(result).toMatchObject({ status: 'committed' })
  }
  const by = { playerId: own, betId, delta: '0', walletTransactionId: null, accountCurrency: currencyOf(own) }
  const stored = state.stored && bet({ betId, playerId: own, currency: currencyOf(own), ...state.stored })
  const written = stored && state.player === 'other' ? { ...stored, playerId: 'another-player' } : stored
  await record({ transaction: transaction({ ...by, transactionId: `place-${betId}` }), bet: written })
  if (state.recorded === undefined) return
  const { type, amount } = state.request
  const settled = { operation: 'settlement', type, amount: state.recorded === 'same' ? amount : '1' } as const
  await record({
    transaction: transaction({ ...by, ...settled, transactionId: ids.transactionId }),
    bet: null,
  })
}

/**
 * The outcome and the records, with the ids of the state in place of those of its form, amounts as numbers,
 * and the accounts in order.
 */
async function played(wallet: WalletStore, state: State, ids: ReturnType<typeof idsOf>, form: string) {
  const { betId, playerId, transactionId } = ids
  const request = settlement({ betId, playerId, transactionId, currency: 'EUR', ...state.request })
  const outcome = await recordSettlement(wallet, request).catch(({ code }: { code: string }) => ({
    fault: code,
  }))
  const { accounts, ...others } = await wallet.load({
    operation: 'settlement',
    transactionId,
    playerId,
    betId,
  })
  const records = { ...others, accounts: accounts.toSorted((a, b) => (a.currency < b.currency ? -1 : 1)) }
  const text = JSON.stringify({ outcome, records }, (key, value) =>
    key === 'walletTransactionId' ? value !== null : isDecimal(value) ? add(value, '0') : value,
  )
  return JSON.parse(text.replaceAll(`-${form}"`, '"')) as unknown
}

const both = ['assumed', 'loaded'] as const

const stores: readonly { name: string; skip: boolean; open: Open }[] = [
  { name: 'the memory store', skip: false, open: inMemory },
  { name: 'PostgreSQL', skip: false, open: onPostgres },
  { name: isMysql ? 'MySQL' : 'MariaDB', skip: noServer !== null, open: onMysql },
]

describe.each(
  stores.flatMap(({ name, ...store }) => [
    { ...store, name, accountsOf: oneEach },
    { ...store, name: `${name}, with two accounts of each player`, accountsOf: twoEach },
  ]),
)('on $name', ({ skip, open, accountsOf }) => {
  test.skipIf(skip).each([
    ['together, in batches', Number.POSITIVE_INFINITY],
    ['one after the other', 1],
  ])(
    'settlements %s have the results of those that load first, for every stored state',
    async (_how, batch) => {
      // No bet of MySQL or MariaDB has the others.
      const possible = [...states, ...(open === onMysql ? large.slice(0, 1) : large)]
      const all = possible.flatMap((state, index) =>
        both.map(form => ({ state, form, ids: idsOf(index, form, state) })),
      )
      const wallet = await open(accountsOf(all.map(({ ids }) => ids.own)))
      await Promise.all(all.map(({ state, ids }) => store(wallet, state, ids)))
      let added = 0
      const errors: unknown[] = []
      const counting: WalletStore = {
        ...wallet,
        async commit(changes) {
          if (changes.credit === null) return wallet.commit(changes)
          // A credit that cannot be added is a conflict; an error would be an unknown outcome.
          const result = await wallet.commit(changes).catch(error => void errors.push(error))
          if (result?.status === 'committed') added += 1
          return result ?? { status: 'conflict' }
        },
      }
      const walletOf = { assumed: counting, loaded: { ...wallet, addsCredits: false } }
      const results: unknown[] = []
      for (let begin = 0; begin < all.length; begin += batch) {
        const some = all.slice(begin, Math.min(all.length, begin + batch))
        results.push(
          ...(await Promise.all(
            some.map(({ state, form, ids }) => played(walletOf[form], state, ids, form)),
          )),
        )
      }
      for (let index = 0; index < results.length; index += 2)
        expect(results[index], JSON.stringify(possible[index / 2])).toEqual(results[index + 1])
      expect(errors).toEqual([])
      const accepted = results.filter(result => JSON.stringify(result).includes('"ok":true,"replayed":false'))
      // PostgreSQL keeps the zeros at the end of a sum: the last large one loads there, and is added in memory.
      expect(accepted).toHaveLength(2 * added + (open === onPostgres ? 2 : 0))
      expect(added).toBeGreaterThan(types.length * ofType.length * 5 * amounts.length)
    },
  )
})

describe.each(stores.slice(1))('withinTransaction on $name', ({ skip, open }) => {
  test.skipIf(skip)('is called with the bet that a credit was added to', async () => {
    const seen: (WalletChanges & { at: string })[] = []
    const withinTransaction: WithinTransaction = async (query, pending) => {
      await query('SELECT 1')
      seen.push(...pending.map(({ changes, balance }) => ({ ...changes, at: balance })))
    }
    const players = ['player-1', 'player-2']
    const wallet = await open(oneEach(players), { withinTransaction })
    const betIdOf = (playerId: string) => `bet-of-${playerId}`
    const state: State = {
      stored: { credits: { BET_PAID: { live: '1', reversed: '2', owed: '3' } } },
      request: { type: 'BET_PAID', amount: '60' },
    }
    for (const own of players)
      await store(wallet, state, { own, betId: betIdOf(own), playerId: own, transactionId: own })
    seen.length = 0
    await Promise.all(
      players.map(playerId =>
        recordSettlement(wallet, settlement({ playerId, betId: betIdOf(playerId), transactionId: playerId })),
      ),
    )
    expect(seen.map(({ credit }) => credit?.amount)).toEqual(['60', '60'])
    for (const { bet: changed, at } of seen) {
      const { betId = '', playerId = '' } = changed ?? {}
      const keys = { operation: 'settlement', transactionId: '', playerId, betId } as const
      expect(changed).toEqual((await wallet.load(keys)).bet)
      expect(changed).toMatchObject({ revision: 2 })
      expect(Number(at)).toBe(160)
    }
  })
})
