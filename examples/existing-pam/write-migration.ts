/** Writes the library's part of the migrations, to be checked in: once, and again with every release that asks for it. */
import { writeFileSync } from 'node:fs'
import { postgresMigrationSql } from 'bet-wallet/postgres'
import { tables } from './wallet.js'

writeFileSync(new URL('./migrations/003-bet-wallet.sql', import.meta.url), postgresMigrationSql(tables))
