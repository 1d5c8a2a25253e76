/** HTTP Basic authentication (RFC 7617), in constant time. */
import type { AuthenticationCall } from './authentication.js'
import { isExpected } from './constant-time.js'
import { type HttpRequest, headerOf, headerProblem } from './message.js'

export interface BasicCredentials {
  /** Not empty, without a colon. */
  username: string
  /** Not empty. */
  password: string
}

/**
 * Authenticates calls with these credentials, in UTF-8.
 *
 * The comparison always covers the full length of the expected credentials, so its duration reveals neither
 * their content nor the position of a wrong byte.
 *
 * @param accepted usually one; two while a password is changed
 * @returns a function for the option `authenticate`
 * @throws {TypeError} for an empty or missing user name or password, a user name with a colon, or no
 *   credentials
 */
export function basicAuth(
  ...accepted: readonly BasicCredentials[]
): (request: HttpRequest, call?: AuthenticationCall) => boolean {
  if (accepted.length === 0) throw new TypeError('basicAuth: at least one user name and password is required')
  const expected = accepted.map(bytesOf)
  return (request, call) => {
    const header = headerOf(request, 'authorization')
    const credentials = header?.match(/^basic +([A-Za-z0-9+/]+={0,2}) *$/i)?.[1]
    const sent = Buffer.from(credentials ?? '', 'base64')
    let authenticated = false
    for (const bytes of expected) {
      const same = isExpected(sent, bytes) // of all of them: the duration does not tell which
      authenticated ||= same
    }
    if (authenticated) return true
    const reason =
      headerProblem(request, 'authorization') ??
      (credentials === undefined ? 'authorization is not Basic' : 'wrong user name or password')
    call?.refuse(`basicAuth: ${reason}`)
    return false
  }
}

function bytesOf({ username, password }: BasicCredentials): Buffer {
  if (typeof username !== 'string' || username === '' || username.includes(':')) {
    throw new TypeError('basicAuth: username must be non-empty text without a colon')
  }
  if (typeof password !== 'string' || password === '') {
    throw new TypeError('basicAuth: password must be non-empty text')
  }
  return Buffer.from(`${username}:${password}`) // in UTF-8
}
