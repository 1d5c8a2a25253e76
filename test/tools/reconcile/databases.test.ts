/** A reconciliation over real records, on every database: what it finds, also where the PAM's own code settles. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletStore,
} from '../../../src/index.js'
import { type Reconciliation, reconcile } from '../../../src/tools/reconcile/index.js'
import { type Opened, testedDatabases } from '../../lookups/databases.js'

type Call = Record<string, string>
/** A row of the platform's report. */
type Counted = Call & { operation: string }

const date = { transactionDate: new Date().toISOString() }
const placebet = (
  transactionId: string,
  betId: string,
  amount: string,
  currency = 'EUR',
  playerId = 'anna',
) => ({
  ...{ transactionId, betId, playerId, amount, currency, sessionId: 's', betType: 'SINGLE', ...date },
})
const settlement = (transactionId: string, betId: string, type: string, amount: string) => ({
  ...{ transactionId, betId, playerId: 'anna', type, amount, currency: 'EUR', ...date },
})
const call = (transactionId: string, betId: string, type: string, playerId = 'anna') => ({
  ...{ transactionId, betId, playerId, type, ...date },
})

const handlers = {
  '/placebet': handlePlaceBet,
  '/settlement': recordSettlement,
  '/unsettlement': handleUnsettlement,
  '/rollbackbet': handleRollbackBet,
}
type Path = keyof typeof handlers

async function* linesOf(rows: readonly Counted[]) {
  for (const row of rows) yield `${JSON.stringify(row)}\n`
}

const counted = (operation: string, row: Call, more: Call = {}): Counted => ({
  operation,
  ...{ type: '', amount: '', currency: '', ...row, ...more },
})

/** What the platform has sent, and its report about it: the wallet did not get all of it. */
async function play(store: WalletStore): Promise<Counted[]> {
  const kenji = placebet('p-7', 'b-7', '1500', 'JPY', 'kenji')
  const sent: [path: Path, body: Call, more: Call | null][] = [
    ['/placebet', placebet('p-1', 'b-1', '10.50'), {}],
    ['/settlement', settlement('s-1', 'b-1', 'BET_PAID', '30'), {}],
    ['/placebet', placebet('p-2', 'b-2', '5'), {}],
    ['/rollbackbet', call('r-2', 'b-2', 'TECHNICAL_ERROR'), { amount: '5', currency: 'EUR' }],
    ['/placebet', placebet('p-3', 'b-3', '8'), {}],
    // Not in the report: the platform gave this bet up, and its rollback was lost.
    ['/placebet', placebet('p-4', 'b-4', '4'), null],
    ['/placebet', kenji, {}],
    ['/rollbackbet', call('r-7', 'b-7', 'TECHNICAL_ERROR', 'kenji'), { amount: '1500', currency: 'JPY' }],
    // Counted there as another currency: the wallet knows that of the bet.
    ['/placebet', placebet('p-8', 'b-8', '1200', 'JPY', 'kenji'), {}],
    ['/rollbackbet', call('r-8', 'b-8', 'TECHNICAL_ERROR', 'kenji'), { amount: '1200', currency: 'USD' }],
    ['/settlement', settlement('s-3', 'b-3', 'BET_PAID', '2'), { amount: '3' }],
    // Refused, and counted there.
    ['/placebet', placebet('p-9', 'b-9', '5000'), {}],
    // The tombstone of a bet that never comes.
    ['/rollbackbet', call('r-10', 'b-10', 'TECHNICAL_ERROR'), { amount: '7', currency: 'EUR' }],
  ]
  const rows: Counted[] = []
  for (const [path, body, more] of sent) {
    await handlers[path](store, body)
    if (more !== null) rows.push(counted(path.slice(1), body, more))
  }
  // Never sent, and counted.
  rows.push(counted('placebet', placebet('p-11', 'b-11', '1.25')))
  return rows
}

const found = ({ differences }: Reconciliation) =>
  differences.map(({ kind, report, wallet }) => `${kind} ${(report ?? wallet)?.transactionId}`).sort()

describe.each(testedDatabases)('on $name', ({ name, skipped, open }) => {
  describe.skipIf(skipped !== null)(skipped === null ? name : `${name} (skipped: ${skipped})`, () => {
    let wallet: Opened
    let rows: Counted[] = []
    const range = {
      from: new Date(Date.now() - 3_600_000).toISOString(),
      to: new Date(Date.now() + 3_600_000).toISOString(),
    }
    beforeAll(async () => {
      wallet = await open()
      rows = await play(wallet.store)
    })
    afterAll(() => wallet?.close())

    const compare = () => reconcile({ report: linesOf(rows), lookups: wallet.lookups, ...range })

    it('names each difference', async () => {
      const result = await compare()
      expect(found(result)).toEqual([
        'missing-in-report p-4',
        'never-arrived p-11',
        'other-amount s-3',
        'other-currency r-8',
        'refused-by-wallet p-9',
        'tombstone r-10',
      ])
      const jpy = result.currencies.find(({ currency }) => currency === 'JPY')
      expect(jpy).toMatchObject({ report: '-1200', wallet: '0', difference: '1200' })
    })

    it('finds the same without lookups of bets, and says so', async () => {
      const result = await reconcile({
        report: linesOf(rows),
        lookups: wallet.lookups,
        ...range,
        lookupsMax: 0,
      })
      expect(found(result)).toEqual([
        'missing-in-report p-4',
        'never-arrived p-11',
        'other-amount r-10',
        'other-amount s-3',
        'other-currency r-8',
        'refused-by-wallet p-9',
      ])
      expect(result.notes.join()).toMatch(/After 0 lookups/)
    })

    it('sees what own code has credited, and what it has not', async () => {
      const credited = ['e-1', 'e-2', 'e-3', 'e-4']
      for (const betId of credited)
        expect(await handlePlaceBet(wallet.store, placebet(`p-${betId}`, betId, '10'))).toMatchObject({
          ok: true,
        })
      const credit = (values: string) =>
        wallet.run(`${name === 'MariaDB' ? 'CALL' : 'SELECT'} SCHEMA.credit_bet_v1(${values})`)
      await credit("'e-1', 'BET_PAID', 18.50")
      await credit("'e-2', 'BET_PAID', 5")
      await credit("'e-3', 'VOIDED', 10")
      const own = credited.flatMap(betId => [
        counted('placebet', placebet(`p-${betId}`, betId, '10')),
        counted('settlement', settlement(`s-${betId}`, betId, 'BET_PAID', '18.50')),
      ])
      const report = linesOf([...rows, ...own])
      const result = await reconcile({ report, lookups: wallet.lookups, ...range })
      expect(result.rows.creditedByOwnCode).toBe(1)
      const ofOwn = found(result).filter(each => / s-e-/.test(each))
      expect(ofOwn).toEqual(['credited-in-part s-e-2', 'never-arrived s-e-3', 'never-arrived s-e-4'])
      const bets = result.bets.filter(({ id }) => credited.includes(id ?? ''))
      expect(bets.map(({ id, difference }) => [id, difference]).sort()).toEqual([
        ['e-2', '-13.5'],
        ['e-3', '-18.5'],
        ['e-4', '-18.5'],
      ])
      const [part] = result.differences.filter(({ kind }) => kind === 'credited-in-part')
      expect(part?.bet).toContain(
        '5.00 EUR of BET_PAID is in no recorded settlement: your own code credited it, or it was imported.',
      )
    })
  })
})
