/** Incidents about totals: the platform's report, and what the wallet has recorded. */
import { hasBalance, uncollected } from './accounts.js'
import type { Incident } from './incident.js'
import type { Scene } from './scene.js'

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
      const zone = database.name === 'MySQL or MariaDB' ? '' : '+00'
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
    solution: 'Nothing: no money is missing',
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
    async arise(scene) {
      await restored(scene, new Date().toISOString())
    },
    solution: 'in the order of the dates',
    /** A stake that was paid from the win, sent first, is refused. */
    async solve({ platform, database }, output) {
      for (const missing of ['settlement BET_PAID s-351', 'placebet t-352'])
        if (!output.includes(missing)) throw new Error(`${missing} is not named`)
      await platform.settle({ transactionId: 's-351', betId: 'b-351', amount: '55.5' })
      await platform.placebet({ transactionId: 't-352', betId: 'b-352', amount: '120' })
      await hasBalance(database, 'anna', 5.5)
    },
  },
  {
    title: "a restored database, and a platform's report without dates",
    alarm: () =>
      'The database was restored to 14:00. The wallet runs again, for us alone. platform.csv is what the platform counts since 13:00.',
    symptom: 'The database was restored to an earlier time',
    ids: {},
    async arise(scene) {
      await restored(scene, undefined)
    },
    solution: 'Get a report with dates',
  },
  {
    title: 'a placebet that the platform counts and the wallet has never seen',
    alarm: differ('30.00 EUR'),
    ...{ symptom, ids: {} },
    async arise({ report }) {
      report([{ operation: 'placebet', transactionId: 't-361', betId: 'b-361' }])
    },
    solution: 'ask the platform how the call was answered',
  },
  {
    title: 'the report of another day',
    alarm: () => "Finance: everything of the last hours is missing in the platform's report, platform.csv.",
    ...{ symptom, ids: {} },
    async arise(scene) {
      await scene.platform.placebet({ transactionId: 't-366', betId: 'b-366' })
      const transactionDate = '2026-11-20T12:00:00Z'
      scene.report([{ operation: 'placebet', transactionId: 't-365', betId: 'b-365', transactionDate }])
    },
    solution: 'as the platform wrote it',
  },
  {
    title: 'a transaction shortly before the range, in a report without dates',
    alarm: () => "Finance: the platform's report of the last 90 minutes differs by 30.00 EUR.",
    ...{ symptom, ids: {} },
    async arise(scene) {
      await scene.platform.placebet({ transactionId: 't-371', betId: 'b-371' })
      scene.report([{ operation: 'placebet', transactionId: 't-371', betId: 'b-371' }])
      const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
      scene.range = { from: inMinutes(1), to: inMinutes(91) }
    },
    solution: 'a wider range',
  },
]

/** Forgotten: the win of a bet, and the stake that was paid from it. The platform's report has it in another order. */
async function restored(
  { platform, report, database }: Scene,
  transactionDate: string | undefined,
): Promise<void> {
  await platform.placebet({ transactionId: 't-351', betId: 'b-351' })
  // After the point in time.
  await platform.settle({ transactionId: 's-351', betId: 'b-351', amount: '55.5' })
  await platform.placebet({ transactionId: 't-352', betId: 'b-352', amount: '120' })
  await database.run("DELETE FROM TRANSACTIONS WHERE transaction_id IN ('t-352', 's-351')")
  await database.run("DELETE FROM BETS WHERE bet_id = 'b-352'")
  await database.run(
    "UPDATE BETS SET bet_paid_live = NULL, bet_paid_reversed = NULL, bet_paid_owed = NULL, revision = 1 WHERE bet_id = 'b-351'",
  )
  await database.run("UPDATE PLAYERS SET balance = 70 WHERE player_id = 'anna'")
  const dated = (ms: number) =>
    transactionDate === undefined
      ? {}
      : { transactionDate: new Date(Date.parse(transactionDate) + ms).toISOString() }
  const win = { operation: 'settlement', transactionId: 's-351', betId: 'b-351', type: 'BET_PAID' }
  report([
    { operation: 'placebet', transactionId: 't-352', betId: 'b-352', amount: '120', ...dated(2) },
    { operation: 'placebet', transactionId: 't-351', betId: 'b-351', ...dated(0) },
    { ...win, amount: '55.50', ...dated(1) },
  ])
}
