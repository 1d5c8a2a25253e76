/** `players.version` on either engine: the version of the host's optimistic lock counts every change of a balance. */
import { handlePlaceBet } from 'bet-wallet'
import { expect, it } from 'vitest'
import type { WalletStore } from '../../src/store.js'
import { placeBet } from '../fixtures.js'
import { placing } from './postgres/wallet.js'

export interface VersionWallet {
  store: WalletStore & { ready(): Promise<void> }
  /** A statement of the PAM; a row is an array of columns, and SCHEMA stands for the schema. */
  rows(text: string): Promise<unknown[][]>
}

/** The players' table is SCHEMA.accounts, with the columns id, currency, balance and lock_version. */
export type OpenVersion = (ddl: readonly string[]) => Promise<VersionWallet>

export const versionDdl = (type = 'integer') => [
  `CREATE TABLE SCHEMA.accounts (id varchar(64) PRIMARY KEY, currency varchar(3), balance decimal(20,2), lock_version ${type})`,
  "INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', 100, 4), ('bob', 'EUR', 100, NULL), ('carol', 'EUR', 100, 7)",
]

const betOf = (playerId: string, amount: string) =>
  placing({
    ...{ playerId, amount, bet: { betId: `bet-${playerId}` } },
    fields: { transactionId: `place-${playerId}`, betId: `bet-${playerId}` },
  })

/** @param credit the statement that calls credit_bet_v1 for `bet-1` */
export function versionColumn(open: OpenVersion, credit: string): void {
  const versionsIn = async ({ rows }: VersionWallet) =>
    (await rows('SELECT id, lock_version FROM SCHEMA.accounts ORDER BY id')).map(each => each.join(' '))

  it('is counted up by one call and by a batch, also from NULL, and by no refusal', async () => {
    const wallet = await open(versionDdl())
    const { store } = wallet
    await store.ready()
    await handlePlaceBet(store, placeBet())
    expect(await versionsIn(wallet)).toEqual(['alice 5', 'bob ', 'carol 7'])
    await handlePlaceBet(store, placeBet({ transactionId: 'p-2', betId: 'b-2', amount: '1000' }))
    expect(await versionsIn(wallet)).toEqual(['alice 5', 'bob ', 'carol 7'])
    // The first is alone, the others are a batch behind it.
    const bets = ['alice', 'bob', 'carol'].map(playerId => store.commit(betOf(playerId, '10')))
    expect((await Promise.all(bets)).map(({ status }) => status)).toEqual(Array(3).fill('committed'))
    expect(await versionsIn(wallet)).toEqual(['alice 6', 'bob 1', 'carol 8'])
  })

  it('is left to the code that credits the player and calls credit_bet_v1', async () => {
    const wallet = await open(versionDdl())
    await handlePlaceBet(wallet.store, placeBet())
    await wallet.rows(credit)
    expect(await versionsIn(wallet)).toEqual(['alice 5', 'bob ', 'carol 7'])
  })

  it('makes the write of a row that was read before the bet fail', async () => {
    const { store, rows } = await open(versionDdl())
    const [[version] = []] = await rows("SELECT lock_version FROM SCHEMA.accounts WHERE id = 'alice'")
    await handlePlaceBet(store, placeBet())
    await rows(
      `UPDATE SCHEMA.accounts SET balance = 110, lock_version = ${Number(version) + 1} WHERE id = 'alice' AND lock_version = ${version}`,
    )
    expect((await rows("SELECT balance FROM SCHEMA.accounts WHERE id = 'alice'")).map(Number)).toEqual([70])
  })

  it.each([
    ['varchar(20)', /players\.version is counted up, but the column lock_version is .*; it must be .*int/],
    [
      'integer GENERATED ALWAYS AS (1) STORED',
      /the column lock_version \(players\.version\) cannot be updated/,
    ],
  ])('of the type %s is refused at start', async (type, message) => {
    const start = async () => (await open(versionDdl(type).slice(0, 1))).store.ready()
    await expect(start()).rejects.toMatchObject({
      code: 'INVALID_PLAYERS_TABLE',
      message: expect.stringMatching(message),
    })
  })
}
