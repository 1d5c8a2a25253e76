/**
 * NestJS and TypeORM on PostgreSQL. Lines with `yours` are there already. It creates the tables, checks the
 * store, and serves the platform's calls and, for the audit, settlements: remove this path in production.
 */
import 'reflect-metadata' // yours
import { NestFactory } from '@nestjs/core' // yours
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createNodeListener } from 'bet-wallet/http'
import { createPostgresStore, fromTypeOrm, migratePostgres } from 'bet-wallet/postgres'
import { DataSource } from 'typeorm'
import { AppModule } from './app.module.js' // yours

const players = { table: 'pam.accounts', id: 'account_no', currency: 'currency', balance: 'balance' }
const app = await NestFactory.create(AppModule) // yours
const client = fromTypeOrm(app.get(DataSource))
await migratePostgres(client, { players })
const store = createPostgresStore(client, { players })
await store.ready()
app.use(
  '/wallet',
  createNodeListener(store, {
    authenticate: basicAuth({ username: 'platform', password: process.env.BET_WALLET_PASSWORD ?? '' }),
    routes: { '/settlement': body => recordSettlement(store, body) }, // for tests
  }),
)
await app.listen(Number(process.env.PORT), '127.0.0.1') // yours
