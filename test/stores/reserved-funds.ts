/** Reserved funds (D29) on either engine: available is balance − reserved, in rules, answers, records, events, lookups. */
import { handlePlaceBet, handleUnsettlement, recordSettlement } from 'bet-wallet'
import { describe, expect, it } from 'vitest'
import type { WalletLookups } from '../../src/lookups/index.js'
import type { CommitResult, WalletChanges, WalletStore } from '../../src/store.js'
import type { OutboxTable } from '../../src/stores/database/outbox.js'
import type { WithinTransaction } from '../../src/stores/database/within-transaction.js'
import type { PlayersTable } from '../../src/stores/postgres/index.js'
import { placeBet, settlement, unsettlement } from '../fixtures.js'
import { endOf, placing } from './postgres/wallet.js'

export interface ReservedWallet {
  store: WalletStore & { ready(): Promise<void> }
  lookups: WalletLookups
  outbox: OutboxTable
  /** A statement of the PAM; a row is an array of columns, and SCHEMA stands for the schema. */
  rows(text: string): Promise<unknown[][]>
  recorded(): Promise<string[]>
  balanceOf(playerId: string): Promise<string>
}

export interface ReservedSetup {
  ddl: readonly string[]
  options: Partial<Pick<PlayersTable, 'balanceType' | 'minorUnits'>>
  withinTransaction?: WithinTransaction
}

/** The players' table is SCHEMA.accounts, with the columns id, currency, balance and locked. */
export type OpenReserved = (setup: ReservedSetup) => Promise<ReservedWallet>

/** A type of the columns, its options, and the amount of 1 EUR. */
type Unit = readonly [type: string, options: ReservedSetup['options'], unit: number]

const decimals: Unit = ['decimal(20,2)', {}, 1]
const units: readonly Unit[] = [
  decimals,
  ['varchar(40)', { balanceType: 'text' }, 1],
  ['bigint', { balanceType: 'minor-units', minorUnits: 2 }, 100],
]
const refused = { ok: false, errorCode: 'INSUFFICIENT_FUNDS' }

/** Each player has 100 EUR, and of them this reserved. */
const accounts = ([type, options, unit]: Unit, reserved: Record<string, number | null>): ReservedSetup => ({
  options,
  ddl: [
    `CREATE TABLE SCHEMA.accounts (id varchar(64) PRIMARY KEY, currency varchar(3), balance ${type}, locked ${type})`,
    `INSERT INTO SCHEMA.accounts VALUES ${Object.entries(reserved)
      .map(([id, of]) => `('${id}', 'EUR', '${100 * unit}', ${of === null ? 'NULL' : `'${of * unit}'`})`)
      .join()}`,
  ],
})

const betOf = (playerId: string, amount: string): WalletChanges => {
  const betId = `bet-${playerId}`
  return placing({
    ...{ playerId, amount, bet: { betId } },
    fields: { transactionId: `place-${playerId}`, betId },
  })
}

export function reservedFunds(open: OpenReserved): void {
  describe.each(units)('reserved funds of %s', (...unit) => {
    inUnits(open, unit)
  })
  describe.each(shapes)('reserved as %s', (_, available, options, ddl) => {
    it('is accepted at start, and counts for a bet and for a clawback', async () => {
      const { store } = await open({ options, ddl })
      await store.ready()
      await handlePlaceBet(store, placeBet())
      await recordSettlement(store, settlement({ amount: '15' }))
      const bet = (number: number, amount: number) =>
        placeBet({ transactionId: `p-${number}`, betId: `b-${number}`, amount: `${amount}` })
      expect(await handlePlaceBet(store, bet(2, available - 14))).toMatchObject(refused)
      expect(await handlePlaceBet(store, bet(3, available - 30))).toMatchObject({
        ok: true,
        balance: '15.00',
      })
      expect(await handleUnsettlement(store, unsettlement())).toMatchObject({ ok: true, balance: '0.00' })
      expect(await handlePlaceBet(store, bet(4, 1))).toMatchObject(refused)
    })
  })
  concurrently(open)
}

function inUnits(open: OpenReserved, unit: Unit): void {
  it('cannot be used by a bet, and are not in the answer, the record, the event and the lookups', async () => {
    const { store, lookups, outbox } = await open(accounts(unit, { alice: 40 }))
    expect(await handlePlaceBet(store, placeBet({ amount: '60.01' }))).toMatchObject(refused)
    const bet = placeBet({ transactionId: 'p-2', betId: 'b-2', amount: '60' })
    // A store that has lost its own answer replays.
    expect(await handlePlaceBet(store, bet)).toMatchObject({ ok: true, balance: '0.00', replayed: false })
    const found = await lookups.player('alice')
    expect(found?.accounts[0]?.balance).toBe('0')
    expect(found?.transactions.map(({ balanceAfter }) => balanceAfter)).toEqual(['0', '60'])
    expect(await eventsOf(outbox)).toEqual(['p-2 0', 'place-1 60'])
  })

  it('of several players in one batch: each has its own floor, answer, record and event', async () => {
    const batches: string[][] = []
    const { store, lookups, outbox } = await open({
      ...accounts(unit, { alice: 40, bob: -50, carol: 0, dave: 40 }),
      withinTransaction: async (_, pending) => {
        batches.push(
          pending.map(({ balance, changes }) => `${changes.transaction.playerId} ${Number(balance)}`),
        )
      },
    })
    await store.ready()
    const results = await Promise.all(
      [betOf('alice', '60'), betOf('bob', '150'), betOf('carol', '99'), betOf('dave', '60.01')].map(changes =>
        store.commit(changes),
      ),
    )
    expect(results.map(result => ('balance' in result ? Number(result.balance) : result.status))).toEqual([
      ...[0, 0, 1],
      'conflict',
    ])
    // The hook has the column.
    expect(batches).toEqual([['alice 40', 'bob -50', 'carol 1']])
    expect(await eventsOf(outbox)).toEqual(['place-alice 0', 'place-bob 0', 'place-carol 1'])
    expect((await lookups.player('bob'))?.accounts[0]?.balance).toBe('0')
  })

  it('may be negative: a credit line, for a bet and for a clawback', async () => {
    const { store, balanceOf } = await open(accounts(unit, { alice: -50 }))
    await handlePlaceBet(store, placeBet())
    await recordSettlement(store, settlement({ amount: '15' }))
    const bet = placeBet({ transactionId: 'p-2', betId: 'b-2', amount: '90' })
    expect(await handlePlaceBet(store, bet)).toMatchObject({ ok: true, balance: '45.00' })
    expect(await handleUnsettlement(store, unsettlement())).toMatchObject({ ok: true, balance: '30.00' })
    expect(Number(await balanceOf('alice'))).toBe(-20 * unit[2])
  })

  it('that are NULL are a fault that names player and column, alone and beside another player', async () => {
    const { store, recorded } = await open(accounts(unit, { alice: null, bob: 0 }))
    const calls = [placeBet(), placeBet({ playerId: 'bob', transactionId: 'p-2', betId: 'b-2' })]
    const [one, two] = await Promise.all(calls.map(call => endOf(handlePlaceBet(store, call))))
    const fault = {
      cause: { message: expect.stringMatching(/accounts\.locked is NULL for the player "alice"/) },
    }
    expect(one).toMatchObject(fault)
    expect(two).toMatchObject({ ok: true })
    expect(await endOf(handlePlaceBet(store, placeBet()))).toMatchObject(fault)
    expect(await recorded()).toEqual(['placebet p-2 -30'])
  })
}

/** Events of the outbox: `p-2 0` is available after it. */
async function eventsOf(outbox: OutboxTable): Promise<string[]> {
  const { claimed } = await outbox.claim(50, 60_000)
  return claimed.map(({ event }) => `${event.transactionId} ${event.balanceAfter}`).sort()
}

const base = (type: string, amount: number) => [
  `CREATE TABLE SCHEMA.base (id varchar(64) PRIMARY KEY, currency varchar(3), balance ${type}, credit_limit ${type})`,
  `INSERT INTO SCHEMA.base VALUES ('alice', 'EUR', ${amount}, ${amount / 2})`,
]
const view = (reserved: string) =>
  `CREATE VIEW SCHEMA.accounts AS SELECT id, currency, balance, ${reserved} AS locked FROM SCHEMA.base`
const generated = (type: string, amount: number) => [
  `CREATE TABLE SCHEMA.accounts (id varchar(64) PRIMARY KEY, currency varchar(3), balance ${type},
    credit_limit ${type}, locked ${type} GENERATED ALWAYS AS (-credit_limit) STORED)`,
  `INSERT INTO SCHEMA.accounts (id, currency, balance, credit_limit) VALUES ('alice', 'EUR', ${amount}, ${amount / 2})`,
]
const cents = { balanceType: 'minor-units', minorUnits: 2 } as const

/** Of 100 EUR, with a credit line of 50 EUR or a minimum of 5 EUR. */
const shapes: [name: string, available: number, options: ReservedSetup['options'], ddl: string[]][] = [
  ['-credit_limit of a view', 150, {}, [...base('decimal(20,2)', 100), view('-credit_limit')]],
  ['a generated -credit_limit', 150, {}, generated('decimal(20,2)', 100)],
  ['5.00 of a view', 95, {}, [...base('decimal(20,2)', 100), view('5.00')]],
  ['-credit_limit of a view, in cents', 150, cents, [...base('bigint', 10_000), view('-credit_limit')]],
  ['a generated -credit_limit, in cents', 150, cents, generated('bigint', 10_000)],
  ['500 of a view, in cents', 95, cents, [...base('bigint', 10_000), view('500')]],
]

function concurrently(open: OpenReserved): void {
  const raise = 'UPDATE SCHEMA.accounts SET locked = 41'

  it('raised between load and commit: the bet is judged again, and refused', async () => {
    const { store, rows, recorded, balanceOf } = await open(accounts(decimals, { alice: 40 }))
    const results: CommitResult[] = []
    const late = {
      ...store,
      async commit(changes: WalletChanges) {
        await rows(raise)
        const result = await store.commit(changes)
        results.push(result)
        return result
      },
    }
    expect(await handlePlaceBet(late, placeBet({ amount: '60' }))).toMatchObject(refused)
    expect(results.map(({ status }) => status)).toEqual(['conflict', 'committed'])
    expect(await recorded()).toEqual(['placebet place-1 0'])
    expect(Number(await balanceOf('alice'))).toBe(100)
  })

  it('raised between load and commit, in a batch: guard 3', async () => {
    const { store, rows } = await open(accounts(decimals, { alice: 40, bob: 40, carol: 40 }))
    await store.ready()
    await rows(raise)
    const bets = [betOf('alice', '60'), betOf('bob', '59'), betOf('carol', '60')]
    const results = await Promise.all(bets.map(changes => store.commit(changes)))
    expect(results.map(({ status }) => status)).toEqual(['conflict', 'committed', 'conflict'])
  })

  it('NULL between load and commit: a bet is a fault, and nothing is recorded', async () => {
    const { store, rows, recorded } = await open(accounts(decimals, { alice: 40 }))
    const late = {
      ...store,
      async commit(changes: WalletChanges) {
        await rows('UPDATE SCHEMA.accounts SET locked = NULL')
        return await store.commit(changes)
      },
    }
    for (const amount of ['60', '61']) {
      await rows('UPDATE SCHEMA.accounts SET locked = 40')
      const bet = placeBet({ amount, transactionId: `p-${amount}`, betId: `b-${amount}` })
      expect(await endOf(handlePlaceBet(late, bet))).toBeInstanceOf(Error)
    }
    expect(await recorded()).toEqual([])
  })
}
