/** `bet-wallet check` on MySQL and MariaDB: every fault is made, found, and gone by what the command prints. */
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MysqlTables, migrateMysql } from '../../../src/stores/mysql/index.js'
import type { MariadbServer } from '../../mariadb/server.js'
import { isMysql, noServer, startServer } from '../../mysql/engine.js'
import { lineOf, runCommand } from './running.js'

const tables: MysqlTables = {
  players: {
    ...{ table: 'pam.accounts', id: 'id', idCollation: 'utf8mb4_general_ci', currency: 'currency' },
    balance: 'balance',
  },
}
const suffix = noServer === null ? '' : ` (skipped: ${noServer})`

describe.skipIf(noServer !== null)(`check${suffix}`, () => {
  let server: MariadbServer
  let admin: Pool
  let url = ''
  let adminUrl = ''
  beforeAll(async () => {
    server = await startServer({ settings: { performance_schema: 'ON' } })
    const { host, port, user, password } = server.config
    admin = mysql.createPool({ ...server.config, multipleStatements: true })
    await admin.query(`CREATE DATABASE pam CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
      CREATE TABLE pam.accounts (id varchar(64) PRIMARY KEY, currency char(3) NOT NULL, balance decimal(18, 2) NOT NULL);
      INSERT INTO pam.accounts VALUES ('anna', 'EUR', 100);
      CREATE USER wallet@'127.%' IDENTIFIED BY 'secret'`)
    await migrateMysql(admin, tables, { lookupIndexes: true })
    url = `mysql://wallet:secret@${host}:${port}/bet_wallet`
    adminUrl = `mysql://${user}:${password}@${host}:${port}/bet_wallet`
    const { out } = await runCommand(['grants', 'wallet@127.%', '--database-url', adminUrl])
    await admin.query(out)
  })
  afterAll(async () => {
    await admin.end()
    await server.stop()
  })

  const run = (words: string[] = [], address = url) =>
    runCommand(['check', ...words], { environment: { BET_WALLET_DATABASE_URL: address } })

  test('all well; the statements are checked where this user may', async () => {
    const first = await run()
    expect(first.error).toBe('')
    expect(lineOf(first.out, 'statements')).toMatch(/^ {2}- .*may not see the statements of others/)
    expect(lineOf(first.out, 'CHECKs')).toMatch(/^ {2}- .*this user sees none: run check again/)
    const grant = "GRANT SELECT ON performance_schema.* TO 'wallet'@'127.%';"
    expect(first.out).toContain(`\n    ${grant}\n`)
    expect(first.out).toMatch(
      /^127\.\d+\.\d+\.\d+:\d+\/bet_wallet: (?:MariaDB|MySQL) \d+\S*, as wallet@127\.%$/m,
    )
    expect(first.code).toBe(0)
    await admin.query(`${grant} TRUNCATE TABLE performance_schema.events_statements_summary_by_digest`)
    // This check itself has debited a player by now, and is not seen.
    const nothing = await run()
    expect(lineOf((await run()).out, 'statements')).toMatch(
      /^ {2}- .*nothing was seen: no statement that writes balances of pam\.accounts was recorded but the wallet's own/,
    )
    expect(nothing.code).toBe(0)
    await admin.query("UPDATE pam.accounts SET balance = balance + 5 WHERE id = 'anna'")
    const { code, out } = await run()
    expect(lineOf(out, 'statements')).toMatch(
      /ok .*1 statement on pam\.accounts adds to the balance in the statement, no other writes it; recorded since 20/,
    )
    expect(out).toContain('\nOK: 0 problems, 1 skipped\n')
    expect(code).toBe(0)
  })

  test("a trigger whose definer lacks a right: the server's own error", async () => {
    await admin.query(`CREATE TABLE pam.accounts_history (id varchar(64), balance decimal(18, 2));
      CREATE USER auditor@localhost;
      GRANT TRIGGER, SELECT, UPDATE ON pam.accounts TO auditor@localhost;
      CREATE DEFINER = auditor@localhost TRIGGER pam.log_balance AFTER UPDATE ON pam.accounts FOR EACH ROW
        IF NEW.balance < OLD.balance THEN INSERT INTO pam.accounts_history VALUES (NEW.id, NEW.balance); END IF`)
    const { code, out } = await run()
    expect(lineOf(out, 'privileges')).toContain('ok')
    expect(lineOf(out, 'trial debit')).toMatch(
      /PROBLEM .*INSERT command denied to user 'auditor'@'localhost' for table .*accounts_history.* \(error 1142\)/,
    )
    expect(code).toBe(1)
    await admin.query('GRANT INSERT ON pam.accounts_history TO auditor@localhost')
    expect(lineOf((await run()).out, 'trial debit')).toMatch(/ok .*rolled back/)
    const [rows] = await admin.query('SELECT * FROM pam.accounts_history')
    expect(rows).toEqual([])
    await admin.query(
      'DROP TRIGGER pam.log_balance; DROP TABLE pam.accounts_history; DROP USER auditor@localhost',
    )
  })

  test('a balance of each currency as it is read; NULL, small letters and unknown codes are warnings', async () => {
    expect((await run()).out).toMatch(/EUR (10\d\.00) → \1 EUR, one of 1 account$/m)
    await admin.query(`ALTER TABLE pam.accounts MODIFY currency varchar(10), MODIFY balance decimal(18, 2);
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
      ALTER TABLE pam.accounts MODIFY currency char(3) NOT NULL, MODIFY balance decimal(18, 2) NOT NULL`)
  })

  test('a version column that no option names', async () => {
    expect((await run()).out).not.toContain('version column')
    await admin.query('ALTER TABLE pam.accounts ADD lock_version integer NOT NULL DEFAULT 0')
    // The catalog hides the column from the wallet's own user.
    expect(lineOf((await run()).out, 'columns')).toMatch(
      / - .*this user does not see all columns of pam\.accounts: run check again as an owner/,
    )
    const { code, out } = await run([], adminUrl)
    expect(lineOf(out, 'columns')).toBe('')
    expect(lineOf(out, 'version column')).toMatch(
      /WARN .*pam\.accounts\.lock_version: if your code has an optimistic lock/,
    )
    expect(code).toBe(0)
    await admin.query('ALTER TABLE pam.accounts DROP lock_version')
  })

  test("a view of the row's number: a warning with a row", async () => {
    await admin.query(`CREATE TABLE pam.wallets (id bigint PRIMARY KEY, user_id int NOT NULL, currency char(3) NOT NULL, balance decimal(18,2) NOT NULL);
      INSERT INTO pam.wallets VALUES (1, 2, 'EUR', 5), (2, 1, 'EUR', 5);
      CREATE VIEW pam.v AS SELECT id AS player_id, currency, balance FROM pam.wallets`)
    const players = ['--players', 'pam.v', '--id', 'player_id', '--id-type', 'bigint']
    const words = [...players, '--currency', 'currency', '--balance', 'balance']
    expect(lineOf((await run(words, adminUrl)).out, 'player ids')).toMatch(
      /WARN .*id numbers the rows of pam\.wallets, and user_id is the player's: a bet of the player 1 debits the row 1/,
    )
    await admin.query('DROP VIEW pam.v; DROP TABLE pam.wallets')
  })

  test('no player: no debit is tried, which is no problem', async () => {
    await admin.query('DELETE FROM pam.accounts')
    const { code, out } = await run()
    expect(lineOf(out, 'trial debit')).toMatch(/^ {2}- .*not tried: no player/)
    expect(code).toBe(0)
    await admin.query("INSERT INTO pam.accounts VALUES ('anna', 'EUR', 100)")
  })

  test('of two players without funds, only the first is tried, with a credit first', async () => {
    await admin.query(`DELETE FROM pam.accounts; INSERT INTO pam.accounts VALUES ('anna', 'EUR', 0), ('ben', 'EUR', 0);
      ALTER TABLE pam.accounts ADD CONSTRAINT never_below CHECK (balance >= 0)`)
    const writer = await admin.getConnection()
    await writer.query("BEGIN; SELECT 1 FROM pam.accounts WHERE id = 'ben' FOR UPDATE")
    const { out } = await run()
    await writer.query('ROLLBACK')
    writer.release()
    expect(lineOf(out, 'trial debit')).toMatch(/ok .*rolled back/)
    await admin.query(`ALTER TABLE pam.accounts DROP CONSTRAINT never_below;
      DELETE FROM pam.accounts; INSERT INTO pam.accounts VALUES ('anna', 'EUR', 100)`)
  })

  test('rights that are missing, each: the SQL that grants it', async () => {
    const grants = (await runCommand(['grants', 'wallet@127.%', '--database-url', adminUrl])).out
    for (const grant of grants.match(/^GRANT .*$/gm) ?? []) {
      const [, privileges = '', object = ''] = /^GRANT (.+) ON (\S+) TO/.exec(grant) ?? []
      for (const privilege of privileges.split(/, (?![^(]*\))/)) {
        await admin.query(`REVOKE ${privilege} ON ${object} FROM wallet@'127.%'`)
        const { code, out } = await run()
        const printed = out.split('\n').filter(line => line.trim().startsWith('GRANT'))
        expect(printed.map(line => line.trim())).toEqual([
          `GRANT ${privilege} ON ${object} TO 'wallet'@'127.%';`,
        ])
        expect(lineOf(out, 'privileges')).toContain('PROBLEM')
        expect(code).toBe(1)
        await admin.query(printed.join('\n'))
      }
    }
    expect((await run()).code).toBe(0)
  })

  test('EXECUTE is missing, and the table is named', async () => {
    await admin.query("REVOKE EXECUTE ON bet_wallet.* FROM wallet@'127.%'")
    const named = [
      ...['--players', 'pam.accounts', '--id', 'id', '--id-collation', 'utf8mb4_general_ci'],
      ...['--currency', 'currency', '--balance', 'balance'],
    ]
    const { code, out } = await run(named)
    const grant = "GRANT EXECUTE ON `bet_wallet`.* TO 'wallet'@'127.%';"
    expect(out).toContain(grant)
    expect(code).toBe(1)
    await admin.query(grant)
    expect((await run(named)).code).toBe(0)
  })

  test('an index of lookups is missing: the SQL that creates it, unless it is not wanted', async () => {
    await admin.query('DROP INDEX wallet_transactions_of_bet ON bet_wallet.wallet_transactions')
    const { code, out } = await run()
    expect(lineOf(out, 'lookup indexes')).toContain('PROBLEM')
    expect(code).toBe(1)
    expect((await run(['--no-lookup-indexes'])).code).toBe(0)
    await admin.query(out.split('\n').find(line => line.trim().startsWith('CREATE INDEX')) ?? '')
    expect((await run()).code).toBe(0)
  })

  test('an older schema', async () => {
    await admin.query("ALTER TABLE bet_wallet.wallet_bets COMMENT 'bet-wallet 0'")
    const { code, out } = await run()
    expect(lineOf(out, 'schema')).toMatch(/PROBLEM .*SCHEMA_VERSION: .* has version 0; this release needs/)
    expect(out).toContain('npx bet-wallet migrate')
    expect(code).toBe(1)
    await admin.query("ALTER TABLE bet_wallet.wallet_bets COMMENT 'bet-wallet 1'")
    expect((await run()).code).toBe(0)
  })

  test('a setting that is not durable, and what else is wrong behind it', async () => {
    await admin.query(
      "SET GLOBAL innodb_flush_log_at_trx_commit = 2; ALTER TABLE bet_wallet.wallet_bets COMMENT 'bet-wallet 0'",
    )
    const { code, out } = await run()
    expect(lineOf(out, 'durability')).toMatch(/PROBLEM .*NOT_DURABLE: innodb_flush_log_at_trx_commit is 2/)
    expect(lineOf(out, 'schema')).toContain('PROBLEM')
    expect(code).toBe(1)
    await admin.query("ALTER TABLE bet_wallet.wallet_bets COMMENT 'bet-wallet 1'")
    expect((await run(['--allow-not-durable'])).code).toBe(0)
    await admin.query('SET GLOBAL innodb_flush_log_at_trx_commit = 1')
  })

  test('statements that write a balance back: listed in full, the most called first, until they are forgotten', async () => {
    // An unqualified name is of the schema that the session is in.
    const pam = await mysql.createConnection({ ...server.config, database: 'pam' })
    await pam.query("UPDATE accounts SET balance = 90 WHERE id = 'anna'")
    await pam.query("REPLACE INTO accounts (id, currency, balance) VALUES ('anna', 'EUR', 90)")
    await pam.query("REPLACE INTO accounts (id, currency, balance) VALUES ('anna', 'EUR', 80)")
    await pam.query('CREATE DATABASE casino')
    await pam.query('CREATE TABLE casino.accounts AS SELECT * FROM accounts')
    await pam.query('USE casino')
    await pam.query("UPDATE accounts SET balance = 1, currency = 'EUR'")
    await pam.end()
    const { code, out } = await run()
    expect(lineOf(out, 'statements')).toMatch(
      /READ .* on pam\.accounts adds? to the balance .*Read these 2\. .* TRUNCATE TABLE performance_schema\./,
    )
    expect(out.split('\n').filter(line => /^ {4}\d+ calls?, /.test(line))).toEqual([
      expect.stringMatching(/^ {4}2 calls, last seen 20\d\d-\d\d-\d\d \d\d:\d\d: REPLACE INTO `accounts` \(/),
      expect.stringMatching(
        /^ {4}1 call, last seen 20.*: UPDATE `accounts` SET `balance` = \? WHERE (?:`id`|ID) = \?/,
      ),
    ])
    expect(code).toBe(0)
    await admin.query(
      'DROP DATABASE casino; TRUNCATE TABLE performance_schema.events_statements_summary_by_digest',
    )
    expect(lineOf((await run()).out, 'statements')).toContain('nothing was seen')
  })

  test('CHECKs of the table, and of that below a view', async () => {
    await admin.query(`ALTER TABLE pam.accounts ADD COLUMN held decimal(18, 2) NOT NULL DEFAULT 0;
      ALTER TABLE pam.accounts ADD CONSTRAINT keeps_held CHECK (balance >= held);
      CREATE VIEW pam.v AS SELECT id, currency, balance FROM pam.accounts`)
    const { code, out } = await run([], adminUrl)
    expect(lineOf(out, 'CHECKs')).toMatch(
      /READ .*a debit that fails one of these is a fault .*players\.reserved/,
    )
    expect(out).toMatch(/^ {4}pam\.accounts: keeps_held CHECK \(.*`balance`.*>=.*`held`/m)
    expect(code).toBe(0)
    const players = ['--players', 'pam.v', '--id', 'id', '--id-collation', 'utf8mb4_general_ci']
    const view = await run([...players, '--currency', 'currency', '--balance', 'balance'], adminUrl)
    expect(view.out).toMatch(/^ {4}pam\.accounts: keeps_held CHECK/m)
    await admin.query(`DROP VIEW pam.v; ALTER TABLE pam.accounts DROP CONSTRAINT keeps_held;
      ALTER TABLE pam.accounts DROP COLUMN held`)
    await admin.query('TRUNCATE TABLE performance_schema.events_statements_summary_by_digest')
  })

  test('below a view, with another name of the column', async () => {
    await admin.query(`ALTER TABLE pam.accounts ADD COLUMN cents decimal(18, 2) NOT NULL DEFAULT 0;
      CREATE VIEW pam.v AS SELECT id, currency, cents AS balance FROM pam.accounts`)
    await admin.query("UPDATE pam.accounts SET cents = 90 WHERE id = 'anna'")
    const players = ['--players', 'pam.v', '--id', 'id', '--id-collation', 'utf8mb4_general_ci']
    const { out } = await run([...players, '--currency', 'currency', '--balance', 'balance'], adminUrl)
    expect(lineOf(out, 'statements')).toMatch(/READ .* on pam\.v, pam\.accounts add/)
    expect(out).toMatch(/^ {4}1 call, last seen 20.*: UPDATE `pam` \. `accounts` SET `cents` = \?/m)
    await admin.query('DROP VIEW pam.v; ALTER TABLE pam.accounts DROP COLUMN cents')
    await admin.query('TRUNCATE TABLE performance_schema.events_statements_summary_by_digest')
  })

  test('inside a procedure, a statement has no digest: says so', async () => {
    await admin.query(
      "CREATE PROCEDURE pam.write_back() UPDATE pam.accounts SET balance = 90 WHERE id = 'anna'",
    )
    // The text of CREATE PROCEDURE itself has one.
    await admin.query('TRUNCATE TABLE performance_schema.events_statements_summary_by_digest')
    await admin.query('CALL pam.write_back()')
    await admin.query("UPDATE pam.accounts SET balance = balance + 1 WHERE id = 'anna'")
    const { code, out } = await run()
    expect(lineOf(out, 'statements')).toMatch(/ok .*those inside procedures, functions and triggers are not/)
    expect(code).toBe(0)
    await admin.query('DROP PROCEDURE pam.write_back')
  })

  test('the digests are off: says so', async () => {
    const set = (value: string) =>
      admin.query(
        `UPDATE performance_schema.setup_consumers SET ENABLED = '${value}' WHERE NAME = 'statements_digest'`,
      )
    await set('NO')
    const { code, out } = await run()
    expect(lineOf(out, 'statements')).toContain('not checked: the digests are off')
    expect(code).toBe(0)
    await set('YES')
  })

  test('two servers: a read-only one is no problem, two writable ones that are no cluster are', async () => {
    const other = await startServer()
    const { host, port, user, password } = other.config
    const otherAdmin = mysql.createPool({ ...other.config, multipleStatements: true })
    try {
      await otherAdmin.query('SET GLOBAL read_only = ON')
      const otherUrl = `mysql://${user}:${password}@${host}:${port}`
      const standby = await run([], `${adminUrl} ${otherUrl}`)
      expect(standby.out).toContain('a standby or read-only: the wallet does not use it')
      expect(standby.code).toBe(0)
      const alone = await run([], otherUrl)
      expect(lineOf(alone.out, 'server')).toMatch(/PROBLEM .*a standby or read-only/)
      expect(alone.code).toBe(1)
      const none = await run(['--json', '-'], `${otherUrl} ${otherUrl}`)
      expect(JSON.parse(none.out).together).toMatchObject([{ state: 'problem', subject: 'server' }])
      expect(none.code).toBe(1)
      await otherAdmin.query('SET GLOBAL read_only = OFF')
      const unlike = await run(['--json', '-'], `${adminUrl} ${otherUrl}`)
      expect(JSON.parse(unlike.out).together).toMatchObject([
        { state: 'unknown', text: expect.stringMatching(/^not checked whether .*: Server 2 of the list: /) },
      ])
      await otherAdmin.query('CREATE DATABASE pam')
      await otherAdmin.query(
        'CREATE TABLE pam.accounts (id varchar(64) COLLATE utf8mb4_general_ci PRIMARY KEY, currency char(3), balance decimal(18, 2))',
      )
      await migrateMysql(otherAdmin, tables, { lookupIndexes: true })
      const both = await run([], `${adminUrl} ${otherUrl}`)
      expect(both.out).toMatch(
        /All servers\n {2}PROBLEM {2}server .*SERVERS_APART: .*both writable, and are not members of one cluster/,
      )
      expect(both.code).toBe(1)
      expect(both.out).not.toContain(password ?? 'nothing')
    } finally {
      await otherAdmin.end()
      await other.stop()
    }
  })

  test('bets without an account in their currency are counted: a warning, and no problem', async () => {
    await admin.query(`CREATE TABLE pam.wallets (id varchar(64) PRIMARY KEY, currency varchar(9), balance bigint);
      INSERT INTO pam.wallets VALUES ('a', 'EUR', 1000)`)
    const players = { table: 'pam.wallets', id: 'id', currency: 'currency', balance: 'balance' }
    const inCents = { balanceType: 'minor-units', minorUnits: 2, idCollation: 'utf8mb4_general_ci' } as const
    await migrateMysql(
      admin,
      { schema: 'cents', players: { ...players, ...inCents } },
      { lookupIndexes: true },
    )
    await admin.query(`INSERT INTO cents.wallet_bets (id, bet_id, player_id, currency, stake, status, revision, recorded_at)
      VALUES (1, 'b-1', 'a', 'USD', 1, 'PLACED', 1, NOW(3)), (2, 'b-2', 'a', 'EUR', 1, 'PLACED', 1, NOW(3))`)
    const { code, out } = await run(['--schema', 'cents'], adminUrl)
    expect(lineOf(out, 'accounts')).toContain('WARN')
    expect(lineOf(out, 'accounts')).toContain('1 bets have none in their currency')
    expect(code).toBe(0)
    await admin.query('DROP DATABASE cents; DROP TABLE pam.wallets')
  })

  test.skipIf(isMysql)('performance_schema is OFF, the default of MariaDB: says so', async () => {
    const other = await startServer()
    const { host, port, user, password } = other.config
    const otherAdmin = mysql.createPool(other.config)
    try {
      await migrateMysql(otherAdmin, {}, { lookupIndexes: true })
      const { code, out } = await run([], `mysql://${user}:${password}@${host}:${port}`)
      expect(lineOf(out, 'statements')).toContain('not checked: performance_schema is OFF')
      expect(code).toBe(0)
    } finally {
      await otherAdmin.end()
      await other.stop()
    }
  })
})
