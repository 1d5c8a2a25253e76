/** Errors of the statements of lookups: the message names the rights that are needed, and what is missing. */
import { expect, test } from 'vitest'
import { QueryFailed } from '../../../src/stores/database/deadline.js'
import { askForLookups } from '../../../src/stores/database/lookups.js'
import * as mysql from '../../../src/stores/mysql/errors.js'
import { rightsOf as mysqlRightsOf } from '../../../src/stores/mysql/sql/rights.js'
import { tablesOf as mysqlTablesOf } from '../../../src/stores/mysql/tables.js'
import * as postgres from '../../../src/stores/postgres/errors.js'
import { rightsOf as postgresRightsOf } from '../../../src/stores/postgres/sql/rights.js'
import { tablesOf as postgresTablesOf } from '../../../src/stores/postgres/tables.js'

const postgresError = (code: string) => ({ code, severity: 'ERROR', message: 'the words' })
const mysqlError = (errno: number) => ({ errno, sqlState: '42000', message: 'the words' })

const failing = (error: object) => async () => {
  throw new QueryFailed(error, false)
}

const onPostgres = (error: object) =>
  askForLookups(
    failing(error),
    { ...postgres.statementErrors, isMissing: cause => postgres.hasCode(cause, '42P01') },
    postgresRightsOf(postgresTablesOf({}), 'lookups'),
  )
const onMysql = (error: object) =>
  askForLookups(
    failing(error),
    { ...mysql.statementErrors, isMissing: cause => mysql.hasNumber(cause, 1146) },
    mysqlRightsOf(mysqlTablesOf({}), 'lookups'),
  )

test.each([
  [
    'PostgreSQL',
    onPostgres(postgresError('42501')),
    'SELECT ON "bet_wallet".transactions; SELECT ON "bet_wallet".bets; SELECT ON "bet_wallet".options; and SELECT on the columns of the players\' table',
  ],
  [
    'MySQL',
    onMysql(mysqlError(1142)),
    "SELECT ON `bet_wallet`.wallet_transactions; SELECT ON `bet_wallet`.wallet_bets; and SELECT on the columns of the players' table",
  ],
])('a right that is missing, on %s: the message lists those that lookups need', async (_, ask, rights) => {
  await expect(ask('', [])).rejects.toMatchObject({
    code: 'INSUFFICIENT_PRIVILEGE',
    message: expect.stringContaining(rights),
  })
  await expect(ask('', [])).rejects.toThrow('The user of lookups lacks privileges (the words')
})

test.each([
  ['PostgreSQL', onPostgres(postgresError('42P01'))],
  ['MySQL', onMysql(mysqlError(1146))],
])('a table that is missing, on %s: INVALID_PLAYERS_TABLE', async (_, ask) => {
  await expect(ask('', [])).rejects.toMatchObject({
    code: 'INVALID_PLAYERS_TABLE',
    message: expect.stringContaining('does not exist as the options name it (the words'),
  })
})
