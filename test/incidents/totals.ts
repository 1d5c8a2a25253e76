/** Incidents about totals: the platform's report, and what the wallet has recorded. */
import { hasBalance, uncollected } from './accounts.js'
import type { Incident } from './incident.js'

const differ = (amount: string) => () =>
  `Finance: our total of the day differs from the platform's by ${amount}. Its report is platform.csv.`
const symptom = "The totals differ from the platform's"

export const totalIncidents: readonly Incident[] = [
  {
    title: 'a bet that was refused for funds and is counted by the platform',
    alarm: differ('500.00 EUR'),
    ...{ symptom, ids: {} },
    async arise({ platform, report }) {
      await platform.placebet({ transactionId: 't-301', betId: 'b-301' })
      await platform.placebet({ transactionId: 't-302', betId: 'b-302', amount: '500' }, 402)
      report([
        { operation: 'placebet', transactionId: 't-301', betId: 'b-301' },
        { operation: 'placebet', transactionId: 't-302', betId: 'b-302', amount: '500' },
      ])
    },
    solution: 'The platform cancels the bet',
  },
  {
    title: 'another amount',
    alarm: differ('41.50 EUR'),
    ...{ symptom, ids: {} },
    async arise({ platform, report }) {
      await platform.placebet({ transactionId: 't-311', betId: 'b-311' })
      await platform.settle({ transactionId: 's-311', betId: 'b-311', amount: '10' })
      report([
        { operation: 'placebet', transactionId: 't-311', betId: 'b-311' },
        {
          operation: 'settlement',
          transactionId: 's-311',
          betId: 'b-311',
          type: 'BET_PAID',
          amount: '51.50',
        },
      ])
    },
    solution: 'Agree with the platform which amount is right',
  },
  {
    title: 'a row that is in the report twice',
    alarm: differ('30.00 EUR'),
    ...{ symptom, ids: {} },
    async arise({ platform, report }) {
      await platform.placebet({ transactionId: 't-321', betId: 'b-321' })
      const row = { operation: 'placebet', transactionId: 't-321', betId: 'b-321' }
      report([row, row])
    },
    solution: 'The platform counts the row once',
  },
  {
    title: 'a transaction on the other side of midnight',
    alarm: () =>
      "Finance: the total of 21 November differs by 41.50 EUR. The platform's report of that day is platform.csv.",
    ...{ symptom, ids: {} },
    async arise(scene) {
      const { platform, report, database } = scene
      const transactionDate = '2026-11-21T23:59:59.800Z'
      await platform.placebet({ transactionId: 't-331', betId: 'b-331' })
      await platform.settle({ transactionId: 's-331', betId: 'b-331', amount: '41.5', transactionDate })
      const [day, next] = ['2026-11-21 12:00:00', '2026-11-22 00:00:00.1']
      const zone = database.name === 'MariaDB' ? '' : '+00'
      for (const [id, time] of [
        ['t-331', day],
        ['s-331', next],
      ])
        await database.run(
          `UPDATE TRANSACTIONS SET recorded_at = '${time}${zone}' WHERE transaction_id = '${id}'`,
        )
      const placed = { transactionId: 't-331', betId: 'b-331', transactionDate: '2026-11-21T12:00:00Z' }
      report([
        { operation: 'placebet', ...placed },
        {
          ...{ operation: 'settlement', transactionId: 's-331', betId: 'b-331', type: 'BET_PAID' },
          ...{ amount: '41.50', transactionDate },
        },
      ])
      scene.range = { from: '2026-11-21', to: '2026-11-22' }
    },
    solution: 'Nothing',
  },
  {
    title: 'a clawback that was not collected and is counted by the platform',
    alarm: differ('75.00 EUR'),
    ...{ symptom, ids: {} },
    async arise({ platform, report, database }) {
      await uncollected({ platform, database }, '341')
      const bet = { betId: 'b-341' }
      report([
        { operation: 'placebet', transactionId: 't-341', ...bet },
        { operation: 'settlement', transactionId: 's-341', ...bet, type: 'BET_PAID', amount: '75' },
        { operation: 'unsettlement', transactionId: 'u-341', ...bet, type: 'UNSCORED', amount: '75' },
      ])
    },
    solution: 'nets it off',
  },
  {
    title: 'a restored database',
    alarm: () =>
      'The database was restored to 14:00 after its disk failed at 14:20. The wallet runs again, for us alone. platform.csv is what the platform counts since 13:00. What is missing?',
    symptom: 'The database was restored to an earlier time',
    ids: {},
    async arise({ platform, report, database }) {
      await platform.placebet({ transactionId: 't-351', betId: 'b-351' })
      // After the point in time.
      await platform.placebet({ transactionId: 't-352', betId: 'b-352', amount: '10' })
      await platform.settle({ transactionId: 's-351', betId: 'b-351', amount: '55.5' })
      await database.run("DELETE FROM TRANSACTIONS WHERE transaction_id IN ('t-352', 's-351')")
      await database.run("DELETE FROM BETS WHERE bet_id = 'b-352'")
      await database.run(
        "UPDATE BETS SET bet_paid_live = NULL, bet_paid_reversed = NULL, bet_paid_owed = NULL, revision = 1 WHERE bet_id = 'b-351'",
      )
      await database.run("UPDATE PLAYERS SET balance = 70 WHERE player_id = 'anna'")
      report([
        { operation: 'placebet', transactionId: 't-351', betId: 'b-351' },
        { operation: 'placebet', transactionId: 't-352', betId: 'b-352', amount: '10' },
        {
          operation: 'settlement',
          transactionId: 's-351',
          betId: 'b-351',
          type: 'BET_PAID',
          amount: '55.50',
        },
      ])
    },
    solution: 'Send each call',
    /** The bodies of the printed curl commands. */
    async solve({ platform, database }, output) {
      const bodies = [...output.matchAll(/--data-binary '(\{.*?\})' "\$WALLET_URL\/(\w+)"/g)]
      for (const [, body = '', path] of bodies) {
        const call = JSON.parse(body)
        await (path === 'placebet' ? platform.placebet(call) : platform.settle(call))
      }
      if (bodies.length !== 2) throw new Error(`${bodies.length} calls repair it`)
      await hasBalance(database, 'anna', 115.5)
    },
  },
]
