import { describe, expect, test } from 'vitest'
import { basicAuth } from '../../src/http/index.js'
import { placeBetRequest } from './calls.js'
import { recordComparisons } from './comparisons.js'

const compared = recordComparisons()

const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64')
const authenticates = (
  credentials: { username: string; password: string },
  authorization?: string | string[],
) => basicAuth(credentials)(placeBetRequest({ headers: { authorization } }))

const platform = { username: 'platform', password: 'secret' }

describe('given basicAuth', () => {
  test.each<[string, typeof platform, string]>([
    ['the expected credentials', platform, `Basic ${base64('platform:secret')}`],
    ['the scheme in any case', platform, `bASIC ${base64('platform:secret')}`],
    ['spaces around', platform, `Basic   ${base64('platform:secret')}  `],
    ['base64 without its padding', platform, `Basic ${base64('platform:secret').replace(/=+$/, '')}`],
    ['colons in the password', { username: 'a', password: ':b:c:' }, `Basic ${base64('a::b:c:')}`],
    [
      'characters beyond ASCII, in UTF-8',
      { username: 'плат', password: 'pässwörd 😀' },
      `Basic ${base64('плат:pässwörd 😀')}`,
    ],
    [
      'bytes that base64 encodes with + and /',
      { username: 'a', password: 'ûï¿>?>?' },
      `Basic ${base64('a:ûï¿>?>?')}`,
    ],
    [
      'a very long password',
      { username: 'a', password: 'x'.repeat(5000) },
      `Basic ${base64(`a:${'x'.repeat(5000)}`)}`,
    ],
  ])('when a call sends %s, then it is authenticated', (_, credentials, authorization) => {
    expect(authenticates(credentials, authorization)).toBe(true)
    expect(authenticates(credentials, [authorization])).toBe(true)
  })

  test.each<[string, string | string[] | undefined]>([
    ['no header', undefined],
    ['an empty header', ''],
    ['the scheme alone', 'Basic'],
    ['empty credentials', 'Basic '],
    ['another password', `Basic ${base64('platform:other!')}`],
    ['another user name', `Basic ${base64('other:secret')}`],
    ['a longer password', `Basic ${base64('platform:secrets')}`],
    ['a shorter password', `Basic ${base64('platform:secre')}`],
    ['no password', `Basic ${base64('platform:')}`],
    ['no colon', `Basic ${base64('platformsecret')}`],
    ['the colon elsewhere', `Basic ${base64('platfor:msecret')}`],
    ['the user name in another case', `Basic ${base64('Platform:secret')}`],
    ['a NUL after the password', `Basic ${base64('platform:secret\0')}`],
    ['a line break after the password', `Basic ${base64('platform:secret\n')}`],
    ['credentials that are not base64', 'Basic platform:secret'],
    ['base64 of another alphabet', `Basic ${base64('platform:secret')}-_`],
    ['text after the base64', `Basic ${base64('platform:secret')} x`],
    ['text before the base64', `Basic x ${base64('platform:secret')}`],
    ['the credentials twice', `Basic ${base64('platform:secret')}, Basic ${base64('platform:secret')}`],
    ['no space after the scheme', `Basic${base64('platform:secret')}`],
    ['a tab after the scheme', `Basic\t${base64('platform:secret')}`],
    ['another scheme', `Bearer ${base64('platform:secret')}`],
    ['the plain credentials', 'platform:secret'],
    ['two headers', [`Basic ${base64('platform:secret')}`, `Basic ${base64('platform:secret')}`]],
  ])('when a call sends %s, then it is rejected', (_, authorization) => {
    expect(authenticates(platform, authorization)).toBe(false)
  })

  test('when a call sends the password in Latin-1, then it is rejected', () => {
    const latin1 = Buffer.from('platform:sécret', 'latin1').toString('base64')
    expect(authenticates({ username: 'platform', password: 'sécret' }, `Basic ${latin1}`)).toBe(false)
  })

  test('when credentials of any length are sent, then exactly as many bytes are compared as are expected', () => {
    const check = basicAuth(platform)
    const sent = [
      undefined,
      '',
      'Basic !',
      `Basic ${base64('p')}`,
      `Basic ${base64('platform:secret')}`,
      `Basic ${base64('x'.repeat(9000))}`,
    ]
    for (const authorization of sent) check(placeBetRequest({ headers: { authorization } }))
    expect(compared).toHaveLength(sent.length)
    for (const pair of compared) expect(pair.map(bytes => bytes.byteLength)).toEqual([15, 15])
    // Without credentials, zeros are compared.
    for (const [bytes] of compared.slice(0, 3)) expect(bytes).toEqual(Buffer.alloc(15))
    // The expected bytes are created once, and never from the sent ones.
    expect(new Set(compared.map(([, expected]) => expected)).size).toBe(1)
  })

  test('when two are accepted while one is changed, then each of them is, and both are always compared', () => {
    const check = basicAuth({ username: 'new', password: 'longer secret' }, platform)
    const ask = (sent: string) => {
      compared.length = 0
      const accepted = check(placeBetRequest({ headers: { authorization: `Basic ${base64(sent)}` } }))
      expect(compared.map(pair => pair.map(bytes => bytes.byteLength))).toEqual([
        [17, 17],
        [15, 15],
      ])
      return accepted
    }
    expect([ask('new:longer secret'), ask('platform:secret')]).toEqual([true, true])
    expect([ask('new:secret'), ask('platform:longer secret'), ask('')]).toEqual([false, false, false])
  })

  test('when it is created without credentials, then it throws', () => {
    expect(() => basicAuth()).toThrow(
      new TypeError('basicAuth: at least one user name and password is required'),
    )
  })

  test('when its credentials object is changed later, then the change has no effect', () => {
    const credentials = { ...platform }
    const check = basicAuth(credentials)
    credentials.password = 'changed'
    expect(check(placeBetRequest({ headers: { authorization: `Basic ${base64('platform:secret')}` } }))).toBe(
      true,
    )
  })

  test.each([
    { username: '', password: 'secret' },
    { username: 'platform', password: '' },
    { username: 'plat:form', password: 'secret' },
    { username: 'platform', password: undefined },
    { username: undefined, password: 'secret' },
    { username: 'platform', password: 12345678 },
    // Not text, from a caller in JavaScript:
    { username: ['a'], password: 'secret' },
    { username: 5, password: 'secret' },
    { username: 'platform', password: ['secret'] },
  ])('when it is created with %j, then it throws a TypeError that names the problem', credentials => {
    expect(() => basicAuth(credentials as typeof platform)).toThrow(
      /^basicAuth: (username must be non-empty text without a colon|password must be non-empty text)$/,
    )
    expect(() => basicAuth(credentials as typeof platform)).toThrow(TypeError)
  })
})
