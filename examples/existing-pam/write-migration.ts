/** Writes the migration of bet-wallet, to be checked in: once, and again when a release changes it. */
import { writeFileSync } from 'node:fs'
import { postgresMigrationSql } from 'bet-wallet/postgres'
import { tables } from './wallet.js'

writeFileSync(new URL('./migrations/003-bet-wallet.sql', import.meta.url), postgresMigrationSql(tables))
