/**
 * A PAM with its accounts, in one of three layouts of a players' table or in the library's own table, and its
 * own movements of balances beside the wallet's. A trigger records every change of a balance by any writer:
 * the books that the soak is checked against.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { migratePostgres, type PlayersTable } from 'bet-wallet/postgres'
import type pg from 'pg'
import type { Random } from './random.js'

/** `own`: the table that the library's migration creates. */
export type AccountsKind = 'numeric' | 'cents' | 'text' | 'own'

export const currency = 'EUR'

/** How long a movement is retried while the database is down. */
const moveMsMax = 120_000

interface Layout {
  players: PlayersTable
  /**
   * Types of the columns. Only the library's own table has a CHECK on the balance: in the others, the wallet
   * alone keeps it from falling below zero.
   */
  columns: { id: string; balance: string }
  newId(number: number): string
  /** SQL expressions between the value of the balance column and an amount in cents. */
  toCents(value: string): string
  fromCents(cents: string): string
}

const layouts: Record<AccountsKind, Layout> = {
  numeric: {
    players: { table: 'pam.accounts', id: 'player', currency: 'currency', balance: 'available' },
    columns: { id: 'text', balance: 'numeric(14,2)' },
    newId: number => `player-${number}`,
    toCents: value => `(${value} * 100)`,
    fromCents: cents => `(${cents} / 100)`,
  },
  cents: {
    players: {
      table: 'pam.accounts',
      id: 'account_no',
      idType: 'bigint',
      currency: 'currency',
      balance: 'available_cents',
      balanceType: 'minor-units',
      minorUnits: 2,
    },
    columns: { id: 'bigint', balance: 'bigint' },
    newId: number => `${70_000 + number}`,
    toCents: value => `${value}::numeric`,
    fromCents: cents => `(${cents})::bigint`,
  },
  text: {
    players: {
      table: 'pam.accounts',
      id: 'account',
      idType: 'uuid',
      currency: 'currency',
      balance: 'available',
      balanceType: 'text',
    },
    columns: { id: 'uuid', balance: 'text' },
    newId: () => randomUUID(),
    toCents: value => `(${value}::numeric * 100)`,
    fromCents: cents => `trim_scale(${cents} / 100)::text`,
  },
  own: {
    players: { table: 'bet_wallet.players', id: 'player_id', currency: 'currency', balance: 'balance' },
    columns: { id: 'text', balance: 'numeric' },
    newId: number => `player-${number}`,
    toCents: value => `(${value} * 100)`,
    fromCents: cents => `trim_scale(${cents} / 100)`,
  },
}

export interface Accounts {
  readonly players: PlayersTable
  /** The option of the store and the migration: empty for the library's own table. */
  readonly tables: { players?: PlayersTable }
  /** The initial balance of each registered player, in cents. */
  readonly initialBalances: ReadonlyMap<string, number>
  /** The ids of the deposits and withdrawals whose success was acknowledged to the PAM. */
  readonly acknowledged: ReadonlySet<string>
  /** SQL query that returns (account text, cents numeric) for every account. */
  readonly balancesSql: string
  /**
   * SQL for the legacy integration: the cents of a row `a`, and an assignment that adds the variable `move`
   * to them.
   */
  readonly balanceSql: { of: string; add: string }
  /**
   * Changes a balance as an external writer does: in its own statement, retried until its outcome is known. A
   * withdrawal above the balance changes nothing.
   */
  move(playerId: string, cents: number): Promise<void>
  /** Registers one more player, retried until it is acknowledged. @returns its id */
  register(cents: number): Promise<string>
  /** Locks the rows of these players until `release`, as a long transaction of an external writer does. */
  hold(playerIds: readonly string[]): Promise<{ release(): Promise<void> }>
}

export async function openAccounts(
  pool: pg.Pool,
  kind: AccountsKind,
  playersCount: number,
  random: Random,
): Promise<Accounts> {
  const { players, columns, newId, toCents, fromCents } = layouts[kind]
  const { table, id, balance } = players
  const initialBalances = new Map<string, number>()
  for (let number = 1; number <= playersCount; number += 1)
    initialBalances.set(newId(number), random.int(500, 4_000))

  const tables = kind === 'own' ? {} : { players }
  if (kind === 'own') await migratePostgres(pool)
  await pool.query(`
    CREATE SCHEMA pam;
    CREATE TABLE IF NOT EXISTS ${table} (
      ${id} ${columns.id} PRIMARY KEY,
      ${players.currency} text NOT NULL,
      ${balance} ${columns.balance} NOT NULL
    );
    -- Deposits, withdrawals, casino: every movement that is not the sportsbook's.
    CREATE TABLE pam.movements (id text PRIMARY KEY, account text NOT NULL, cents numeric NOT NULL);
    CREATE TABLE pam.changes (
      number bigserial PRIMARY KEY,
      account text NOT NULL,
      before_cents numeric NOT NULL,
      after_cents numeric NOT NULL,
      -- Before the commit, and after that of the previous change of this account.
      at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX ON pam.changes (account);
    CREATE FUNCTION pam.record_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO pam.changes (account, before_cents, after_cents)
        VALUES (NEW.${id}::text, ${toCents(`OLD.${balance}`)}, ${toCents(`NEW.${balance}`)});
        RETURN NULL;
      END $$;
    CREATE TRIGGER record_change AFTER UPDATE ON ${table} FOR EACH ROW
      WHEN (OLD.${balance} IS DISTINCT FROM NEW.${balance}) EXECUTE FUNCTION pam.record_change();`)
  const insertPlayers = `
    INSERT INTO ${table} (${id}, ${players.currency}, ${balance})
    SELECT (o->>0)::${columns.id}, '${currency}', ${fromCents('(o->>1)::numeric')} FROM json_array_elements($1::json) o`
  await pool.query(insertPlayers, [JSON.stringify([...initialBalances])])

  const acknowledged = new Set<string>()
  let movements = 0

  /** Retries a statement until its success is acknowledged. A retry must change nothing a second time. */
  async function retried(text: string, values: unknown[]): Promise<pg.QueryResult> {
    const until = performance.now() + moveMsMax
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await acknowledgedBy(pool, text, values)
      } catch (error) {
        // An earlier attempt, which was believed lost, has just committed.
        const overtaken = attempt > 1 && (error as { code?: unknown }).code === '23505'
        if ((!overtaken && !isTransient(error)) || performance.now() > until) throw error
        await sleep(50)
      }
    }
  }

  return {
    players,
    tables,
    initialBalances,
    acknowledged,
    balanceSql: {
      of: toCents(`a.${balance}`),
      add: `${balance} = ${fromCents(`(${toCents(`a.${balance}`)} + move)`)}`,
    },
    balancesSql: `SELECT ${id}::text AS account, ${toCents(balance)} AS cents FROM ${table}`,

    async move(playerId, cents) {
      movements += 1
      const movement = `movement-${movements}`
      const { rows } = await retried(
        `WITH changed AS (
          UPDATE ${table} SET ${balance} = ${fromCents(`(${toCents(balance)} + $3::numeric)`)}
          WHERE ${id} = $2::text::${columns.id} AND ${toCents(balance)} + $3::numeric >= 0
            AND NOT EXISTS (SELECT FROM pam.movements WHERE id = $1)
          RETURNING 1
        ), recorded AS (
          INSERT INTO pam.movements (id, account, cents) SELECT $1, $2, $3::numeric FROM changed RETURNING 1
        ) SELECT EXISTS (SELECT FROM recorded) OR EXISTS (SELECT FROM pam.movements WHERE id = $1) AS done,
          ${durableCommit}`,
        [movement, playerId, cents],
      )
      if (rows[0]?.done) acknowledged.add(movement)
    },

    async register(cents) {
      const playerId = newId(initialBalances.size + 1)
      // Reserves the number too. The books read it at the end.
      initialBalances.set(playerId, cents)
      await retried(`WITH added AS (${insertPlayers} ON CONFLICT DO NOTHING) SELECT ${durableCommit}`, [
        JSON.stringify([[playerId, cents]]),
      ])
      return playerId
    },

    async hold(playerIds) {
      const connection = await pool.connect()
      connection.on('error', () => {}) // the statement rejects
      try {
        await connection.query('BEGIN')
        await connection.query(
          `SELECT FROM ${table} WHERE ${id}::text = ANY ($1) ORDER BY ${id} FOR UPDATE`,
          [playerIds],
        )
      } catch (error) {
        connection.release(true)
        throw error
      }
      return {
        release: async () => {
          try {
            await connection.query('COMMIT')
          } finally {
            connection.release()
          }
        },
      }
    },
  }
}

/**
 * Makes a statement that perhaps only reads wait for the standby too: what it has read may be a commit whose
 * wait was cancelled.
 */
const durableCommit = "pg_logical_emit_message(true, 'pam', '')"

/** Runs a statement. @throws also if its commit may exist on the primary only */
async function acknowledgedBy(pool: pg.Pool, text: string, values: unknown[]): Promise<pg.QueryResult> {
  const connection = await pool.connect()
  let failure: Error | undefined
  const onNotice = (notice: { routine?: string | undefined; message?: string | undefined }) => {
    if (notice.routine === 'SyncRepWaitForLSN') failure = new Error(`connection: ${notice.message}`)
  }
  connection.on('notice', onNotice)
  try {
    const result = await connection.query(text, values)
    if (failure !== undefined) throw failure
    return result
  } catch (error) {
    failure ??= error as Error
    throw error
  } finally {
    connection.off('notice', onNotice)
    connection.release(failure)
  }
}

/** Whether the database is down, or an answer was lost: then the statement is retried. */
export function isTransient(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return error instanceof Error && /[Cc]onnection|timeout/.test(error.message)
  // 25006: a standby.
  return (
    /^(?:08|57P|53|40|25006)/.test(code) ||
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', '55P03'].includes(code)
  )
}
