/** Without the option, the SQL of a migration has nothing of the outbox: it costs nothing. */
import { describe, expect, test } from 'vitest'
import { mysqlMigrationSql } from '../../src/stores/mysql/index.js'
import { postgresMigrationSql } from '../../src/stores/postgres/index.js'

describe.each([
  ['PostgreSQL', postgresMigrationSql],
  ['MySQL', mysqlMigrationSql],
])('given the migration for %s', (_, sqlOf) => {
  test('when the option is absent, then its SQL is that of false, and does not name the outbox', () => {
    expect(sqlOf({})).not.toMatch(/outbox/i)
    expect(sqlOf({ outbox: false })).toBe(sqlOf({}))
  })

  test('when it is true, then its SQL creates and fills the outbox', () => {
    expect(sqlOf({ outbox: true })).toMatch(/CREATE TABLE [^;]*outbox/i)
    expect(sqlOf({ outbox: true })).toMatch(/INSERT INTO [^;]*outbox/i)
  })
})
