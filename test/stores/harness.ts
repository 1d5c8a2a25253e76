/** The kit's hooks on a real server of either engine, for every kind of players' table. */
import type { HeldCommit, HeldPlayer, StoreHarness } from 'bet-wallet/testing'
import Big from 'big.js'
import type { Account, Decimal, WalletStore } from '../../src/store.js'

/** A players' table: the library's own, or one of a PAM. */
export interface Accounts<Table> {
  name: string
  /** `null`: the library's own table. `SCHEMA` stands for the schema of the test. */
  ddl: string | null
  players?: (schema: string) => Table
  /** A player may have a row for each currency. */
  accountPerCurrency?: true
  /** The amount in the unit of the column. */
  columnOf(amount: Decimal, currency: string): string
  /** The value of the id column. Default: the playerId. */
  idOf?(playerId: string): string | Buffer
  /** Adds an amount, in the unit of the column, to the balance of a player: `?` and `?`. */
  add: string
  /** Reserves an amount of the balance, in place of a withdrawal: `?` and `?`. Then `balance_after` is compared too. */
  reserve?: string
  limits?: { digits: number; scale: number }
  playerIds?: 'plain'
}

export const unchanged = (amount: Decimal) => amount
/** In hundredths, for every currency: the PAM of this test stores them for the yen too. */
export function hundredths(amount: Decimal): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  if (/[1-9]/.test(fraction.slice(2))) throw new Error(`${amount} is not a whole number of hundredths`)
  return BigInt(`${whole}${fraction.slice(0, 2).padEnd(2, '0')}`).toString()
}

/** The same table with a column of reserved funds: a withdrawal reserves the amount. */
export const reserving = <Table>(
  { ddl, add, players, name, ...accounts }: Accounts<Table>,
  balance: string,
): Accounts<Table> => ({
  ...accounts,
  name: `reserved funds, ${name}`,
  ddl: `${ddl}`.replace(new RegExp(`${balance} (\\S+ NOT NULL)`), '$&, held $1 DEFAULT 0'),
  players: schema => ({ ...(players?.(schema) as Table), reserved: 'held' }),
  add,
  reserve: add.replaceAll(balance, 'held'),
})

/** The same table with a row for each currency, and its minor units: none for the yen. */
export const perCurrency = <Table>(
  { ddl, players, name, columnOf, ...accounts }: Accounts<Table>,
  key: string,
): Accounts<Table> => ({
  ...accounts,
  name: `an account for each currency, ${name}`,
  ddl: `${ddl}`
    .replace(/ NOT NULL UNIQUE,|(?<!IDENTITY|AUTO_INCREMENT) PRIMARY KEY,/, ' NOT NULL,')
    .replace(/\)(?=[^)]*$)/, `, UNIQUE (${key}))`),
  players: schema => {
    const table = players?.(schema) as Table
    const isMinor = 'minorUnits' in (table as object)
    return {
      ...{ ...table, accountPerCurrency: true },
      ...(isMinor ? { minorUnits: { EUR: 2, SEK: 2, BTC: 8, JPY: 0 } } : {}),
    }
  },
  columnOf: (amount, currency) =>
    columnOf === hundredths && currency === 'JPY' ? amount.replace(/[.]0+$/, '') : columnOf(amount, currency),
  accountPerCurrency: true,
})

/** A store with connections of its own. */
export interface StoreOnServer<Store> {
  store: Store
  /** Closes its connections. */
  end(): Promise<unknown>
}

export interface Opened<Store, Server> {
  store: Store
  schema: string
  onServer: Server[]
}

interface PlayersTable {
  table: string
  id: string
  currency: string
  balance: string
}

/** What the engines do differently. */
export interface Engine<Store, Server, Table extends PlayersTable> {
  /** A statement of the PAM with `?` for its values. Returns rows as arrays. */
  query(text: string, values?: readonly unknown[]): Promise<unknown[][]>
  /** Statements of the PAM in one database transaction. */
  transaction(...statements: [text: string, values: readonly unknown[]][]): Promise<void>
  /** Of a column. */
  quoted(name: string): string
  ownTable(schema: string): Table
  /** Creates an empty schema: the players' table of `ddl`, the library's tables, the triggers of `holdCommit`. */
  createSchema(schema: string, ddl: string | null): Promise<void>
  /** Opens the `number`-th store of the schema. */
  connect(schema: string, number: number): Promise<Server>
  /** Terminates every connection of the stores, and waits until the server has rolled back. */
  terminate(opened: Opened<Store, Server>): Promise<void>
  /** Deletes all rows of the library's tables and of the players' table. */
  empty(schema: string, players: string): Promise<void>
  /** Books an external settlement of a bet: `?` id, `?` type, `?` amount. */
  creditBet(schema: string): string
  /** The balance that a commit has recorded: `?` is its walletTransactionId. */
  recordedBalance(schema: string): string
  holdCommit(schema: string): Promise<HeldCommit>
  /** @param row as in `SELECT … FROM <row>`, with `?` for the id */
  holdPlayer(row: string, id: string | Buffer): Promise<HeldPlayer>
}

/** In every store: a commit that the kit holds must not time out. One whose player the kit holds must. */
export const timeouts = { timeoutMs: 120_000, lockTimeoutMs: 5_000 }

let schemas = 0

/** Puts the test's schema in place of SCHEMA. */
export const inSchema = (text: string, schema: string) => text.replaceAll('SCHEMA', schema)

/** A harness with every hook. */
export function databaseHarness<
  Store extends WalletStore,
  Server extends StoreOnServer<Store>,
  Table extends PlayersTable,
>(engine: Engine<Store, Server, Table>, accounts: Accounts<Table>): StoreHarness<Opened<Store, Server>> {
  const { query, quoted } = engine
  /** Empty schemas for reuse: creating one takes longer than most cases. */
  const free: string[] = []

  const idOf = (playerId: string) => accounts.idOf?.(playerId) ?? playerId

  /** The players' table, with its columns quoted. */
  function tableOf(schema: string): PlayersTable {
    const { table, id, currency, balance } = accounts.players?.(schema) ?? engine.ownTable(schema)
    return { table, id: quoted(id), currency: quoted(currency), balance: quoted(balance) }
  }

  async function createSchema(): Promise<string> {
    schemas += 1
    const schema = `kit_${process.pid}_${schemas}`
    await engine.createSchema(schema, accounts.ddl && inSchema(accounts.ddl, schema))
    return schema
  }

  async function connect({ schema, onServer }: Pick<Opened<Store, Server>, 'schema' | 'onServer'>) {
    const opened = await engine.connect(schema, onServer.length)
    onServer.push(opened)
    return accounts.reserve === undefined ? opened.store : comparing(opened.store, schema)
  }

  /** The same store; a commit whose answer is not what it has recorded throws. */
  const comparing = (store: Store, schema: string): Store => ({
    ...store,
    async commit(changes) {
      const result = await store.commit(changes)
      if (result.status !== 'committed') return result
      const [row] = await query(engine.recordedBalance(schema), [result.walletTransactionId])
      if (!Big(String(row?.[0])).eq(result.balance))
        throw new Error(`balance_after is ${row?.[0]}, and the answer ${result.balance}`)
      return result
    },
  })

  async function open(players: readonly Account[]): Promise<Opened<Store, Server>> {
    const schema = free.pop() ?? (await createSchema())
    const { table, id, currency, balance } = tableOf(schema)
    if (players.length > 0)
      await query(
        `INSERT INTO ${table} (${id}, ${currency}, ${balance}) VALUES ${players.map(() => '(?, ?, ?)').join()}`,
        players.flatMap(player => [
          idOf(player.playerId),
          player.currency,
          accounts.columnOf(player.balance, player.currency),
        ]),
      )
    const opened = { schema, onServer: [] }
    return { ...opened, store: await connect(opened) }
  }

  /** The statement of an external movement. */
  function adding(
    schema: string,
    playerId: string,
    amount: Decimal,
    code: string,
  ): [string, readonly unknown[]] {
    const column = accounts.columnOf(amount.replace('-', ''), code)
    const one = accounts.accountPerCurrency ? ` AND ${tableOf(schema).currency} = '${code}'` : ''
    const values = (change: string) => [change, idOf(playerId)]
    if (!amount.startsWith('-')) return [inSchema(accounts.add + one, schema), values(column)]
    return accounts.reserve === undefined
      ? [inSchema(accounts.add + one, schema), values(`-${column}`)]
      : [inSchema(accounts.reserve + one, schema), values(column)]
  }

  return {
    open,
    reopen: connect,

    async close(opened) {
      const { schema, onServer } = opened
      await engine.terminate(opened)
      await Promise.all(onServer.map(({ end }) => end()))
      const { table } = tableOf(schema)
      await engine.empty(schema, table)
      free.push(schema)
    },

    async crash(opened) {
      await engine.terminate(opened)
      return await connect(opened)
    },

    depositExternally: ({ schema }, playerId, amount, currency) =>
      engine.transaction(adding(schema, playerId, amount, currency)),

    settleExternally: ({ schema }, { playerId, betId, type, amount, currency }) =>
      engine.transaction(adding(schema, playerId, amount, currency), [
        engine.creditBet(schema),
        [betId, type, amount],
      ]),

    holdCommit: ({ schema }) => engine.holdCommit(schema),

    holdPlayer({ schema }, playerId, code) {
      const { table, id, currency } = tableOf(schema)
      const one = accounts.accountPerCurrency ? ` AND ${currency} = '${code}'` : ''
      return engine.holdPlayer(`${table} WHERE ${id} = ?${one}`, idOf(playerId))
    },

    async changeCurrency({ schema }, playerId, code) {
      const { table, id, currency } = tableOf(schema)
      await query(`UPDATE ${table} SET ${currency} = ? WHERE ${id} = ?`, [code, idOf(playerId)])
    },

    // Only withinTransaction refuses bets: test/stores/own-rows.test.ts.
    refuseBets: null,
    // A PAM may close an account in a column of its own: the store does not read it.
    closePlayer: null,
    // Hooks that write rows: test/stores/own-rows.test.ts.
    ownRows: null,
    // The store keeps everything.
    advanceClock: null,

    accountPerCurrency: accounts.accountPerCurrency ?? null,
    ...(accounts.limits === undefined ? {} : { limits: accounts.limits }),
    ...(accounts.playerIds === undefined ? {} : { playerIds: accounts.playerIds }),
  }
}
