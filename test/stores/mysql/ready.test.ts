/** What `ready` and `ping` report: options, client, schema, players' table, privileges, settings of the server. */
import type { StoreErrorCode } from 'bet-wallet/mysql'
import mysqlCallbacks from 'mysql2'
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startError } from '../../../src/stores/mysql/errors.js'
import {
  createMysqlStore,
  type MysqlPlayersTable,
  type MysqlStoreOptions,
  migrateMysql,
  mysqlMigrationSql,
} from '../../../src/stores/mysql/index.js'
import type { MariadbServer } from '../../mariadb/server.js'
import { isMysql, noServer, startServer } from '../../mysql/engine.js'
import { keysOf, placeBet } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

const players: MysqlPlayersTable = {
  table: 'pam.accounts',
  ...{ id: 'id', idCollation: 'utf8mb4_general_ci', currency: 'currency', balance: 'balance' },
}

describe('options', () => {
  const pool = { getConnection() {} }
  test.each<[string, object, RegExp]>([
    ['an unknown one', { batchmax: 1 }, /unknown option "batchmax"/],
    [
      'a batch that a table in memory cannot hold',
      { batchMax: 1_001 },
      /batchMax must be a whole number from 1 to/,
    ],
    [
      'a table without its schema',
      { players: { ...players, table: 'accounts' } },
      /must be a table with its schema/,
    ],
    [
      'no collation',
      { players: { ...players, idCollation: undefined } },
      /players.idCollation must be the collation/,
    ],
    [
      'a collation that is none',
      { players: { ...players, idCollation: "x' OR 1" } },
      /players.idCollation must be/,
    ],
    [
      'a collation of a number',
      { players: { ...players, idType: 'bigint' } },
      /players.idCollation is allowed only with a text id/,
    ],
    // What follows would run on MariaDB: the migration drops a procedure in a comment for MySQL.
    ['the end of a comment', { schema: 'x*/ DROP DATABASE y #' }, /schema must not have "\*\/" in it/],
    ['a long name', { schema: 'x'.repeat(65) }, /schema is longer than 64 characters/],
  ])('%s', (_, options, message) => {
    expect(() => createMysqlStore(pool, options as MysqlStoreOptions)).toThrow(message)
    expect(() => createMysqlStore(pool, options as MysqlStoreOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    )
  })

  test.each([null, 'mysql://root:secret@host', {}, [], [{}]])('no client: %j', client => {
    try {
      createMysqlStore(client as never)
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ code: 'UNSUPPORTED_CLIENT' })
      expect(String(error)).not.toContain('secret')
    }
  })

  test.each<[string, object]>([
    ['a PoolCluster', mysqlCallbacks.createPoolCluster()],
    ['a PoolCluster', mysql.createPoolCluster()],
    ["TypeORM's driver.pool", mysqlCallbacks.createPool({ stringifyObjects: true })],
    ["TypeORM's driver.pool", mysql.createPool({ stringifyObjects: true })],
  ])('a client that is %s is refused at once, by its name', (name, client) => {
    expect(() => createMysqlStore(client as Pool)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_CLIENT', message: expect.stringContaining(`is ${name}`) }),
    )
  })
})

test.each([
  ['HANDSHAKE_SSL_ERROR', 'self-signed certificate', 'DATABASE_REJECTED'],
  ['HANDSHAKE_SSL_ERROR', 'read ECONNRESET', 'UNAVAILABLE'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', 'DATABASE_REJECTED'],
])('the TLS error %s, "%s", of the driver is %s at start', (code, message, expected) => {
  expect(startError(Object.assign(new Error(message), { code }))).toMatchObject({ code: expected })
})

test('a server that cannot be reached: unavailable, and ready says why', async () => {
  const pool = mysql.createPool({ host: '127.0.0.1', port: 1, user: 'root' })
  const store = createMysqlStore(pool)
  await expect(store.ready()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: /ECONNREFUSED/ })
  await expect(store.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(await store.commit(placeBet())).toEqual({ status: 'unavailable' })
  await pool.end()
})

describe.skipIf(noServer !== null)(`on a real server${reason}`, () => {
  let server: MariadbServer
  let admin: Pool
  const pools: { end(): unknown }[] = []
  const poolWith = (options: mysql.PoolOptions = {}) => {
    const pool = mysql.createPool({ ...server.config, ...options })
    pools.push(pool)
    return pool
  }
  beforeAll(async () => {
    server = await startServer()
    admin = poolWith({ multipleStatements: true })
    await admin.query(`CREATE DATABASE pam CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
      CREATE TABLE pam.accounts (id varchar(64) PRIMARY KEY, currency char(3) NOT NULL, balance decimal(20,2) NOT NULL,
        owed double, tiny decimal(20,1), email varchar(64), cents bigint) ENGINE = InnoDB;
      CREATE TABLE pam.myisam (id varchar(64) PRIMARY KEY, currency char(3), balance decimal(20,2)) ENGINE = MyISAM;
      CREATE TABLE pam.twice (id varchar(64), currency char(3), balance decimal(20,2), KEY (id)) ENGINE = InnoDB;
      INSERT INTO pam.accounts (id, currency, balance) VALUES ('anna', 'EUR', 100)`)
  })
  afterAll(async () => {
    await Promise.all(pools.map(pool => pool.end()))
    await server.stop()
  })

  const fails = (options: MysqlStoreOptions, code: StoreErrorCode, message: RegExp, pool: Pool = admin) =>
    expect(createMysqlStore(pool, options).ready()).rejects.toMatchObject({
      name: 'StoreError',
      code,
      message: expect.stringMatching(message),
    })

  test('no migration', async () => {
    await fails({ schema: 'nowhere' }, 'SCHEMA_MISSING', /run migrateMysql/)
    const store = createMysqlStore(admin, { schema: 'nowhere' })
    expect(await store.commit(placeBet())).toMatchObject({ status: 'conflict' })
    await expect(store.load(keysOf(placeBet()))).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
  })

  test('another wording of the same options is the same; other options are named, and live side by side', async () => {
    const schema = 'options_of'
    const tables = { schema, players: { ...players, balance: 'cents', balanceType: 'minor-units' as const } }
    await migrateMysql(admin, { ...tables, players: { ...tables.players, minorUnits: { EUR: 2, JPY: 0 } } })
    await createMysqlStore(admin, {
      ...tables,
      players: { ...tables.players, minorUnits: { JPY: 0, EUR: 2 } },
    }).ready()
    const others = { ...tables, players: { ...tables.players, minorUnits: 2 } }
    await fails(others, 'SCHEMA_OPTIONS', /players.minorUnits: registered {"EUR":2,"JPY":0}, given 2/)
    await expect(migrateMysql(admin, others)).rejects.toMatchObject({ code: 'SCHEMA_OPTIONS' })
    await migrateMysql(admin, others, { allowOtherOptions: true })
    await createMysqlStore(admin, others).ready()
    await createMysqlStore(admin, {
      ...tables,
      players: { ...tables.players, minorUnits: { EUR: 2, JPY: 0 } },
    }).ready()
  })

  describe('two databases on one server', () => {
    const of = (database: string) => ({
      schema: 'shared',
      players: { ...players, table: `${database}.accounts` },
    })
    const [dev, testing] = [of('pam_dev'), of('pam_test')]
    const adviceFor = (table: string, schema: string) =>
      new RegExp(
        `^The schema shared belongs to the players of pam_dev.accounts. Those of ${table}, another database on this server, ` +
          `need a schema of their own: schema: '${schema}'. See`,
      )
    const advice = adviceFor('pam_test.accounts', 'shared_pam_test')
    beforeAll(async () => {
      for (const database of ['pam_dev', 'pam_test'])
        await admin.query(`CREATE DATABASE ${database}; CREATE TABLE ${database}.accounts LIKE pam.accounts;
          INSERT INTO ${database}.accounts (id, currency, balance) VALUES ('anna', 'EUR', 100)`)
      await migrateMysql(admin, dev)
    })

    test('the second is advised to use another schema only, and allowOtherOptions is refused', async () => {
      await fails(testing, 'SCHEMA_OPTIONS', advice)
      for (const settings of [{}, { allowOtherOptions: true }])
        await expect(migrateMysql(admin, testing, settings)).rejects.toMatchObject({
          code: 'SCHEMA_OPTIONS',
          message: expect.stringMatching(advice),
        })
      await createMysqlStore(admin, dev).ready()
    })

    test("also without a players' table, which the library would create", async () => {
      await expect(
        migrateMysql(admin, { schema: 'shared' }, { allowOtherOptions: true }),
      ).rejects.toMatchObject({
        code: 'SCHEMA_OPTIONS',
        message: expect.stringMatching(adviceFor('shared.wallet_players', 'shared_2')),
      })
      const [tables] = await admin.query("SHOW TABLES FROM shared LIKE 'wallet_players'")
      expect(tables).toEqual([])
    })

    test('also beside other options of the first database', async () => {
      const others = { ...dev, players: { ...dev.players, decimalsMin: 1 } }
      await migrateMysql(admin, others, { allowOtherOptions: true })
      await fails(testing, 'SCHEMA_OPTIONS', advice)
      await createMysqlStore(admin, others).ready()
      await createMysqlStore(admin, dev).ready()
    })

    test('with its own schema it is ready, and no transaction is shared', async () => {
      const own = { ...testing, schema: 'shared_pam_test' }
      await migrateMysql(admin, own)
      const first = createMysqlStore(admin, dev)
      await first.ready()
      expect(await first.commit(placeBet(1, 'anna'))).toMatchObject({ status: 'committed' })
      const second = createMysqlStore(admin, own)
      expect(await second.load(keysOf(placeBet(1, 'anna')))).toMatchObject({
        ...{ accounts: [{ balance: '100.00' }], bet: null, transaction: null },
      })
    })

    test('the printed SQL does not look; the start of the second does, and the first has its procedures again', async () => {
      const text = mysqlMigrationSql(testing)
        .replace(/^DELIMITER .*$/gm, '')
        .replaceAll(' $$', ';')
      // The first migration is an earlier one by the clock, whose unit is a second.
      await admin.query(`SET timestamp = UNIX_TIMESTAMP() + 10; ${text} SET timestamp = DEFAULT`)
      await fails(testing, 'SCHEMA_OPTIONS', advice)
      // All share the procedure of settlements, which locks the player.
      await fails(dev, 'SCHEMA_VERSION', /The procedure shared.credit_bet_v1 was changed: run migrateMysql/)
      await migrateMysql(admin, dev)
      await createMysqlStore(admin, dev).ready()
      await fails(testing, 'SCHEMA_OPTIONS', advice)
    })
  })

  test('a procedure that was changed or dropped', async () => {
    const schema = 'changed'
    await migrateMysql(admin, { schema })
    const [[row]] = await admin.query<mysql.RowDataPacket[]>(
      `SELECT ROUTINE_NAME AS name FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = '${schema}' AND ROUTINE_NAME LIKE 'wallet_load%'`,
    )
    await admin.query(`DROP PROCEDURE ${schema}.${row?.name}`)
    await fails({ schema }, 'SCHEMA_VERSION', /wallet_load_v\S+ does not exist/)
    await migrateMysql(admin, { schema })
    await createMysqlStore(admin, { schema }).ready()
    await admin.query(`DROP PROCEDURE ${schema}.credit_bet_v1`)
    await admin.query(`CREATE PROCEDURE ${schema}.credit_bet_v1(a integer) SELECT 1`)
    await fails({ schema }, 'SCHEMA_VERSION', /credit_bet_v1 was changed/)
    await migrateMysql(admin, { schema })
    await createMysqlStore(admin, { schema }).ready()
    await admin.query(`ALTER TABLE ${schema}.wallet_bets ENGINE = MyISAM`).catch(() => {})
  })

  test.each<[string, Partial<MysqlPlayersTable>, StoreErrorCode, RegExp]>([
    ['no table', { table: 'pam.missing' }, 'INVALID_PLAYERS_TABLE', /pam.missing: it does not exist/],
    [
      'no column',
      { balance: 'funds' },
      'INVALID_PLAYERS_TABLE',
      /no column funds .*its columns are id, currency/,
    ],
    [
      'a float',
      { balance: 'owed' },
      'INVALID_PLAYERS_TABLE',
      /owed is double, which rounds; it must be decimal/,
    ],
    ['a small scale', { balance: 'tiny' }, 'INVALID_PLAYERS_TABLE', /would round amounts of 2 decimals/],
    [
      'another collation',
      { idCollation: 'utf8mb4_bin' },
      'INVALID_PLAYERS_TABLE',
      /of the column id is utf8mb4_general_ci/,
    ],
    ['no unique index', { table: 'pam.twice' }, 'INVALID_PLAYERS_TABLE', /no unique index on id alone/],
    ['no database transactions', { table: 'pam.myisam' }, 'NOT_DURABLE', /MyISAM.*must be InnoDB/],
    [
      'a number as a text',
      { idType: 'bigint', idCollation: undefined as never },
      'INVALID_PLAYERS_TABLE',
      /players.idType is bigint, but the column id is varchar/,
    ],
  ])("a players' table with %s", async (name, fields, code, message) => {
    const { idCollation, ...others } = { ...players, ...fields }
    const table = { ...others, ...(idCollation === undefined ? {} : { idCollation }) }
    const schema = `players_${name.replaceAll(' ', '_')}`
    await migrateMysql(admin, { schema, players: table })
    await fails({ schema, players: table }, code, message)
  })

  test.each(['int(10) unsigned zerofill', 'decimal(20,2) zerofill'])(
    'a balance of %s: its text has leading zeros, and cannot be loaded',
    async type => {
      const name = type.startsWith('int') ? 'zerofill_int' : 'zerofill_decimal'
      await admin.query(
        `CREATE TABLE pam.${name} (id varchar(64) PRIMARY KEY, currency char(3), balance ${type}) ENGINE = InnoDB`,
      )
      const table: MysqlPlayersTable = { ...players, table: `pam.${name}` }
      const units = type.startsWith('int') ? { balanceType: 'minor-units' as const, minorUnits: 2 } : {}
      const options = { schema: name, players: { ...table, ...units } }
      await migrateMysql(admin, options)
      await fails(options, 'INVALID_PLAYERS_TABLE', /balance is .*zerofill: remove ZEROFILL/)
    },
  )

  describe('a view as the players’ table', () => {
    const of = (name: string) => ({ schema: `view_${name}`, players: { ...players, table: `pam.${name}` } })
    const tableOf = (name: string, engine: string) =>
      `CREATE TABLE pam.${name} (id varchar(64) PRIMARY KEY, currency char(3), balance decimal(20,2)) ENGINE = ${engine}`

    beforeAll(() =>
      admin.query(`${['MyISAM', 'Aria', 'MEMORY', 'InnoDB'].map(engine => tableOf(`of_${engine}`, isMysql && engine === 'Aria' ? 'MyISAM' : engine)).join(';')};
        CREATE VIEW pam.direct AS SELECT * FROM pam.of_MyISAM;
        CREATE VIEW pam.renamed AS SELECT a.id, a.currency, a.balance FROM pam.of_Aria a WHERE a.id <> 'from \`x\`.\`y\`';
        CREATE VIEW pam.of_view AS SELECT * FROM pam.renamed WHERE balance >= 0;
        CREATE VIEW pam.joined AS SELECT i.id, i.currency, m.balance FROM (pam.of_InnoDB i, pam.accounts) JOIN pam.of_MEMORY m ON m.id = i.id;
        CREATE VIEW pam.filtered AS SELECT * FROM pam.of_InnoDB
          WHERE NOT EXISTS (SELECT 1 FROM pam.of_MyISAM other WHERE other.id = of_InnoDB.id);
        CREATE VIEW pam.right_one AS SELECT * FROM pam.of_InnoDB;
        CREATE VIEW pam.right_two AS SELECT v.* FROM pam.right_one v;
        CREATE USER viewer@'127.%' IDENTIFIED BY 'x'`),
    )

    test.each([
      ['direct', 'of_MyISAM'],
      ['renamed', 'of_Aria'],
      ['of_view', 'of_Aria'],
      ['joined', 'of_MEMORY'],
      ['filtered', 'of_MyISAM'],
    ])('%s reads pam.%s: refused', async (name, table) => {
      await migrateMysql(admin, of(name))
      await fails(of(name), 'NOT_DURABLE', new RegExp(`pam.${table} is a table of .*must be InnoDB`))
    })

    test('that reads no table: refused', async () => {
      await admin.query("CREATE VIEW pam.constant AS SELECT 'anna' AS id, 'EUR' AS currency, 1.00 AS balance")
      const options = of('constant')
      await migrateMysql(admin, options)
      await fails(options, 'INVALID_PLAYERS_TABLE', /pam.constant reads no table/)
    })

    test.each<[string, string, boolean]>([
      ['by_subquery', '(SELECT c.code FROM pam.codes c WHERE c.id = a.code)', !isMysql],
      ['by_case', "CASE a.code WHEN 1 THEN 'EUR' END", true],
    ])('with the currency %s', async (name, currency, isUpdatable) => {
      await admin.query(`CREATE TABLE IF NOT EXISTS pam.codes (id int PRIMARY KEY, code char(3));
        CREATE TABLE IF NOT EXISTS pam.coded (id varchar(64) COLLATE utf8mb4_general_ci PRIMARY KEY, code int, balance decimal(20,2));
        REPLACE INTO pam.coded VALUES ('anna', 1, 100); REPLACE INTO pam.codes VALUES (1, 'EUR');
        CREATE OR REPLACE VIEW pam.${name} AS SELECT a.id, a.balance, ${currency} AS currency FROM pam.coded a`)
      await migrateMysql(admin, of(name))
      // As the message says.
      if (!isUpdatable)
        return await fails(of(name), 'INVALID_PLAYERS_TABLE', /cannot be updated .*Without a subquery .*CASE/)
      const store = createMysqlStore(admin, of(name))
      await store.ready()
      expect(await store.commit(placeBet(1, 'anna', '30'))).toMatchObject({
        status: 'committed',
        balance: '70',
      })
    })

    test('of InnoDB: the rights that it needs are named', async () => {
      const options = of('right_two')
      await migrateMysql(admin, options)
      await createMysqlStore(admin, options).ready()
      const user = poolWith({ user: 'viewer', password: 'x' })
      const { schema } = options
      for (const right of [
        `EXECUTE, CREATE TEMPORARY TABLES ON ${schema}.*`,
        `SELECT, INSERT ON ${schema}.wallet_transactions`,
        `SELECT, INSERT, UPDATE ON ${schema}.wallet_bets`,
        `SELECT, INSERT, DELETE ON ${schema}.wallet_proofs`,
        'SELECT (id, currency, balance), UPDATE (balance) ON pam.right_two',
      ])
        await admin.query(`GRANT ${right} TO viewer@'127.%'`)
      for (const right of [
        'SELECT, SHOW VIEW ON pam.right_two',
        'SELECT (id) ON pam.right_one',
        'SELECT, SHOW VIEW ON pam.right_one',
        'SELECT (id) ON pam.of_InnoDB',
      ]) {
        const asked = right.replace('SELECT (id)', 'SELECT on a column of').replace('of ON', 'of')
        await fails(options, 'INSUFFICIENT_PRIVILEGE', new RegExp(`It needs ${asked}`), user)
        await admin.query(`GRANT ${right} TO viewer@'127.%'`)
      }
      await createMysqlStore(user, options).ready()
    })
  })

  test('a user with the privileges of the page, and with one less', async () => {
    const schema = 'granted'
    const options = { schema, players }
    await migrateMysql(admin, options)
    await admin.query("CREATE USER wallet@'127.%' IDENTIFIED BY 'x'")
    const user = poolWith({ user: 'wallet', password: 'x' })
    await fails(options, 'SCHEMA_MISSING', /or this user may not see it/, user)
    const grants = [
      `EXECUTE, CREATE TEMPORARY TABLES ON ${schema}.*`,
      `SELECT, INSERT ON ${schema}.wallet_transactions`,
      `SELECT, INSERT, UPDATE ON ${schema}.wallet_bets`,
      `SELECT, INSERT, DELETE ON ${schema}.wallet_proofs`,
      'SELECT (id, currency, balance), UPDATE (balance) ON pam.accounts',
    ]
    for (const grant of grants) await admin.query(`GRANT ${grant} TO wallet@'127.%'`)
    const store = createMysqlStore(user, options)
    await store.ready()
    expect(await store.commit(placeBet(1, 'anna'))).toMatchObject({ status: 'committed' })
    const [one, two] = await Promise.all([
      store.commit(placeBet(2, 'anna')),
      store.commit(placeBet(3, 'anna')),
    ])
    expect([one?.status, two?.status]).toEqual(['committed', 'committed'])
    expect((await store.loadConfirmed(keysOf(placeBet(1, 'anna')))).transaction).not.toBeNull()
    // The migration has nothing to do, and so needs nothing.
    await migrateMysql(user, options)
    await admin.query(`REVOKE SELECT ON ${schema}.wallet_bets FROM wallet@'127.%'`)
    await fails(options, 'INSUFFICIENT_PRIVILEGE', /It needs EXECUTE/, user)
    await admin.query(`GRANT SELECT ON ${schema}.wallet_bets TO wallet@'127.%'`)
    await admin.query(`REVOKE CREATE TEMPORARY TABLES ON ${schema}.* FROM wallet@'127.%'`)
    await fails(options, 'INSUFFICIENT_PRIVILEGE', /CREATE TEMPORARY TABLES/, user)
  })

  test('settings of the server and of the connection', async () => {
    const schema = 'settings'
    await migrateMysql(admin, { schema })
    const options = { schema }
    await admin.query('SET GLOBAL innodb_flush_log_at_trx_commit = 2')
    await fails(options, 'NOT_DURABLE', /innodb_flush_log_at_trx_commit is 2/)
    await createMysqlStore(admin, { ...options, allowNotDurable: true }).ready()
    await admin.query('SET GLOBAL innodb_flush_log_at_trx_commit = 1')
    await createMysqlStore(admin, options).ready()
    await fails(options, 'UNSUPPORTED_CLIENT', /must be utf8mb4/, poolWith({ charset: 'latin1' }))
    await fails(options, 'DATABASE_REJECTED', /Access denied/, poolWith({ password: 'wrong' }))
    // Since MariaDB 11.4 a server has a certificate of its own, which no client trusts.
    await fails(
      options,
      'DATABASE_REJECTED',
      /does not support secure connection|certificate/,
      poolWith({ ssl: {} }),
    )
  })

  test('a session that would shorten what the hook writes', async () => {
    const schema = 'modes'
    await migrateMysql(admin, { schema })
    const withMode = (mode: string) => {
      const pool = poolWith()
      pool.pool.on('connection', connection => connection.query(`SET SESSION sql_mode = ${mode}`))
      return pool
    }
    for (const mode of ["''", "'NO_ENGINE_SUBSTITUTION,ANSI_QUOTES'"])
      await fails({ schema }, 'UNSUPPORTED_CLIENT', /sql_mode of the connection is .*STRICT/, withMode(mode))
    for (const mode of ["'STRICT_ALL_TABLES'", "'TRADITIONAL'"])
      await createMysqlStore(withMode(mode), { schema }).ready()
    // As the message says.
    await admin.query("SET GLOBAL sql_mode = ''")
    try {
      await fails({ schema }, 'UNSUPPORTED_CLIENT', /STRICT_TRANS_TABLES/, poolWith())
      await createMysqlStore(withMode("CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')"), { schema }).ready()
    } finally {
      await admin.query('SET GLOBAL sql_mode = DEFAULT')
    }
  })

  test.each([
    ['wallet_bets', 'bet_id'],
    ['wallet_transactions', 'operation'],
    ['wallet_players', 'player_id'],
  ])(
    '%s was converted to another collation: refused, and the message says how to fix it',
    async (table, column) => {
      const schema = `converted_${table}`
      await migrateMysql(admin, { schema })
      await createMysqlStore(admin, { schema }).ready()
      await admin.query(
        `ALTER TABLE ${schema}.${table} CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
      )
      let statement = ''
      await createMysqlStore(admin, { schema })
        .ready()
        .then(
          () => expect.unreachable(),
          error => {
            expect(error).toMatchObject({
              code: 'SCHEMA_VERSION',
              message: expect.stringContaining(`${table}.${column} has the collation utf8mb4_general_ci`),
            })
            statement = /ALTER TABLE .*/.exec(error.problem)?.[0] ?? ''
          },
        )
      await admin.query(statement)
      await createMysqlStore(admin, { schema }).ready()
    },
  )

  test('a problem of one server of a list is said, although the others are right', async () => {
    const schema = 'lists'
    await migrateMysql(admin, { schema })
    const wrong = poolWith({ charset: 'latin1' })
    for (const [list, server] of [
      [[wrong, poolWith({})], 1],
      [[poolWith({}), wrong], 2],
    ] as const) {
      await expect(createMysqlStore(list, { schema }).ready()).rejects.toMatchObject({
        code: 'UNSUPPORTED_CLIENT',
        message: expect.stringMatching(`^Server ${server} of the list: .*must be utf8mb4`),
      })
    }
  })

  test('a server of a list that is down is no problem, unless all of them are', async () => {
    const schema = 'down'
    await migrateMysql(admin, { schema })
    const down = () => poolWith({ port: 1 })
    await createMysqlStore([down(), poolWith({})], { schema }).ready()
    await expect(createMysqlStore([down(), down()], { schema }).ready()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^Server 1 of the list: .*ECONNREFUSED/),
    })
  })

  test('the migration, with the privileges of the page', async () => {
    await admin.query("CREATE USER migrator@'127.%' IDENTIFIED BY 'x'")
    for (const options of [{ schema: 'by_migrator' }, { schema: 'by_migrator_2', players }]) {
      const privileges = 'CREATE, INDEX, REFERENCES, CREATE ROUTINE, ALTER ROUTINE'
      await admin.query(`GRANT ${privileges} ON ${options.schema}.* TO migrator@'127.%'`)
      await migrateMysql(poolWith({ user: 'migrator', password: 'x' }), options)
      await createMysqlStore(admin, options).ready()
    }
  })

  test('a pool that resets its connections', () => {
    for (const pool of [poolWith({ resetOnRelease: true }), poolWith({ resetOnRelease: true }).pool])
      expect(() => createMysqlStore(pool as never)).toThrow(/resetOnRelease/)
  })

  test('a pool with callbacks, and pools with other settings', async () => {
    const schema = 'clients'
    await migrateMysql(admin, { schema })
    await admin.query(`INSERT INTO ${schema}.wallet_players VALUES ('anna', 'EUR', 100)`)
    const callbacks = mysqlCallbacks.createPool(server.config)
    pools.push(callbacks.promise())
    const others = poolWith({
      ...{
        decimalNumbers: true,
        supportBigNumbers: true,
        rowsAsArray: false,
        namedPlaceholders: true,
        nestTables: true,
      },
      ...{ dateStrings: false, multipleStatements: true, typeCast: () => 'nonsense' },
    })
    let number = 0
    for (const client of [callbacks, others, poolWith({ typeCast: false })]) {
      number += 1
      const store = createMysqlStore(client, { schema })
      await store.ready()
      expect(await store.commit(placeBet(number, 'anna', '0.1'))).toMatchObject({ status: 'committed' })
      const { transaction } = await store.load(keysOf(placeBet(number, 'anna')))
      expect(transaction).toMatchObject({ amount: '0.100000000000000000', delta: '-0.100000000000000000' })
    }
  })
})
