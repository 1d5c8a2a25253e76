/** Reserved funds (D29) on MariaDB or MySQL. */
import { createMysqlLookups } from 'bet-wallet/mysql'
import { mysqlOutbox } from '../../../src/stores/mysql/relay.js'
import { reservedFunds } from '../reserved-funds.js'
import { describeOnServer } from './wallet.js'

const columns = { id: 'id', currency: 'currency', balance: 'balance', reserved: 'locked' }

describeOnServer('reserved funds', server => {
  reservedFunds(async ({ ddl, options, withinTransaction }) => {
    const players = { table: 'SCHEMA.accounts', idCollation: 'utf8mb4_general_ci', ...columns, ...options }
    const made = await server.open({
      ddl: ['ALTER DATABASE SCHEMA CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci', ...ddl],
      options: { players, outbox: true, connectionsMax: 1, ...(withinTransaction && { withinTransaction }) },
    })
    return {
      ...made,
      lookups: createMysqlLookups(server.admin, { schema: made.schema, allowScan: true }),
      outbox: mysqlOutbox(server.admin, made.schema),
    }
  })
})
