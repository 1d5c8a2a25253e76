/** `players.version` on PostgreSQL. */
import { versionColumn } from '../version-column.js'
import { databaseOfFile } from './wallet.js'

const database = await databaseOfFile()
const columns = { id: 'id', currency: 'currency', balance: 'balance', version: 'lock_version' }

versionColumn(
  ddl =>
    database.open({
      ddl: ddl.join(';'),
      options: { players: { table: 'SCHEMA.accounts', ...columns }, connectionsMax: 1 },
    }),
  "SELECT SCHEMA.credit_bet_v1('bet-1', 'BET_PAID', 5)",
)
