/** A reconciliation over real records, on every database: what it finds, and that its calls repair it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletStore,
} from '../../../src/index.js'
import { type Reconciliation, type RepairCall, reconcile } from '../../../src/tools/reconcile/index.js'
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
const send = (store: WalletStore, { path, body }: Pick<RepairCall, 'path' | 'body'>) =>
  handlers[path](store, body)

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
  const sent: [path: RepairCall['path'], body: Call, more: Call | null][] = [
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
    await send(store, { path, body })
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

    it('has calls that repair what calls can repair', async () => {
      const { differences } = await compare()
      for (const { repair } of differences) {
        for (const each of repair.calls) {
          expect(await send(wallet.store, each)).toMatchObject({ ok: true })
          // A repair is a transaction of the platform's, which its next report has.
          if (/^(?:repair|rest|right)-/.test(each.body.transactionId ?? '')) {
            rows.push(counted(each.path.slice(1), each.body, moneyOf(each.path)))
          }
        }
      }
      // The platform takes back what it counted wrongly.
      rows.push(counted('placebet', placebet('p-4', 'b-4', '4')))
      rows = rows
        .filter(({ transactionId = '' }) => !['p-9', 'r-10'].includes(transactionId))
        .map(row => (row.transactionId === 'r-8' ? { ...row, currency: 'JPY' } : row))
        .map(row => (row.transactionId === 's-3' ? { ...row, amount: '2' } : row))
      const result = await compare()
      expect(found(result)).toEqual(['tombstone r-10'])
      expect(result.currencies.map(({ difference }) => difference)).toEqual(['0', '0'])
    })

    it('reads the same with few lookups, and says so', async () => {
      const result = await reconcile({
        report: linesOf(rows),
        lookups: wallet.lookups,
        ...range,
        lookupsMax: 0,
      })
      expect(result.kinds.map(({ count }) => count)).toEqual([1])
      expect(result.notes.join()).toMatch(/After 0 lookups/)
    })
  })
})

/** The rollback of p-4 returns its stake. */
const moneyOf = (path: RepairCall['path']): Call =>
  path === '/rollbackbet' ? { amount: '4', currency: 'EUR' } : {}
