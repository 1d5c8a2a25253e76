/** DATABASE_URL of the examples: what is odd about it, said before a driver misreads it. */

const escapes = '@ as %40, / as %2F, : as %3A, # as %23, ? as %3F, % as %25'

/**
 * Never prints the URL: it contains a password.
 *
 * @param schemes the first of each kind is named in the message: `['postgres', 'postgresql', 'mysql']`
 * @throws {Error} with a message for the user
 */
export function mustBeDatabaseUrl(text: string, schemes: readonly string[]): void {
  const scheme = /^([a-z]+):\/\//i.exec(text)?.[1]?.toLowerCase() ?? ''
  const forms = schemes
    .filter(name => name !== 'postgresql')
    .map(name => `${name}://user:password@host:${name === 'mysql' ? 3306 : 5432}/database`)
  if (!schemes.includes(scheme))
    throw new Error(`DATABASE_URL must be a URL here, such as ${forms.join(' or ')}`)
  if (isMisread(text))
    throw new Error(
      `DATABASE_URL cannot be read as ${forms.find(form => form.startsWith(scheme.slice(0, 5)))}. ` +
        `A special character in the user or the password must be escaped: ${escapes}.`,
    )
}

/** With a / # or ? in the password, the host ends there: the rest, with its @, is path, fragment or query. */
function isMisread(text: string): boolean {
  let url: URL
  try {
    // `postgres://user@/database`, for a server on a socket, has no host.
    url = new URL(text.replace('@/', '@host/'))
    decodeURIComponent(url.username + url.password)
  } catch {
    return true
  }
  const isAfterHost = url.pathname.includes('@') || url.hash.includes('@')
  return isAfterHost || (url.username === '' && url.search.includes('@'))
}

/** @param error of the driver's first connection */
export function serverProblem(error: unknown): Error {
  const { code, message } = error as Error & { code?: string }
  return new Error(`The server that DATABASE_URL names cannot be used: ${message || code}`, { cause: error })
}
