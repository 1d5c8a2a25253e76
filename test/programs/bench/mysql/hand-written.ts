/**
 * The contestant of the store: a placebet written by hand with mysql2 and prepared statements. The tables have the
 * columns and unique keys of the store's, without its constraints and its columns for settlements; the players' table
 * is the same.
 */
import type mysql from 'mysql2/promise'
import type { PlaceBet } from '../requests.js'

export const handWrittenSchema = [
  `CREATE TABLE hand_players (
    player_id varchar(255) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    currency varchar(16) NOT NULL,
    balance decimal(38,18) NOT NULL CHECK (balance >= 0)
  )`,
  `CREATE TABLE hand_bets (
    bet_id varchar(255) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    player_id varchar(255) COLLATE utf8mb4_bin NOT NULL,
    currency varchar(16) NOT NULL,
    stake decimal(38,18) NOT NULL,
    status varchar(11) NOT NULL,
    recorded_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
  )`,
  `CREATE TABLE hand_transactions (
    id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    operation varchar(12) NOT NULL,
    transaction_id varchar(255) COLLATE utf8mb4_bin NOT NULL,
    player_id varchar(255) COLLATE utf8mb4_bin NOT NULL,
    bet_id varchar(255) COLLATE utf8mb4_bin NOT NULL,
    amount decimal(38,18) NOT NULL,
    currency varchar(16) NOT NULL,
    delta decimal(38,18) NOT NULL,
    transaction_date datetime(3) NOT NULL,
    recorded_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    UNIQUE KEY (operation, transaction_id)
  )`,
]

export type HandWrittenAnswer =
  | { balance: string; currency: string; walletTransactionId: string }
  | { errorCode: string }

type Row = Record<string, string>

const statements = {
  lookUp: `SELECT id FROM hand_transactions WHERE operation = 'placebet' AND transaction_id = ?`,
  balance: 'SELECT balance, currency FROM hand_players WHERE player_id = ?',
  lock: 'SELECT balance, currency FROM hand_players WHERE player_id = ? FOR UPDATE',
  insertBet: `INSERT INTO hand_bets (bet_id, player_id, currency, stake, status) VALUES (?, ?, ?, ?, 'PLACED')`,
  insertTransaction: `INSERT INTO hand_transactions
    (operation, transaction_id, player_id, bet_id, amount, currency, delta, transaction_date)
    VALUES ('placebet', ?, ?, ?, ?, ?, ?, ?)`,
  debit: 'UPDATE hand_players SET balance = balance - ? WHERE player_id = ?',
}

/** With `execute`, which prepares each statement once per connection: the faster way to use mysql2. */
export async function placeBetByHand(pool: mysql.Pool, bet: PlaceBet): Promise<HandWrittenAnswer> {
  const connection = await pool.getConnection()
  async function read(name: keyof typeof statements, values: (string | number)[]): Promise<Row | undefined> {
    const [rows] = await connection.execute<mysql.RowDataPacket[]>(statements[name], values)
    return rows[0] as Row | undefined
  }
  async function write(name: keyof typeof statements, values: (string | number)[]): Promise<number> {
    const [{ insertId }] = await connection.execute<mysql.ResultSetHeader>(statements[name], values)
    return insertId
  }
  async function place(): Promise<HandWrittenAnswer> {
    const { transactionId, betId, playerId, amount, currency, transactionDate } = bet
    const known = await read('lookUp', [transactionId])
    if (known !== undefined) {
      const account = await read('balance', [playerId])
      if (account === undefined) return { errorCode: 'INVALID_PLAYER' }
      return { ...balanceOf(account), walletTransactionId: String(known.id) }
    }
    const account = await read('lock', [playerId])
    if (account === undefined) return { errorCode: 'INVALID_PLAYER' }
    if (account.currency !== currency) return { errorCode: 'INVALID_CURRENCY' }
    if (Number(account.balance) < amount) return { errorCode: 'INSUFFICIENT_FUNDS' }
    const stake = String(amount)
    await write('insertBet', [betId, playerId, currency, stake])
    const date = transactionDate.replace('T', ' ').replace('Z', '')
    const id = await write('insertTransaction', [
      transactionId,
      playerId,
      betId,
      stake,
      currency,
      `-${stake}`,
      date,
    ])
    await write('debit', [stake, playerId])
    const debited = await read('balance', [playerId])
    if (debited === undefined) throw new Error('A statement returned no row')
    return { ...balanceOf(debited), walletTransactionId: String(id) }
  }
  try {
    await connection.beginTransaction()
    const answer = await place()
    await connection.commit()
    connection.release()
    return answer
  } catch (error) {
    // What is open on it is rolled back by the server.
    connection.destroy()
    throw error
  }
}

const balanceOf = ({ balance = '', currency = '' }: Row) => ({ balance, currency })
