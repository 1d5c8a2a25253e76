/** HTTP Basic authentication (RFC 7617), in constant time. */
import { timingSafeEqual } from 'node:crypto'
import { type HttpRequest, headerOf } from './message.js'

/**
 * Lets in who sends these credentials, in UTF-8.
 *
 * Always compares as many bytes as the secret has, so that neither its content nor where a guess goes wrong shows in
 * the time it takes.
 *
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
    throw new TypeError('basicAuth: username must be text that is not empty and has no colon')
  }
  if (typeof password !== 'string' || password === '') {
    throw new TypeError('basicAuth: password must be text that is not empty')
  }
  const expected = Buffer.from(`${username}:${password}`, 'utf8')
  return request => {
    const credentials =
      /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(headerOf(request, 'authorization') ?? '')?.[1] ?? ''
    const sent = Buffer.from(credentials, 'base64')
    const compared = Buffer.alloc(expected.length)
    sent.copy(compared) // cut, or filled up with zeros, to the length of what is expected
    const same = timingSafeEqual(compared, expected)
    return sent.length === expected.length && same
  }
}
