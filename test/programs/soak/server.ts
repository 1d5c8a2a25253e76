/** A wallet process of the soak: bet-wallet over PostgreSQL, as an operator would run it. */
import { createServer } from 'node:http'
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createNodeListener } from 'bet-wallet/http'
import { createPostgresStore } from 'bet-wallet/postgres'
import pg from 'pg'
import { faultyClient, faultyOptions, faultyStore } from './faults.js'
import { credentials, listen, reportFault, reportingCredits, settings } from './server-child.js'

const given = settings()
const { databaseUrl, players, fault, limits } = given

const pool = new pg.Pool({
  ...{ connectionString: databaseUrl, max: 8, application_name: 'bet-wallet' },
  ...(limits && { connectionTimeoutMillis: limits.connectMs }),
})
// The pool replaces idle connections that a kill of PostgreSQL has ended.
pool.on('error', () => {})

const database = createPostgresStore(faultyClient(fault, pool), {
  ...(players === null ? {} : { players }),
  ...(limits && { timeoutMs: limits.timeoutMs }),
  ...faultyOptions(fault),
})
const store = reportingCredits(faultyStore(fault, database))
const wallet = createNodeListener(store, {
  authenticate: basicAuth(credentials),
  routes: { '/settlement': body => recordSettlement(store, body) },
  onError: reportFault,
})
await listen(createServer(wallet), given)
