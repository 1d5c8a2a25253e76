/**
 * The contestant of the store: a wallet written by hand with mysql2 and prepared statements. The tables have the
 * unique keys of the store's, without its constraints, and one credit per bet; the players' table is the same.
 */
import type mysql from 'mysql2/promise'
import {
  type Account,
  answerByHand,
  type HandWrittenAnswer,
  type HandWrittenRequest,
  type InTransaction,
  type Operation,
  type Statements,
  type StoredBet,
} from '../by-hand.js'

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
    credit decimal(38,18),
    owed decimal(38,18),
    recorded_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
  )`,
  `CREATE TABLE hand_transactions (
    id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    operation varchar(12) NOT NULL,
    transaction_id varchar(255) COLLATE utf8mb4_bin NOT NULL,
    player_id varchar(255) COLLATE utf8mb4_bin NOT NULL,
    bet_id varchar(255) COLLATE utf8mb4_bin NOT NULL,
    amount decimal(38,18),
    currency varchar(16),
    type varchar(15),
    delta decimal(38,18) NOT NULL,
    error_code varchar(64),
    transaction_date datetime(3) NOT NULL,
    recorded_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    UNIQUE KEY (operation, transaction_id)
  )`,
  'CREATE TABLE hand_proofs (id bigint unsigned NOT NULL PRIMARY KEY)',
]

const texts = {
  find: `SELECT CAST(id AS char) AS id, error_code AS errorCode FROM hand_transactions
    WHERE operation = ? AND transaction_id = ?`,
  account: 'SELECT balance, currency FROM hand_players WHERE player_id = ?',
  lock: 'SELECT balance, currency FROM hand_players WHERE player_id = ? FOR UPDATE',
  bet: 'SELECT status, stake, credit, owed FROM hand_bets WHERE bet_id = ?',
  insertBet:
    'INSERT IGNORE INTO hand_bets (bet_id, player_id, currency, stake, status) VALUES (?, ?, ?, ?, ?)',
  changeBet: 'UPDATE hand_bets SET status = ?, credit = ?, owed = ? WHERE bet_id = ?',
  record: `INSERT INTO hand_transactions
      (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, error_code, transaction_date)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  changeBalance: 'UPDATE hand_players SET balance = balance + ? WHERE player_id = ?',
  addProof: 'INSERT INTO hand_proofs (id) VALUES (?)',
  removeProof: 'DELETE FROM hand_proofs WHERE id = ?',
}

/** With `execute`, which prepares each statement once per connection: the faster way to use mysql2. */
function statementsOf(connection: mysql.PoolConnection): Statements {
  type Values = (string | number | null)[]
  async function row<Row>(name: keyof typeof texts, values: Values): Promise<Row | null> {
    const [rows] = await connection.execute<mysql.RowDataPacket[]>(texts[name], values)
    return (rows[0] as Row | undefined) ?? null
  }
  async function write(name: keyof typeof texts, values: Values): Promise<mysql.ResultSetHeader> {
    const [header] = await connection.execute<mysql.ResultSetHeader>(texts[name], values)
    return header
  }
  return {
    find: (operation, transactionId) => row('find', [operation, transactionId]),
    account: playerId => row<Account>('account', [playerId]),
    lock: playerId => row<Account>('lock', [playerId]),
    bet: betId => row<StoredBet>('bet', [betId]),
    async insertBet({ betId, playerId, amount = 0 }, currency, status) {
      const { affectedRows } = await write('insertBet', [betId, playerId, currency, String(amount), status])
      return affectedRows === 1
    },
    async changeBet(betId, { status, credit, owed }) {
      await write('changeBet', [status, credit, owed, betId])
    },
    async record({ operation, request, delta, errorCode }) {
      const { transactionId, playerId, betId, amount, currency = null, type = null } = request
      const date = request.transactionDate.replace('T', ' ').replace('Z', '')
      const money = [amount === undefined ? null : String(amount), currency, type, String(delta)]
      const values = [operation, transactionId, playerId, betId, ...money, errorCode, date]
      return String((await write('record', values)).insertId)
    },
    async changeBalance(playerId, delta) {
      await write('changeBalance', [String(delta), playerId])
      return (await row<Account>('account', [playerId]))?.balance ?? ''
    },
    async prove() {
      const id = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)
      await write('addProof', [id])
      await write('removeProof', [id])
    },
  }
}

function transactionsOf(pool: mysql.Pool): InTransaction {
  return async work => {
    const connection = await pool.getConnection()
    try {
      await connection.beginTransaction()
      const answer = await work(statementsOf(connection))
      await connection.commit()
      connection.release()
      return answer
    } catch (error) {
      // What is open on it is rolled back by the server.
      connection.destroy()
      throw error
    }
  }
}

export const sendByHand = (
  pool: mysql.Pool,
  operation: Operation,
  request: HandWrittenRequest,
): Promise<HandWrittenAnswer> => answerByHand(transactionsOf(pool), operation, request)
