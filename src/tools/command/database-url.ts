/** The database URL, checked before a driver sees it: a driver's errors quote what it cannot read. */
import { isA } from '../../foreign-values.js'
import { type Database, RightMissing } from './database.js'
import { mysqlDatabase } from './mysql.js'
import { several, text } from './option.js'
import { wordsOf } from './output.js'
import { postgresDatabase } from './postgres.js'
import { UsageError } from './usage-error.js'

/** The second is the application's, which may write: lookups and `check` should have a user of their own. */
const variables = ['BET_WALLET_DATABASE_URL', 'DATABASE_URL']
const flag = '--database-url <url>'
const meaning =
  'postgres://… or mysql://…; other users see it in the list of processes: use the variable. The driver (pg or postgres, or mysql2) is that of the current folder'

export const urlOption = { ...text(flag, meaning), variables }
export const urlsOption = {
  ...several(flag, `${meaning}; of several servers, in the variable with spaces between`, urls => urls),
  variables,
}

/** Of the environment; empty without one. */
export const databaseUrlsInEnvironment = () =>
  (variables.map(name => process.env[name]).find(Boolean) ?? '').trim()

/**
 * The URL of the option, or of the environment.
 *
 * @param others what else names the database, at the end of the message
 * @throws {UsageError} without both, and for several URLs
 */
export function databaseUrlOf(given: string | undefined, others = ''): string {
  const url = given ?? databaseUrlsInEnvironment()
  if (/\s/.test(url))
    throw new UsageError(
      'The database URL has a space in it. Only check reads several URLs: state one by --database-url',
    )
  if (url) return url
  throw new UsageError(
    `The database is missing: --database-url postgres://… or mysql://…, or ${variables.join(' or ')} (environment)${others}`,
  )
}

/**
 * @param advice what else to do without the driver
 * @throws {UsageError} for a URL that cannot be read, or is of another database. Never with its value
 * @throws {DatabaseError} without the driver
 */
export function openDatabase(url: string, advice = ''): Database {
  const scheme = schemeOf(url)
  if (scheme === 'postgres' || scheme === 'postgresql') return postgresDatabase(url, advice)
  if (scheme === 'mysql' || scheme === 'mariadb') return mysqlDatabase(url, advice)
  throw new UsageError(
    scheme === null
      ? 'The database URL cannot be read: postgres://user:password@host/database, with characters such as / ? # @ % in the password percent-encoded'
      : '--database-url must begin with postgres:// or mysql://',
  )
}

/** Calls `work` with the database, and closes it behind it. Errors do not show the password. */
export async function withDatabase<T>(
  url: string,
  work: (database: Database) => Promise<T>,
  advice = '',
): Promise<T> {
  const database = openDatabase(url, advice)
  try {
    return await work(database)
  } catch (error) {
    if (error instanceof RightMissing) error.message += ` ${error.statement((await database.about()).user)}`
    if (isA(error, Error)) error.message = withoutPassword(wordsOf(error), url)
    throw error
  } finally {
    await database.close()
  }
}

/** `user:password@/database` is the default host for drivers. */
export const parsed = (url: string) => new URL(url.replace('@/', '@localhost/'))

/**
 * The scheme in lower case; `null` for a URL that cannot be read, or that was not read as it was meant: a
 * `/`, `?` or `#` in a password that is not percent-encoded ends the host too early, and parts of the
 * password become its port, the name of the database or an option.
 */
function schemeOf(url: string): string | null {
  const scheme = /^([a-z]+):\/\//i.exec(url)?.[1]?.toLowerCase()
  if (scheme === undefined) return null
  try {
    const { pathname, search, hash, username, password } = parsed(url)
    for (const part of [username, password, pathname]) decodeURIComponent(part)
    return hash !== '' || `${pathname}${search}`.includes('@') ? null : scheme
  } catch {
    return null
  }
}

/** The text without the parts of the URL that are secret, as they are written and as they are sent. */
export function withoutPassword(text: string, url: string): string {
  const { password, searchParams } = parsed(url)
  const secrets = [password, decodeURIComponent(password), ...searchParams.getAll('password')]
  return secrets
    .filter(secret => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text.replaceAll(url, '***'))
}
