/** `players.version` on MariaDB or MySQL. */
import { versionColumn } from '../version-column.js'
import { describeOnServer } from './wallet.js'

const columns = { id: 'id', currency: 'currency', balance: 'balance', version: 'lock_version' }

describeOnServer('a version column', server => {
  versionColumn(
    ddl =>
      server.open({
        ddl: ['ALTER DATABASE SCHEMA CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci', ...ddl],
        options: {
          players: { table: 'SCHEMA.accounts', idCollation: 'utf8mb4_general_ci', ...columns },
          connectionsMax: 1,
        },
      }),
    "CALL SCHEMA.credit_bet_v1('bet-1', 'BET_PAID', '5')",
  )
})
