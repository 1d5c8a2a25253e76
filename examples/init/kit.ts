// kit.ts
import { checkWalletStore } from 'bet-wallet/testing'
import { copy, createPool, pool } from './store.js'

async function main() {
  const second = createPool()
  const report = await checkWalletStore(
    {
      async open(players) {
        for (const statement of copy.create) await pool.query(statement)
        for (const { playerId, currency, balance } of players) {
          await pool.query(copy.insert, [playerId, currency])
          await pool.query(copy.deposit, [balance, ...copy.account(playerId, currency)])
        }
        await copy.migrate()
        return { store: copy.createStore(pool) }
      },
      reopen: () => copy.createStore(second),
      async depositExternally(_, playerId, amount, currency) {
        await pool.query(copy.deposit, [amount, ...copy.account(playerId, currency)])
      },
      async changeCurrency(_, playerId, currency) {
        await pool.query(copy.changeCurrency, [currency, playerId])
      },
      async holdPlayer(_, playerId, currency) {
        const connection = await copy.connect(second)
        await connection.query('BEGIN')
        await connection.query(copy.lock, copy.account(playerId, currency))
        return {
          async release() {
            await connection.query('ROLLBACK')
            connection.release()
          },
        }
      },
      advanceClock: null, // no record expires
      ownRows: null, // no hook writes rows
      ...copy.hooks, // who may not bet, and what the columns hold
      // crash, holdCommit: answered commits survive, and none is half done. stopReplication: also a failover
      // settleExternally: your own settlements beside the store
    },
    { runs: 20 },
  )
  if (report.passed) await pool.query(copy.drop) // or its rows explain the failure
  await Promise.all([pool.end(), second.end()])
  process.exitCode = report.passed ? 0 : 1
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
