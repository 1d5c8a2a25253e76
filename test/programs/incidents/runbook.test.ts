/** docs/runbook.md: its statements and commands are run, and every alert leads to a row. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Durability, DurabilityLevel } from '../../../src/stores/database/durability.js'
import { readDurability } from '../../../src/stores/mysql/durability.js'
import type { Session } from '../../../src/stores/mysql/session.js'
import { type DurabilityRow, durabilityOf } from '../../../src/stores/postgres/durability.js'
import { codeBlocksOf, sectionOf } from '../../docs/pages.js'
import { noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { type IncidentDatabase, openPostgres } from './databases.js'
import { incidents } from './incidents.js'
import { commandFile } from './looking.js'
import { openOwnMariadb } from './own-mariadb.js'
import {
  isOutputOf,
  lookAtsOf,
  placeholder,
  printed,
  rowsOfSymptom,
  runbook,
  runbookRows,
  runbookSection,
  statementsOf,
} from './page.js'
import { openScene } from './scene.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-runbook-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a block of the page as it stands, apart from these words. In the repository, where the drivers are installed. */
function runBlock(block: string, words: Record<string, string>, env: Record<string, string>) {
  let script = block
  for (const [word, value] of Object.entries(words)) script = script.replaceAll(word, value)
  return new Promise<{ code: unknown; text: string }>(resolve => {
    const options = { cwd: root, env: { ...process.env, NODE_OPTIONS: '', ...env } }
    execFile('sh', ['-c', script], options, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, text: `${stdout}${stderr}` }),
    )
  })
}

describe('the page', () => {
  it('has a row for every alert, and every alert leads to its section', () => {
    const alerts = readFileSync(join(root, 'examples/prometheus/alerts.yml'), 'utf8')
    const names = [...alerts.matchAll(/alert: (\w+)/g)].map(([, name]) => name)
    expect(names.length).toBeGreaterThanOrEqual(7)
    const symptoms = new Set(runbookRows.map(({ symptom }) => symptom))
    for (const name of names) expect([...symptoms]).toContain(`\`${name}\``)
    const named = [...symptoms].filter(symptom => /^`BetWallet/.test(symptom))
    expect(named.length).toBe(names.length)
    expect(alerts.match(/runbook: node_modules\/bet-wallet\/docs\/runbook\.md#alerts$/gm)).toHaveLength(
      names.length,
    )
  })

  it('says in every row what to run, what it says and what to do, and the same to run for one symptom', () => {
    const runs = new Map<string, string>()
    for (const row of runbookRows) {
      expect(lookAtsOf(row).length, row.run).toBeGreaterThan(0)
      expect(row.says).toMatch(/`|\ba row\b/)
      expect(row.whatToDo).not.toBe('')
      expect(row.run, row.symptom).toBe(runs.get(row.symptom) ?? row.run)
      runs.set(row.symptom, row.run)
    }
  })

  it('has an incident for every symptom but these', () => {
    const tried = new Set(incidents.map(({ symptom }) => symptom))
    const others = [...new Set(runbookRows.map(({ symptom }) => symptom))].filter(
      symptom => !tried.has(symptom),
    )
    // Tested below; the first one in test/examples/alerts.test.yml.
    expect(others).toEqual(['`BetWalletNoMetrics`', '`BetWalletNotSynchronous`', '`BetWalletUnauthorized`'])
  })
})

const servers = [
  {
    ...{ name: 'PostgreSQL' as const, skipped: null },
    async open() {
      const { url, drop } = await freshDatabase()
      return { database: openPostgres(url), drop }
    },
  },
  {
    ...{ name: 'MySQL or MariaDB' as const, skipped: noServer },
    open: openOwnMariadb,
  },
]

const sections = ['Uncollected clawbacks', 'Outbox', 'Locks', 'End a session', 'Server', 'Replicas', 'Disk']

describe('the rows of a lock', () => {
  const doFor = (...sessions: object[]) =>
    rowsOfSymptom('`BetWalletLockWaits`')
      .filter(row => isOutputOf(row, printed(sessions)))
      .map(({ whatToDo }) => whatToDo)

  it('end the session of another program only, and never a commit that waits for a replica', () => {
    const session = {
      pid: 7,
      application_name: 'bonus-job',
      state: 'idle in transaction',
      wait_event: 'ClientRead',
    }
    expect(doFor(session)).toEqual([expect.stringContaining('End its session')])
    for (const waiting of [{ wait_event: 'SyncRep' }, { state: 'Waiting for semi-sync ACK from slave' }])
      expect(doFor(session, { pid: 8, ...waiting })).toEqual([
        expect.stringContaining('End nothing (rule 4)'),
      ])
    // Only a role with pg_monitor sees whether it is such a commit.
    const hidden = { pid: 8, wait_event: null, last_statement: '<insufficient privilege>' }
    expect(doFor(hidden)).toEqual([expect.stringContaining('End nothing yet')])
    expect(doFor()).toEqual([expect.stringContaining('The lock is gone')])
  })
})

describe('the rows of the durability', () => {
  const settings = {
    ...{ fsync: 'on', synchronous_commit: 'on', standby_names: '*', role_name: 'wallet' },
    ...{ standbys: 'asynchronous' as const, confirming: 1 },
  }
  const onPostgres = (changes: Partial<DurabilityRow>) => durabilityOf({ ...settings, ...changes })
  /** A server of MySQL or MariaDB with these variables and status values, and these members of a group. */
  const onMysql = (values: Record<string, unknown>, members: string[] = []) => {
    const isFlushed = {
      innodb_flush_log_at_trx_commit: 1,
      log_bin: 'ON',
      sync_binlog: 1,
      Slaves_connected: 1,
    }
    const rows = async (text: string) =>
      text.startsWith('SHOW')
        ? Object.entries({ ...isFlushed, ...values })
        : members.map(state => [1, state, 'PRIMARY', 1])
    return readDurability({ rows } as unknown as Session)
  }
  const on = 'ON'
  const waiting = { rpl_semi_sync_master_enabled: on, Rpl_semi_sync_master_status: on }
  const acknowledged = { ...waiting, Rpl_semi_sync_master_clients: 1 }
  const group = { group_replication_group_name: 'wallets' }

  it.each<[string, DurabilityLevel, Durability | Promise<Durability>]>([
    ['By its settings', 'asynchronous', onPostgres({ standby_names: '' })],
    ['By its settings', 'asynchronous', onPostgres({ synchronous_commit: 'local' })],
    ['By its settings', 'asynchronous', onPostgres({ synchronous_commit: 'off' })],
    ['By its settings', 'asynchronous', onPostgres({ fsync: 'off', standbys: 'synchronous' })],
    ['By its settings', 'asynchronous', onPostgres({ standbys: 'consumer' })],
    ['The replicas are gone', 'alone', onPostgres({ standby_names: '', standbys: 'none' })],
    ['The replicas are gone', 'asynchronous', onPostgres({})],
    ['The replicas are gone', 'alone', onPostgres({ standbys: 'none' })],
    [
      'The replicas are gone',
      'asynchronous',
      onPostgres({ standby_names: 'ANY 2 (a, b)', standbys: 'synchronous' }),
    ],
    ['Run the `GRANT`', 'asynchronous', onPostgres({ standbys: 'hidden' })],
    ['By its settings', 'asynchronous', onMysql({})],
    ['By its settings', 'asynchronous', onMysql({ rpl_semi_sync_master_enabled: 'OFF' })],
    ['By its settings', 'asynchronous', onMysql({ ...acknowledged, innodb_flush_log_at_trx_commit: 2 })],
    ['By its settings', 'asynchronous', onMysql({ ...acknowledged, sync_binlog: 0 })],
    [
      'The replicas are gone',
      'asynchronous',
      onMysql({ ...acknowledged, Rpl_semi_sync_master_status: 'OFF' }),
    ],
    ['The replicas are gone', 'asynchronous', onMysql({ ...waiting, Rpl_semi_sync_master_clients: 0 })],
    [
      'The replicas are gone',
      'asynchronous',
      onMysql({ ...acknowledged, rpl_semi_sync_master_wait_for_slave_count: 2 }),
    ],
    ['The replicas are gone', 'alone', onMysql({ wsrep_on: on, wsrep_cluster_size: 1 })],
    ['The replicas are gone', 'alone', onMysql(group, ['ONLINE'])],
    ['The replicas are gone', 'asynchronous', onMysql(group, ['ONLINE', 'RECOVERING'])],
  ])('lead to "%s" and are %s, for one reason only', async (whatToDo, expected, found) => {
    const { level, reason } = await found
    expect(level).toBe(expected)
    const rows = rowsOfSymptom('`BetWalletNotSynchronous`').filter(row => isOutputOf(row, reason))
    expect(rows.map(row => row.whatToDo)).toEqual([expect.stringContaining(whatToDo)])
  })
})

it('has no other statements than those that are run here', () => {
  const tested = sections.flatMap(heading => codeBlocksOf(runbookSection(heading)))
  const all = codeBlocksOf(runbook).filter(({ language }) => language === 'sql')
  expect(tested.filter(({ language }) => language === 'sql')).toHaveLength(all.length)
  expect(codeBlocksOf(runbook).filter(({ language }) => language === 'sh')).toHaveLength(2)
})

describe.each(servers)('on $name', ({ name, skipped, open }) => {
  describe.skipIf(skipped !== null)(skipped === null ? name : `${name} (skipped: ${skipped})`, () => {
    let database: IncidentDatabase
    let drop = async () => {}
    beforeAll(async () => {
      const opened = await open()
      database = opened.database
      drop = opened.drop
      await database.reset()
    })
    afterAll(async () => {
      await database?.close()
      await drop()
    })

    const inSchema = (text = '') => text.replaceAll('bet_wallet.', `${database.schema}.`)

    it.each(sections)('runs the statements of "%s"', async heading => {
      const statements = statementsOf(heading, name)
      expect(statements.length).toBeGreaterThan(0)
      for (const statement of statements.filter(text => !placeholder.test(text)))
        await database.run(inSchema(statement))
    })

    it('ends the session that holds a lock by the statement of the page, and not that of the wallet', async () => {
      const { session, unlock } = await database.lockPlayer('anna')
      try {
        const find = inSchema(statementsOf('Locks', name)[0])
        const [end = ''] = statementsOf('End a session', name)
        // Pasted without an id, it ends nothing.
        await expect(database.run(end)).rejects.toThrow(/syntax/)
        // MariaDB shows what is at most 0.1 s old, counted from the last look.
        const isShown = async () =>
          ((await database.run(find)) as { pid?: number; thread?: number }[]).some(
            ({ pid, thread }) => (pid ?? thread) === session,
          )
        const polling = { interval: 300 }
        await expect.poll(isShown, polling).toBe(true)
        await database.run(end.replace(placeholder, String(session)))
        await expect.poll(isShown, polling).toBe(false)
      } finally {
        await unlock()
      }
    })

    it.runIf(name === 'PostgreSQL')(
      'shows no session that locks no players, however old it is (PostgreSQL only)',
      async () => {
        const other = new pg.Client({ connectionString: database.url ?? '' })
        await other.connect()
        await other.query('BEGIN; CREATE TABLE public.other (id int); INSERT INTO public.other VALUES (1)')
        try {
          expect(await database.run(statementsOf('Locks', name)[0] ?? '')).toEqual([])
        } finally {
          await other.end()
        }
      },
    )

    it('runs the commands of the beginning, with its ids', async () => {
      await database.reset()
      const scene = await openScene(database, folder)
      const call = { transactionId: 't-1', betId: 'b-123', transactionDate: '2026-11-21T12:00:00Z' }
      await scene.platform.placebet(call)
      scene.report([{ operation: 'placebet', ...call }])
      await scene.close()
      const time = name === 'MySQL or MariaDB' ? '2026-11-21 12:00:00' : '2026-11-21 12:00:00+00'
      await database.run(`UPDATE TRANSACTIONS SET recorded_at = '${time}'`)
      const [block] = codeBlocksOf(runbook).filter(({ language }) => language === 'sh')
      const words = {
        'npx bet-wallet': `"${process.execPath}" "${commandFile}"`,
        'postgres://support:…@db.internal/casino': `'${database.url}'`,
        'platform.csv': join(folder, 'platform.csv'),
      }
      const script = (block?.code ?? '').replace(/^npx .*$/gm, line => `${line} --schema ${database.schema}`)
      const { code, text } = await runBlock(script, words, {})
      expect(text).toMatch(
        /^Bet b-123 of player anna$[\s\S]*^ {2}Taken once, for 30\.00 EUR; not settled\.$/m,
      )
      expect(text).toMatch(/^Transaction t-1$/m)
      expect(text).toMatch(/^KNOWN: balance 70\.00 EUR; /m)
      expect(text).toMatch(/^EQUAL: /m)
      expect(code).toBe(0)
    })
  })
})

const noCurl = (process.env.PATH ?? '').split(delimiter).some(path => existsSync(join(path, 'curl')))
  ? null
  : 'curl is not installed here: apt-get install -y --no-install-recommends curl'

describe.skipIf(noCurl !== null)(
  `the call of "Credentials"${noCurl === null ? '' : ` (skipped: ${noCurl})`}`,
  () => {
    it('tells a right password from a wrong one, and records nothing', async () => {
      const { url, drop } = await freshDatabase()
      const database = openPostgres(url)
      await database.reset()
      const scene = await openScene(database, folder)
      try {
        const [block] = codeBlocksOf(sectionOf(runbook, 'Credentials'))
        const env = { WALLET_URL: scene.url, WALLET_USER: 'platform' }
        const statusOf = async (password: string) => {
          const { text } = await runBlock(block?.code ?? '', {}, { ...env, WALLET_PASSWORD: password })
          return /^HTTP\/1\.1 (\d+)/m.exec(text)?.[1]
        }
        expect(await statusOf('demo-secret')).toBe('400')
        expect(await statusOf('the-old-one')).toBe('401')
        expect(await database.run('SELECT 1 FROM TRANSACTIONS')).toEqual([])
      } finally {
        await scene.close()
        await database.close()
        await drop()
      }
    })
  },
)
