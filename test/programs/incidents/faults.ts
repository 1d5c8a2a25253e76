/** Incidents that an alert reports: the database, a lock, code around the wallet. */
import { setTimeout as delay } from 'node:timers/promises'
import type { WalletStore } from '../../../src/index.js'
import { uncollected } from './accounts.js'
import type { IncidentDatabase } from './databases.js'
import type { Incident } from './incident.js'
import { statementsOf } from './page.js'

const lastLine = (log: readonly string[]) => `The log: ${log.at(-1) ?? ''}`

export const faultIncidents: readonly Incident[] = [
  {
    title: 'a clawback that funds did not cover',
    alarm: () => 'Alert BetWalletUncollectedClawback: a clawback was not collected: INSUFFICIENT_FUNDS.',
    symptom: '`BetWalletUncollectedClawback`',
    ids: {},
    arise: scene => uncollected(scene, '401'),
    solution: 'nets it off',
  },
  {
    title: 'a settlement of unknown outcome, which was committed',
    alarm: ({ log }) =>
      `Alert BetWalletUnknownOutcome: a settlement was answered 500, since the answer to its commit was lost.\n${lastLine(log)}`,
    symptom: '`BetWalletUnknownOutcome`',
    ids: { transaction: 's-411' },
    async arise({ platform, platformOn, database }) {
      await platform.placebet({ transactionId: 't-411', betId: 'b-411' })
      const cut = await platformOn(cutAfterCommit(database.store))
      await cut.settle({ transactionId: 's-411', betId: 'b-411', amount: '55.5' }, 500)
    },
    solution: 'It is recorded',
  },
  {
    title: 'a settlement of unknown outcome, which was not committed',
    alarm: ({ log }) =>
      `Alert BetWalletUnknownOutcome: a settlement was answered 500, since the answer to its commit was lost.\n${lastLine(log)}`,
    symptom: '`BetWalletUnknownOutcome`',
    ids: { transaction: 's-421' },
    async arise({ platform, platformOn, database }) {
      await platform.placebet({ transactionId: 't-421', betId: 'b-421' })
      const cut = await platformOn(cutBeforeCommit(database.store))
      await cut.settle({ transactionId: 's-421', betId: 'b-421', amount: '55.5' }, 500)
    },
    solution: 'same transactionId',
  },
  {
    title: 'a row of a player that another program locks',
    alarm: ({ log }) =>
      `Alert BetWalletLockWaits: commits wait for the row lock of their player.\n${lastLine(log)}`,
    symptom: '`BetWalletLockWaits`',
    ids: {},
    async arise({ platform, database, keep }) {
      keep((await database.lockPlayer('anna')).unlock)
      await platform.placebet({ transactionId: 't-431', betId: 'b-431' }, 503)
    },
    solution: 'End its session',
    notOn: { PGlite: 'it has one connection: no other program can lock a row' },
    async solve({ platformOn, database }, output) {
      const [, session = ''] = /(?:^|\n)(?:pid|thread): (\d+)/.exec(output) ?? []
      await database.run(
        database.name === 'MySQL or MariaDB' ? `KILL ${session}` : `SELECT pg_terminate_backend(${session})`,
      )
      // The session may still be rolling back.
      const waiting = await platformOn(database.storeWith({ lockTimeoutMs: 60_000 }))
      await waiting.placebet({ transactionId: 't-432', betId: 'b-432' })
    },
  },
  {
    title: 'a lock that has gone when on-call looks',
    alarm: () => 'Alert BetWalletLockWaits: commits wait for the row lock of their player.',
    symptom: '`BetWalletLockWaits`',
    ids: {},
    async arise({ platform, database }) {
      await platform.placebet({ transactionId: 't-434', betId: 'b-434' })
      // Of the incident before. MariaDB renews this view every 0.1 s at most.
      const [find = ''] = statementsOf('Locks', database.name)
      const statement = find.replaceAll('bet_wallet.', `${database.schema}.`)
      while ((await database.run(statement)).length > 0) await delay(200)
    },
    solution: 'The lock is gone',
  },
  {
    title: 'the same lock, seen by the calls that it fails',
    alarm: ({ log }) => `Alert BetWalletUnavailable: 3 % of the calls are answered 503.\n${lastLine(log)}`,
    symptom: '`BetWalletUnavailable`',
    ids: {},
    async arise({ platform, database, keep }) {
      keep((await database.lockPlayer('anna')).unlock)
      await platform.placebet({ transactionId: 't-433', betId: 'b-433' }, 503)
    },
    solution: 'As `BetWalletLockWaits`',
    notOn: { PGlite: 'it has one connection: no other program can lock a row' },
  },
  {
    title: 'more calls than the database commits',
    alarm: ({ log }) => `Alert BetWalletShedding: overload, the queue of commits is full.\n${lastLine(log)}`,
    symptom: '`BetWalletShedding`',
    ids: {},
    arise: overload,
    solution: 'faster than the database commits',
  },
  {
    title: 'a database that is down',
    alarm: ({ log }) => `Alert BetWalletUnavailable: 100 % of the calls are answered 503.\n${lastLine(log)}`,
    symptom: '`BetWalletUnavailable`',
    ids: {},
    async arise(scene) {
      const down = (scene.database.url ?? '').replace(/@[^/]+/, '@127.0.0.1:9')
      await callAt(scene, down, '441', 503)
    },
    solution: 'Start the database',
    notOn: { PGlite: 'it runs in the process of the wallet' },
  },
  {
    title: 'a database that only reads',
    alarm: ({ log }) =>
      `Alert BetWalletStoreFault: placebet: LOAD_FAILED. Every call is answered 500.\n${lastLine(log)}`,
    symptom: '`BetWalletStoreFault`',
    ids: {},
    async arise(scene) {
      const { database, keep } = scene
      const setting = 'default_transaction_read_only'
      // For new sessions: those of a wallet that starts now.
      const url = database.url ?? ''
      const name = decodeURIComponent(new URL(url).pathname.slice(1))
      await database.run(`ALTER DATABASE "${name}" SET ${setting} = on`)
      keep(
        async () =>
          void (await database.run(`BEGIN READ WRITE; ALTER DATABASE "${name}" RESET ${setting}; COMMIT`)),
      )
      await callAt(scene, url, '451', 500)
    },
    solution: 'restart the wallet processes',
    async solve(scene) {
      const { database } = scene
      const url = database.url ?? ''
      const name = decodeURIComponent(new URL(url).pathname.slice(1))
      await database.run(
        `BEGIN READ WRITE; ALTER DATABASE "${name}" RESET default_transaction_read_only; COMMIT`,
      )
      // A process that starts now.
      await callAt(scene, url, '452', 200)
    },
    notOn: {
      PGlite: 'its one session is older than the change',
      'MySQL or MariaDB': 'read_only is a setting of the whole server, which other tests use',
    },
  },
  {
    title: 'a hook that fails',
    alarm: ({ log }) =>
      `Alert BetWalletStoreFault: placebet: HOOK_FAILED, a bug in a store, a hook or an option.\n${lastLine(log)}`,
    symptom: '`BetWalletStoreFault`',
    ids: {},
    async arise({ platformOn, database }) {
      const limits = new Map<string, { stake: number }>()
      const platform = await platformOn(database.store, {
        authorizeRequest(request) {
          // The bug: a player without a limit of their own.
          if (Number(request.amount) > (limits.get(request.playerId) as { stake: number }).stake)
            throw new Error()
        },
      })
      await platform.placebet({ transactionId: 't-471', betId: 'b-471' }, 500)
    },
    solution: 'Roll back the release',
    solve: ({ platform }) => platform.placebet({ transactionId: 't-471', betId: 'b-471' }),
  },
  {
    title: 'a trigger of the PAM that fails',
    alarm: ({ log }) =>
      `Alert BetWalletUnknownOutcome: placebets are answered 500, every one since the release of 02:00.\n${lastLine(log)}`,
    symptom: '`BetWalletUnknownOutcome`',
    ids: { transaction: 't-461' },
    async arise({ platform, database }) {
      for (const statement of failingTrigger(database)) await database.run(statement)
      await platform.placebet({ transactionId: 't-461', betId: 'b-461' }, 500)
    },
    solution: 'Roll back the release',
    async solve({ platform, database }) {
      await database.run(
        database.name === 'MySQL or MariaDB'
          ? `DROP TRIGGER ${database.schema}.bonus`
          : 'DROP TRIGGER bonus ON PLAYERS',
      )
      await platform.placebet({ transactionId: 't-461', betId: 'b-461' })
    },
  },
]

/** A commit takes long, and more calls come than the queue holds. */
async function overload({ platformOn, database }: Parameters<Incident['arise']>[0]): Promise<void> {
  let goOn = () => {}
  const slow = new Promise<void>(resolve => {
    goOn = resolve
  })
  const store = database.storeWith({ queueMax: 2, connectionsMax: 1, withinTransaction: () => slow })
  const platform = await platformOn(store)
  const calls = Array.from({ length: 8 }, (_, index) =>
    platform.placebet({ transactionId: `t-48${index}`, betId: `b-48${index}`, amount: '1' }, 503),
  )
  await Promise.any(calls)
  goOn()
  const results = await Promise.allSettled(calls)
  if (results.every(({ status }) => status === 'fulfilled')) throw new Error('Every call was shed')
}

/** A wallet that reaches the database by this address alone. On-call reads the database by the same address. */
async function callAt(
  scene: Parameters<Incident['arise']>[0],
  url: string,
  id: string,
  expected: number,
): Promise<void> {
  const other = scene.database.storeAt(url)
  scene.atEnd(other.close)
  scene.commandUrl = url
  const platform = await scene.platformOn(other.store)
  await platform.placebet({ transactionId: `t-${id}`, betId: `b-${id}` }, expected)
}

function failingTrigger({ name, schema }: IncidentDatabase): string[] {
  if (name === 'MySQL or MariaDB')
    return [
      `CREATE TRIGGER ${schema}.bonus BEFORE UPDATE ON PLAYERS FOR EACH ROW
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'bonus: column points is missing'`,
    ]
  return [
    `CREATE FUNCTION bet_wallet.bonus() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'bonus: column points is missing'; END $$`,
    'CREATE TRIGGER bonus BEFORE UPDATE ON PLAYERS FOR EACH ROW EXECUTE FUNCTION bet_wallet.bonus()',
  ]
}

const lost = () => {
  throw new Error('read ECONNRESET')
}

/** The network breaks after the commit: neither its answer nor the read after it comes back. */
function cutAfterCommit(store: WalletStore): WalletStore {
  let isCut = false
  return {
    contractVersion: 2,
    load: async keys => (isCut ? lost() : await store.load(keys)),
    async commit(changes) {
      await store.commit(changes)
      isCut = true
      return lost()
    },
  }
}

/** The network breaks before the commit reaches the database. */
function cutBeforeCommit(store: WalletStore): WalletStore {
  let isCut = false
  return {
    contractVersion: 2,
    load: async keys => (isCut ? lost() : await store.load(keys)),
    async commit() {
      isCut = true
      return lost()
    },
  }
}
