/** HTTP Basic authentication (RFC 7617), in constant time. */
import { timingSafeEqual } from 'node:crypto'
import { type HttpRequest, headerOf } from './message.js'

/**
 * Authenticates calls with these credentials, in UTF-8.
 *
 * The comparison always covers the full length of the expected credentials, so its duration reveals neither
 * their content nor the position of a wrong byte.
 *
 * @returns a function for the option `authenticate`
 * @throws {TypeError} for an empty or missing user name or password, or a user name with a colon
 */
export function basicAuth({
  username,
  password,
}: {
  username: string
  password: string
}): (request: HttpRequest) => boolean {
  if (typeof username !== 'string' || username === '' || username.includes(':')) {
    throw new TypeError('basicAuth: username must be non-empty text without a colon')
  }
  if (typeof password !== 'string' || password === '') {
    throw new TypeError('basicAuth: password must be non-empty text')
  }
  const expected = Buffer.from(`${username}:${password}`) // in UTF-8
  return request => {
    const header = headerOf(request, 'authorization')
    const credentials = header?.match(/^basic +([A-Za-z0-9+/]+={0,2}) *$/i)?.[1] ?? ''
    const sent = Buffer.from(credentials, 'base64')
    const compared = Buffer.alloc(expected.length)
    sent.copy(compared) // truncated or zero-padded to the expected length
    const same = timingSafeEqual(compared, expected)
    return sent.length === expected.length && same
  }
}
