/**
 * Express 4 in CommonJS with mysql2, for signed calls. Lines with `yours` are there already. It creates the
 * tables, checks the store, and serves the platform's calls and, for the audit, settlements: remove this path in
 * production.
 */
const { recordSettlement } = require('bet-wallet')
const { createNodeListener, signature } = require('bet-wallet/http')
const { createMysqlStore, migrateMysql } = require('bet-wallet/mysql')
const express = require('express') // yours
const mysql = require('mysql2/promise')
const players = {
  table: 'pam.accounts',
  id: 'account_no',
  idCollation: 'utf8mb4_general_ci',
  currency: 'currency',
  balance: 'balance',
}
const app = express() // yours
const pool = mysql.createPool(process.env.DATABASE_URL) // for the wallet alone
async function start() {
  await migrateMysql(pool, { players })
  const store = createMysqlStore(pool, { players })
  await store.ready()
  app.use(
    '/wallet',
    createNodeListener(store, {
      authenticate: signature({
        header: 'x-signature',
        algorithm: 'hmac-sha256',
        secrets: [process.env.BET_WALLET_SECRET],
      }),
      routes: { '/settlement': body => recordSettlement(store, body) }, // for tests
    }),
  )
  app.listen(Number(process.env.PORT), '127.0.0.1') // yours
}
start().catch(error => {
  console.error(error)
  process.exit(1)
})
