/** `bet-wallet check` on PostgreSQL: every fault is made, found, and gone by what the command prints. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { handlePlaceBet } from '../../../src/index.js'
import {
  createPostgresStore,
  migratePostgres,
  type PostgresTables,
} from '../../../src/stores/postgres/index.js'
import { noServerOfOurOwn, type PostgresServer, startPostgres } from '../../postgres/server.js'
import { lineOf, runCommand } from './running.js'

const tables: PostgresTables = {
  players: { table: 'pam.accounts', id: 'id', currency: 'currency', balance: 'balance' },
}

describe.skipIf(noServerOfOurOwn !== null)(
  `check${noServerOfOurOwn === null ? '' : ` (skipped: ${noServerOfOurOwn})`}`,
  () => {
    let server: PostgresServer
    let admin: pg.Pool
    let url = ''
    beforeAll(async () => {
      server = await startPostgres({ settings: { shared_preload_libraries: 'pg_stat_statements' } })
      admin = new pg.Pool({ connectionString: server.url })
      await admin.query(`CREATE SCHEMA pam; CREATE ROLE wallet LOGIN PASSWORD 'secret';
        CREATE TABLE pam.accounts (id text PRIMARY KEY, currency text NOT NULL, balance numeric(18, 2) NOT NULL);
        INSERT INTO pam.accounts VALUES ('anna', 'EUR', 100)`)
      const location = new URL(server.url)
      location.username = 'wallet'
      location.password = 'secret'
      url = location.href
    })
    afterAll(async () => {
      await admin.end()
      await server.stop()
    })

    const run = (words: string[] = [], address = url) =>
      runCommand(['check', ...words], { environment: { BET_WALLET_DATABASE_URL: address } })

    test('a database that was not migrated: a problem, with what to do', async () => {
      const { code, out } = await run()
      expect(lineOf(out, 'schema')).toMatch(/PROBLEM .* was not migrated yet, .* --players, --id, --currency/)
      expect(code).toBe(1)
    })

    describe('of a wallet', () => {
      beforeAll(async () => {
        await migratePostgres(admin, tables, { lookupIndexes: true })
        const { out } = await runCommand(['grants', 'wallet', '--database-url', server.url])
        await admin.query(out)
      })

      test('a balance of each currency as it is read; NULL, small letters and unknown codes are warnings', async () => {
        expect((await run()).out).toContain('EUR 100.00 → 100.00 EUR, one of 1 account')
        await admin.query(`ALTER TABLE pam.accounts ALTER currency DROP NOT NULL, ALTER balance DROP NOT NULL;
          INSERT INTO pam.accounts VALUES ('b', 'eur', 1), ('c', 'CHIP', 5), ('d', NULL, 5), ('e', '', 5), ('f', 'EUR', NULL)`)
        const { code, out } = await run()
        const line = out.replace(/\s+/g, ' ')
        expect(lineOf(out, 'balances')).toContain('WARN')
        for (const text of [
          '1 of EUR with the balance NULL',
          'eur, 1 account: in small letters',
          'CHIP is not in ISO 4217',
        ])
          expect(line).toContain(text)
        expect(line.match(/1 account without a currency \(NULL or empty\)/g)).toHaveLength(2)
        expect(out).toMatch(/OK: 0 problems, 1 warning/)
        expect(code).toBe(0)
        await admin.query(`DELETE FROM pam.accounts WHERE id <> 'anna';
          ALTER TABLE pam.accounts ALTER currency SET NOT NULL, ALTER balance SET NOT NULL`)
      })

      test("the number of a row in place of the player's: a warning with a row, of who may read it", async () => {
        await admin.query(`CREATE TABLE pam.wallets (id bigint PRIMARY KEY, user_id bigint NOT NULL, currency text NOT NULL, balance numeric(18,2) NOT NULL);
          INSERT INTO pam.wallets VALUES (1, 2, 'EUR', 5), (2, 1, 'EUR', 5)`)
        const players = ['--players', 'pam.wallets', '--id', 'id', '--id-type', 'bigint']
        const words = [...players, '--currency', 'currency', '--balance', 'balance']
        expect(lineOf((await run(words, server.url)).out, 'player ids')).toMatch(
          /WARN .*id numbers the rows of pam\.wallets, and user_id is the player's: a bet of the player 1 debits the row 1, which is of the player 2/,
        )
        await admin.query(`GRANT SELECT (id, currency, balance), UPDATE (balance) ON pam.wallets TO wallet;
          ALTER TABLE pam.wallets ADD version integer`)
        const { out } = await run(words)
        expect(lineOf(out, 'player ids')).toMatch(/ - .*permission denied for table wallets/)
        expect(lineOf(out, 'version column')).toMatch(/WARN .*pam\.wallets\.version:/)
        await admin.query('CREATE VIEW pam.v AS SELECT id AS player_id, currency, balance FROM pam.wallets')
        const ofView = words.map(word => ({ 'pam.wallets': 'pam.v', id: 'player_id' })[word] ?? word)
        expect(lineOf((await run(ofView, server.url)).out, 'player ids')).toMatch(
          /WARN .*id numbers the rows of pam\.wallets, and user_id is the player's/,
        )
        await admin.query('DROP VIEW pam.v')
        await admin.query('DROP TABLE pam.wallets')
      })

      test('a view that computes the currency: a warning that one row per account is not proven', async () => {
        await admin.query(`CREATE TABLE pam.w (id text, ccy text NOT NULL, balance numeric(18, 2) NOT NULL, UNIQUE (id, ccy));
          INSERT INTO pam.w VALUES ('anna', 'EUR', 100);
          CREATE VIEW pam.v AS SELECT id, upper(ccy) AS currency, balance FROM pam.w`)
        const players = { table: 'pam.v', id: 'id', currency: 'currency', balance: 'balance' }
        await migratePostgres(admin, {
          schema: 'unproven',
          players: { ...players, accountPerCurrency: true },
        })
        const { code, out } = await run(['--schema', 'unproven', '--no-lookup-indexes'], server.url)
        expect(lineOf(out, 'players table')).toMatch(
          /WARN .*The players' table pam\.v: nothing proves that an account has one row only/,
        )
        expect(lineOf(out, 'trial debit')).toMatch(/ok .*rolled back/)
        expect(code).toBe(0)
        await admin.query('DROP SCHEMA unproven CASCADE; DROP VIEW pam.v; DROP TABLE pam.w')
      })

      test('a version column that no option names', async () => {
        expect((await run()).out).not.toContain('version column')
        await admin.query('ALTER TABLE pam.accounts ADD lock_version integer NOT NULL DEFAULT 0')
        const { code, out } = await run()
        expect(lineOf(out, 'version column')).toMatch(
          /WARN .*pam\.accounts\.lock_version: if your code has an optimistic lock/,
        )
        expect(code).toBe(0)
        await admin.query('ALTER TABLE pam.accounts DROP lock_version')
      })

      test('all well, and the statements are not checked: says why', async () => {
        const without = await run()
        expect(without.error).toBe('')
        expect(lineOf(without.out, 'statements')).toMatch(
          /^ {2}- .*not checked: the extension pg_stat_statements is not in this database/,
        )
        expect(without.out).toMatch(/^127\.0\.0\.1:\d+\/\w+: PostgreSQL \d+\S*, as wallet$/m)
        expect(without.out).toContain('\nOK: 0 problems, 1 skipped\n')
        expect(without.code).toBe(0)
        await admin.query('CREATE EXTENSION pg_stat_statements')
        const { code, out } = await run()
        expect(lineOf(out, 'statements')).toMatch(/^ {2}- .*may not see the statements of others/)
        expect(lineOf(out, 'CHECKs')).toMatch(/ok .*none on the players' table/)
        expect(out).toContain('\nOK: 0 problems, 1 skipped\n')
        expect(code).toBe(0)
        const grant = 'GRANT pg_read_all_stats TO "wallet";'
        expect(out).toContain(`\n    ${grant}\n`)
        await admin.query(`${grant} SELECT pg_stat_statements_reset()`)
        await run()
        expect(lineOf((await run()).out, 'statements')).toMatch(
          /^ {2}- .*nothing was seen: no statement that writes balances of pam\.accounts was recorded but the wallet's own/,
        )
        await admin.query("UPDATE pam.accounts SET balance = balance + 5 WHERE id = 'anna'")
        const seen = await run()
        expect(lineOf(seen.out, 'statements')).toMatch(
          /ok .*1 statement on pam\.accounts adds to the balance in the statement, no other writes it; recorded since 20.*track is top/,
        )
        expect(seen.out).toContain('\nOK: 0 problems\n')
        expect(seen.code).toBe(0)
      })

      test('rights that are missing: the SQL that grants them', async () => {
        await admin.query(`REVOKE UPDATE (balance) ON pam.accounts FROM wallet;
          REVOKE INSERT ON bet_wallet.bets, bet_wallet.transactions FROM wallet;
          REVOKE USAGE ON SEQUENCE bet_wallet.wallet_transaction_ids FROM wallet;
          REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA bet_wallet FROM PUBLIC`)
        const { code, out } = await run()
        const printed = out.split('\n').filter(line => line.trim().startsWith('GRANT'))
        expect(printed.map(line => line.trim())).toEqual([
          'GRANT INSERT ON "bet_wallet".transactions, "bet_wallet".bets TO "wallet";',
          'GRANT USAGE ON SEQUENCE "bet_wallet".wallet_transaction_ids TO "wallet";',
          'GRANT UPDATE ("balance") ON "pam"."accounts" TO "wallet";',
          'GRANT EXECUTE ON ALL ROUTINES IN SCHEMA "bet_wallet" TO "wallet";',
        ])
        expect(lineOf(out, 'players table')).toContain(
          'not checked: ready() stopped at INSUFFICIENT_PRIVILEGE',
        )
        expect(code).toBe(1)
        await admin.query(printed.join('\n'))
        expect((await run()).code).toBe(0)
      })

      test('a schema that may not be read: the right that is missing, and not that it was not migrated', async () => {
        for (const right of ['USAGE ON SCHEMA bet_wallet', 'SELECT ON bet_wallet.options']) {
          await admin.query(`REVOKE ${right} FROM wallet`)
          const { code, out } = await run()
          expect(lineOf(out, 'privileges')).toMatch(
            /PROBLEM .*may not read .*permission denied for (?:schema bet_wallet|table options)/,
          )
          expect(out).toContain('\n    npx bet-wallet grants wallet\n')
          expect(out).not.toContain('not migrated')
          expect(code).toBe(1)
          await admin.query(`GRANT ${right} TO wallet`)
        }
        expect((await run()).code).toBe(0)
      })

      test("a trigger of the operator lacks a right: the server's own error, and what cures it", async () => {
        await admin.query(`CREATE TABLE pam.accounts_history (id text, balance numeric);
          CREATE FUNCTION pam.log_balance() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN INSERT INTO pam.accounts_history VALUES (NEW.id, NEW.balance); RETURN NULL; END';
          CREATE CONSTRAINT TRIGGER log_balance AFTER UPDATE ON pam.accounts DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (NEW.balance < OLD.balance) EXECUTE FUNCTION pam.log_balance()`)
        const { code, out } = await run()
        expect(lineOf(out, 'privileges')).toContain('ok')
        expect(lineOf(out, 'trial debit')).toMatch(
          /PROBLEM .*42501: permission denied for table accounts_history.*pam\.log_balance\(\) line 1/,
        )
        expect(out).toMatch(/GRANT to "wallet" what the trigger writes, or .*SECURITY DEFINER/)
        expect(code).toBe(1)
        const cures = [
          'GRANT INSERT ON pam.accounts_history TO wallet',
          'REVOKE INSERT ON pam.accounts_history FROM wallet; ALTER FUNCTION pam.log_balance() SECURITY DEFINER',
        ]
        for (const cure of cures) {
          await admin.query(cure)
          const cured = await run()
          expect(lineOf(cured.out, 'trial debit')).toMatch(/ok .*rolled back/)
          expect(cured.code).toBe(0)
        }
        expect((await admin.query('SELECT * FROM pam.accounts_history')).rows).toEqual([])
        await admin.query('DROP TABLE pam.accounts_history; DROP FUNCTION pam.log_balance() CASCADE')
      })

      test.each([
        ['no player', 'DELETE FROM pam.accounts'],
        ['a player whose row is locked', 'SELECT 1 FROM pam.accounts FOR UPDATE'],
      ])('%s: no debit is tried, which is no problem', async (_, statement) => {
        const writer = await admin.connect()
        await writer.query(`BEGIN; ${statement}`)
        if (statement.startsWith('DELETE')) await writer.query('COMMIT')
        const { code, out } = await run()
        expect(lineOf(out, 'trial debit')).toMatch(/^ {2}- .*not tried: /)
        expect(code).toBe(0)
        await writer.query('ROLLBACK')
        writer.release()
        await admin.query("INSERT INTO pam.accounts VALUES ('anna', 'EUR', 100) ON CONFLICT DO NOTHING")
      })

      test('of two players without funds, only the one that is not locked is tried, with a credit first', async () => {
        await admin.query(`DELETE FROM pam.accounts; INSERT INTO pam.accounts VALUES ('anna', 'EUR', 0), ('ben', 'EUR', 0);
          ALTER TABLE pam.accounts ADD CONSTRAINT never_below CHECK (balance >= 0)`)
        const writer = await admin.connect()
        await writer.query("BEGIN; SELECT 1 FROM pam.accounts WHERE id = 'anna' FOR UPDATE")
        const { out } = await run()
        await writer.query('ROLLBACK')
        writer.release()
        expect(lineOf(out, 'trial debit')).toMatch(/ok .*rolled back/)
        await admin.query(`ALTER TABLE pam.accounts DROP CONSTRAINT never_below;
          DELETE FROM pam.accounts; INSERT INTO pam.accounts VALUES ('anna', 'EUR', 100)`)
      })

      test('without any right on the library: the table must be named, then every right is printed', async () => {
        await admin.query('REVOKE USAGE ON SCHEMA bet_wallet FROM wallet')
        expect((await run()).out).toContain("name your players' table by")
        const named = [
          '--players',
          'pam.accounts',
          '--id',
          'id',
          '--currency',
          'currency',
          '--balance',
          'balance',
        ]
        const { code, out } = await run(named)
        expect(out).toContain('GRANT USAGE ON SCHEMA "bet_wallet" TO "wallet";')
        expect(code).toBe(1)
        await admin.query('GRANT USAGE ON SCHEMA bet_wallet TO wallet')
      })

      test('an index of lookups is missing: the SQL that creates it, unless it is not wanted', async () => {
        await admin.query('DROP INDEX bet_wallet.transactions_of_bet')
        const { code, out } = await run()
        expect(lineOf(out, 'lookup indexes')).toContain('PROBLEM')
        const [line = ''] = out.split('\n').filter(each => each.trim().startsWith('CREATE INDEX'))
        expect(code).toBe(1)
        expect((await run(['--no-lookup-indexes'])).code).toBe(0)
        await admin.query(line)
        expect((await run()).code).toBe(0)
      })

      test('an older schema', async () => {
        await admin.query('DELETE FROM bet_wallet.migrations')
        const { code, out } = await run()
        expect(lineOf(out, 'schema')).toMatch(
          /PROBLEM .*SCHEMA_VERSION: .* has version 0; this release needs/,
        )
        expect(out).toContain('npx bet-wallet migrate')
        expect(code).toBe(1)
        await runCommand(['migrate', '--database-url', server.url])
        expect((await run()).code).toBe(0)
      })

      test('a setting that is not durable, and what else is wrong behind it', async () => {
        await admin.query('ALTER ROLE wallet SET synchronous_commit = off; DELETE FROM bet_wallet.migrations')
        const { code, out } = await run()
        expect(lineOf(out, 'durability')).toMatch(/PROBLEM .*NOT_DURABLE: synchronous_commit is off/)
        expect(lineOf(out, 'schema')).toContain('PROBLEM')
        expect(code).toBe(1)
        await runCommand(['migrate', '--database-url', server.url])
        const allowed = await run(['--allow-not-durable'])
        expect(lineOf(allowed.out, 'durability')).toMatch(/^ {2}- .*accepted by --allow-not-durable/)
        expect(allowed.code).toBe(0)
        await admin.query('ALTER ROLE wallet RESET synchronous_commit')
      })

      test('statements that write a balance back: in full, with who runs them, the most called first, until forgotten', async () => {
        const set = 'UPDATE pam.accounts SET balance = $1 WHERE id = $2'
        await admin.query(set, ['90', 'anna'])
        const upsert = `INSERT INTO pam.accounts (id, currency, balance) VALUES ($1, $2, $3)
          ON CONFLICT (id) DO UPDATE SET balance = EXCLUDED.balance`
        for (const balance of [80, 90]) await admin.query(upsert, ['anna', 'EUR', balance])
        const { code, out } = await run()
        expect(lineOf(out, 'statements')).toMatch(/READ .* on pam\.accounts add.*Read these \d\. /)
        const lines = out.split('\n').filter(each => /^ {4}\d+ calls?, /.test(each))
        expect(lines.slice(1)).toContainEqual(
          expect.stringMatching(
            /^ {4}1 call, by postgres, (?:since 20\d\d-\d\d-\d\d \d\d:\d\d, )?queryid -?\d+: UPDATE pam\.accounts SET balance = \$1 WHERE id = \$2$/,
          ),
        )
        expect(lines[0]).toMatch(
          / 2 calls, by postgres, .*: INSERT INTO pam\.accounts \(id, currency, balance\) /,
        )
        expect(code).toBe(0)
        const json = await run(['--json', '-'])
        expect(json.code).toBe(0)
        expect(JSON.parse(json.out)).toMatchObject({
          passed: true,
          servers: [
            {
              user: 'wallet',
              findings: expect.arrayContaining([
                expect.objectContaining({ subject: 'statements', state: 'read' }),
              ]),
            },
          ],
        })
        const [, forget = ''] = /(SELECT \S+pg_stat_statements_reset\(0, 0, <queryid>\))/.exec(out) ?? []
        const ids = [...out.matchAll(/queryid (-?\d+)/g)].map(([, id = '']) => id)
        for (const id of ids) await admin.query(forget.replace('<queryid>', id))
        expect(lineOf((await run()).out, 'statements')).toContain('ok')
      })

      test("what the wallet's functions run is its own, where that is recorded too", async () => {
        await admin.query(
          `ALTER ROLE wallet SET pg_stat_statements.track = 'all'; SELECT pg_stat_statements_reset()`,
        )
        const pool = new pg.Pool({ connectionString: url })
        const store = createPostgresStore(pool, tables)
        await store.ready()
        const bet = { ...{ betId: 'b-1', playerId: 'anna', sessionId: 's-1', amount: 1, currency: 'EUR' } }
        const more = { odds: 1.85, betType: 'SINGLE', transactionDate: '2026-11-21T18:00:00Z' }
        expect(await handlePlaceBet(store, { transactionId: 't-1', ...bet, ...more })).toMatchObject({
          ok: true,
        })
        await pool.end()
        const { rows } = await admin.query(
          "SELECT 1 FROM pg_stat_statements WHERE query ~* 'update .*accounts' AND query LIKE '%player_id%'",
        )
        expect(rows).not.toEqual([])
        const { out } = await run()
        expect(lineOf(out, 'statements')).toMatch(/^ {2}- .*nothing was seen/)
        await admin.query('ALTER ROLE wallet RESET ALL')
      })

      test('CHECKs of the table, of a domain, and of the table below a view', async () => {
        await admin.query(`CREATE DOMAIN pam.amount AS numeric CHECK (VALUE < 1000000);
          ALTER TABLE pam.accounts ADD COLUMN held pam.amount NOT NULL DEFAULT 0, ADD CONSTRAINT keeps_held CHECK (balance >= held);
          CREATE VIEW pam.v AS SELECT id, currency, balance FROM pam.accounts; GRANT SELECT, UPDATE ON pam.v TO wallet`)
        const { code, out } = await run()
        expect(lineOf(out, 'CHECKs')).toMatch(
          /READ .*a debit that fails one of these is a fault .*players\.reserved/,
        )
        expect(out).toContain(`\n    pam.accounts: amount_check CHECK ((VALUE < (1000000)::numeric))\n`)
        expect(out).toMatch(/^ {4}pam\.accounts: keeps_held CHECK \(\(balance >= .*held/m)
        expect(code).toBe(0)
        const view = ['--players', 'pam.v', '--id', 'id', '--currency', 'currency', '--balance', 'balance']
        expect((await run(view)).out).toMatch(/^ {4}pam\.accounts: keeps_held CHECK/m)
        await admin.query(
          'DROP VIEW pam.v; ALTER TABLE pam.accounts DROP COLUMN held; DROP DOMAIN pam.amount',
        )
      })

      test('the extension is older than the server, as after pg_upgrade: the statements are checked', async () => {
        await admin.query(`DROP EXTENSION pg_stat_statements; CREATE EXTENSION pg_stat_statements VERSION '1.8';
          SELECT pg_stat_statements_reset()`)
        const { code, out } = await run()
        expect(lineOf(out, 'statements')).toMatch(
          /^ {2}- .*nothing was seen.*; ALTER EXTENSION pg_stat_statements UPDATE/,
        )
        expect(code).toBe(0)
        await admin.query('ALTER EXTENSION pg_stat_statements UPDATE')
        expect(lineOf((await run()).out, 'statements')).toContain('recorded since 20')
      })

      test('below a view, with another name of the column', async () => {
        await admin.query(`SELECT pg_stat_statements_reset();
          CREATE VIEW pam.open_accounts AS SELECT id, currency, balance AS money FROM pam.accounts;
          GRANT SELECT (id, currency, money), UPDATE (money) ON pam.open_accounts TO wallet`)
        await migratePostgres(admin, {
          schema: 'other',
          players: { table: 'pam.open_accounts', id: 'id', currency: 'currency', balance: 'money' },
        })
        await admin.query('UPDATE pam.accounts SET balance = $1 WHERE id = $2', ['80', 'anna'])
        const { out } = await run(['--schema', 'other'], server.url)
        expect(out).toMatch(/^ {4}1 call, by postgres, .*: UPDATE pam\.accounts SET balance = \$1/m)
        await admin.query(
          'DROP SCHEMA other CASCADE; DROP VIEW pam.open_accounts; SELECT pg_stat_statements_reset()',
        )
      })

      test('below a view whose rows come from a join', async () => {
        await admin.query(`SELECT pg_stat_statements_reset();
          CREATE TABLE pam.open (id text); INSERT INTO pam.open SELECT generate_series(1, 1000); ANALYZE pam.open;
          CREATE VIEW pam.some_accounts AS SELECT id, currency, balance AS money FROM pam.accounts
            WHERE id IN (SELECT id FROM pam.open)`)
        const players = ['--players', 'pam.some_accounts', '--id', 'id', '--currency', 'currency']
        await admin.query('UPDATE pam.accounts SET balance = $1 WHERE id = $2', ['80', 'anna'])
        const { out } = await run([...players, '--balance', 'money'], server.url)
        expect(out).toMatch(/^ {4}1 call, by postgres, .*: UPDATE pam\.accounts SET balance = \$1/m)
        await admin.query(
          'DROP VIEW pam.some_accounts; DROP TABLE pam.open; SELECT pg_stat_statements_reset()',
        )
      })

      test('a view whose writes a trigger decides: every write to the table below', async () => {
        await admin.query(`CREATE VIEW pam.all_accounts AS SELECT id, currency, sum(balance) AS money FROM pam.accounts
            GROUP BY id, currency;
          CREATE FUNCTION pam.write_money() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
          CREATE TRIGGER write_money INSTEAD OF UPDATE ON pam.all_accounts
            FOR EACH ROW EXECUTE FUNCTION pam.write_money()`)
        await admin.query('UPDATE pam.accounts SET balance = $1 WHERE id = $2', ['80', 'anna'])
        const players = ['--players', 'pam.all_accounts', '--id', 'id', '--currency', 'currency']
        const { out } = await run([...players, '--balance', 'money'], server.url)
        expect(out).toMatch(/^ {4}1 call, by postgres, .*: UPDATE pam\.accounts SET balance = \$1/m)
        await admin.query('DROP VIEW pam.all_accounts; DROP FUNCTION pam.write_money()')
      })

      test('bets without an account in their currency are counted: a warning, and no problem', async () => {
        await admin.query(`CREATE TABLE pam.wallets (id text PRIMARY KEY, currency text, balance bigint);
          INSERT INTO pam.wallets VALUES ('a', 'EUR', 1000)`)
        const players = { table: 'pam.wallets', id: 'id', currency: 'currency', balance: 'balance' }
        const inCents = { balanceType: 'minor-units', minorUnits: 2 } as const
        await migratePostgres(
          admin,
          { schema: 'cents', players: { ...players, ...inCents } },
          { lookupIndexes: true },
        )
        await admin.query(`INSERT INTO cents.bets (bet_id, player_id, currency, stake, status, revision)
          VALUES ('b-1', 'a', 'USD', 1, 'PLACED', 1), ('b-2', 'a', 'EUR', 1, 'PLACED', 1)`)
        const { code, out } = await run(['--schema', 'cents'], server.url)
        expect(lineOf(out, 'accounts')).toContain('WARN')
        expect(lineOf(out, 'accounts')).toContain('1 bets have none in their currency')
        expect(code).toBe(0)
        await admin.query('DROP SCHEMA cents CASCADE; DROP TABLE pam.wallets')
      })

      test('the connection breaks while the tables are looked up: unknown', async () => {
        await admin.query('ALTER ROLE wallet SET lock_timeout = 300')
        const blocker = new pg.Client({ connectionString: server.url })
        await blocker.connect()
        await blocker.query('BEGIN; LOCK TABLE bet_wallet.options')
        const { code, out } = await run()
        expect(lineOf(out, 'schema')).toMatch(/UNKNOWN .*could not be checked: .*lock timeout/)
        expect(code).toBe(2)
        await blocker.end()
        await admin.query('ALTER ROLE wallet RESET lock_timeout')
      })

      test('several servers, one of them down: 2, and never the password', async () => {
        const down = 'postgres://wallet:hidden-secret@127.0.0.1:1/casino'
        const { code, out, error } = await run([], `${url} ${down}`)
        expect(code).toBe(2)
        expect(out).toMatch(
          /^127\.0\.0\.1:1\/casino\n {2}UNKNOWN {2}connection {2}no answer: .*ECONNREFUSED/m,
        )
        expect(out).toContain('PostgreSQL')
        expect(out + error).not.toMatch(/hidden-secret|:secret/)
      })
    })
  },
)

test.each([
  [['somewhere'], 'check has no arguments: somewhere'],
  [['--balance', 'cents'], '--balance needs --players'],
  [
    [...'--players pam.accounts --id id --currency c --balance b --id-type foo'.split(' ')],
    '--id-type must be',
  ],
  [['--schema', ''], '--schema is missing: its value is empty'],
])('given %j, then exit code 2 and the problem', async (words, problem) => {
  const { code, error } = await runCommand([
    'check',
    ...words,
    '--database-url',
    'postgres://a@127.0.0.1:1/b',
  ])
  expect(error).toContain(problem)
  expect(code).toBe(2)
})

test('without a URL in the variable, then exit code 2 and what is missing', async () => {
  const { code, error } = await runCommand(['check'], { environment: { BET_WALLET_DATABASE_URL: ' ' } })
  expect(error).toContain('The database is missing')
  expect(code).toBe(2)
})
