/** Errors of the page's table by their causes, on a server of their own. failures.test.ts has all of them, by SIGNAL. */
import mysql, { type Pool, type PoolOptions } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MariadbServer } from '../../mariadb/server.js'
import { isMysql, noServer, startServer } from '../../mysql/engine.js'
import { until } from '../../until.js'
import { keysOf, openWallet, placeBet, settle, type Wallet } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

describe.skipIf(noServer !== null)(`errors of the server by their causes${reason}`, () => {
  /** Read at each start of the server. */
  const settings: Record<string, string> = { max_user_connections: '1000' }
  let server: MariadbServer
  let admin: Pool
  /** Of a user without the rights of an administrator, for whom the limits hold. */
  let config: PoolOptions
  let wallet: Wallet
  beforeAll(async () => {
    server = await startServer({ settings })
    await connect()
    await admin.query("CREATE USER store IDENTIFIED BY 'x'")
    await admin.query('GRANT ALL ON `wallet\\_%`.* TO store')
    config = { ...server.config, user: 'store', password: 'x' }
  })
  afterAll(async () => {
    await admin.end()
    await server.stop()
  })
  beforeEach(async () => {
    wallet = await openWallet({ admin, config, options: { connectionsMax: 1, lockTimeoutMs: 60_000 } })
  })
  afterEach(() => wallet.close())

  async function connect(): Promise<void> {
    admin = mysql.createPool({ ...server.config, multipleStatements: true })
    await admin.query('DO 0')
  }

  /** The number of the server's error on a new connection; `null`: there is none. */
  async function errorOf(text: string): Promise<number | null> {
    const connection = await mysql.createConnection(config).catch((error: { errno: number }) => error)
    if (!('query' in connection)) return connection.errno
    try {
      await connection.query(text.replaceAll('SCHEMA', wallet.schema))
      return null
    } catch (error) {
      return (error as { errno: number }).errno
    } finally {
      connection.destroy()
    }
  }

  const write = "UPDATE SCHEMA.wallet_players SET balance = 1 WHERE player_id = 'unknown'"
  const onlyConnection = (): Promise<mysql.Connection> => mysql.createConnection(config)

  const causes: [name: string, errno: number, cause: string, remedy: string][] = [
    [
      'a read-only server',
      1290,
      isMysql ? 'SET GLOBAL super_read_only = ON' : 'SET GLOBAL read_only = ON',
      isMysql ? 'SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF' : 'SET GLOBAL read_only = OFF',
    ],
    [
      'read-only database transactions',
      1792,
      `SET GLOBAL ${isMysql ? 'transaction_read_only' : 'tx_read_only'} = ON`,
      `SET GLOBAL ${isMysql ? 'transaction_read_only' : 'tx_read_only'} = OFF`,
    ],
    [
      'no connection left for the user',
      1203,
      'SET GLOBAL max_user_connections = 1',
      'SET GLOBAL max_user_connections = 1000',
    ],
    [
      "the account's limit",
      1226,
      'ALTER USER store WITH MAX_USER_CONNECTIONS 1',
      'ALTER USER store WITH MAX_USER_CONNECTIONS 0',
    ],
  ]

  test.each(causes)(
    '%s (%i): unavailable, and committed when it is gone',
    async (_, errno, cause, remedy) => {
      const other = await onlyConnection()
      await admin.query(cause)
      try {
        expect(await errorOf(write)).toBe(errno)
        expect(await wallet.store.commit(placeBet())).toEqual({ status: 'unavailable' })
      } finally {
        await admin.query(remedy)
        other.destroy()
      }
      expect(await wallet.recorded()).toEqual([])
      await until(async () => (await errorOf(write)) === null)
      expect(await wallet.store.commit(placeBet())).toMatchObject({ status: 'committed' })
      expect(await wallet.recorded()).toEqual(['placebet t-1 -30'])
    },
  )

  test('no connection left (1040): unavailable, and committed when there is one', async () => {
    const others: mysql.Connection[] = []
    const [rows] = await admin.query('SELECT @@max_connections AS max')
    await admin.query('SET GLOBAL max_connections = 10')
    try {
      while ((await errorOf('DO 0')) !== 1040) others.push(await onlyConnection().catch(() => null as never))
      expect(await wallet.store.commit(placeBet())).toEqual({ status: 'unavailable' })
    } finally {
      await admin.query(`SET GLOBAL max_connections = ${(rows as { max: number }[])[0]?.max}`)
      for (const other of others) other?.destroy()
    }
    expect(await wallet.store.commit(placeBet())).toMatchObject({ status: 'committed' })
  })

  test('a deadlock with PAM code that locks the bet before the player (1213): a conflict', async () => {
    await wallet.store.commit(placeBet())
    await wallet.run('CREATE TABLE SCHEMA.notes (id integer PRIMARY KEY) ENGINE = InnoDB')
    const pam = await wallet.otherSession()
    const { schema } = wallet
    await pam.query('BEGIN')
    // The server undoes the one that has changed fewer rows.
    const ids = Array.from({ length: 100 }, (_, id) => `(${id})`)
    await pam.query(`INSERT INTO ${schema}.notes VALUES ${ids.join(', ')}`)
    await pam.query(`SELECT 1 FROM ${schema}.wallet_bets WHERE bet_id = 'b-1' FOR UPDATE`)
    const settled = wallet.store.commit(settle())
    const waits = () =>
      wallet.rows("SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'")
    // The server repeats what it showed, until 0.1 s have passed without a look.
    await expect.poll(waits, { interval: 300 }).not.toHaveLength(0)
    await pam.query(`UPDATE ${schema}.wallet_players SET balance = balance + 1 WHERE player_id = 'alice'`)
    expect(await settled).toMatchObject({ status: 'conflict' })
    await pam.query('COMMIT')
    expect(await wallet.recorded()).toEqual(['placebet t-1 -30'])
    expect(await wallet.store.commit(settle())).toMatchObject({ status: 'committed', balance: '131' })
  })

  test('a server that shuts down during a commit (1053): unknown, and nothing is recorded', async () => {
    await wallet.store.ready()
    const hold = await wallet.otherSession()
    await hold.query("DO GET_LOCK('hold', 0)")
    await wallet.run(`CREATE TRIGGER SCHEMA.hold AFTER INSERT ON SCHEMA.wallet_transactions FOR EACH ROW
      DO GET_LOCK('hold', 600)`)
    const commit = wallet.store.commit(placeBet())
    const ended = expect(commit).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    await until(async () => (await wallet.waiting()).length > 0)
    await server.shutDown()
    await ended
    expect(await wallet.store.commit(placeBet())).toEqual({ status: 'unavailable' })
    await server.start()
    await admin.end().catch(() => {})
    await connect()
    const rows = async (text: string) => (await admin.query(text.replaceAll('SCHEMA', wallet.schema)))[0]
    expect(await rows('SELECT * FROM SCHEMA.wallet_transactions')).toEqual([])
    await admin.query(`DROP TRIGGER ${wallet.schema}.hold`)
    expect(await wallet.store.commit(placeBet())).toMatchObject({ status: 'committed', balance: '70' })
    await wallet.pool.end()
    await admin.query(`DROP DATABASE ${wallet.schema}`)
    wallet = await openWallet({ admin, config })
  })

  // read_only is OFF there.
  test('a server whose InnoDB is read-only, as that of a reader of Aurora: unavailable', async () => {
    await wallet.store.commit(placeBet())
    const { schema, store } = wallet
    await server.shutDown()
    settings.innodb_read_only = 'ON'
    await server.start()
    expect(await errorOf(write)).not.toBeNull()
    expect(await store.commit(placeBet(2))).toEqual({ status: 'unavailable' })
    const unavailable = { code: 'UNAVAILABLE' }
    for (const call of [() => store.load(keysOf(placeBet())), () => store.loadConfirmed(keysOf(placeBet()))])
      await expect(call()).rejects.toMatchObject(unavailable)
    await expect(store.ready()).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('this server is read-only'),
    })
    await server.shutDown()
    delete settings.innodb_read_only
    await server.start()
    await admin.end().catch(() => {})
    await connect()
    expect(await store.commit(placeBet(2))).toMatchObject({ status: 'committed', balance: '40' })
    await wallet.pool.end()
    await admin.query(`DROP DATABASE ${schema}`)
    wallet = await openWallet({ admin, config })
  })
})
