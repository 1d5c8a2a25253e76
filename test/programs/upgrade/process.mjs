/** A wallet process of the release that is installed beside this file. Its settings are in its environment, as JSON. */
import { createServer } from 'node:http'
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createNodeListener } from 'bet-wallet/http'
import { stopGracefully } from 'bet-wallet/operations'

const { engine, url, schema, credentials } = JSON.parse(process.env.BET_WALLET_UPGRADE)

async function openStore() {
  if (engine === 'PostgreSQL') {
    const { default: pg } = await import('pg')
    const { createPostgresStore } = await import('bet-wallet/postgres')
    const pool = new pg.Pool({ connectionString: url, max: 8 })
    pool.on('error', () => {})
    return { store: createPostgresStore(pool, { schema }), pool }
  }
  const { default: mysql } = await import('mysql2/promise')
  const { createMysqlStore } = await import('bet-wallet/mysql')
  const pool = mysql.createPool({ uri: url, connectionLimit: 8 })
  return { store: createMysqlStore(pool, { schema }), pool }
}

const { store, pool } = await openStore()
await store.ready()
const server = createServer(
  createNodeListener(store, {
    authenticate: basicAuth(credentials),
    routes: { '/settlement': body => recordSettlement(store, body) },
    onError: error => console.error(error),
  }),
)
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
const stop = stopGracefully(server, { close: () => pool.end(), signals: [], idleMs: 100 })
process.on('message', () => stop().then(() => process.exit()))
process.on('disconnect', () => process.exit())
