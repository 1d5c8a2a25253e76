import { beforeEach, describe, expect, test, vi } from 'vitest'
import { basicAuth } from '../../src/http/index.js'
import { placeBetRequest } from './calls.js'

const compared = vi.hoisted(() => [] as [Uint8Array, Uint8Array][])
vi.mock('node:crypto', async importOriginal => {
  const crypto = await importOriginal<typeof import('node:crypto')>()
  return {
    ...crypto,
    timingSafeEqual: (a: Uint8Array, b: Uint8Array) => {
      compared.push([a, b])
      return crypto.timingSafeEqual(a, b)
    },
  }
})
beforeEach(() => {
  compared.length = 0
})

const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64')
const letsIn = (credentials: { username: string; password: string }, authorization?: string | string[]) =>
  basicAuth(credentials)(placeBetRequest({ headers: { authorization } }))

const platform = { username: 'platform', password: 'secret' }

describe('basicAuth', () => {
  test.each<[string, typeof platform, string]>([
    ['these credentials', platform, `Basic ${base64('platform:secret')}`],
    ['the scheme in any case', platform, `bASIC ${base64('platform:secret')}`],
    ['spaces around', platform, `Basic   ${base64('platform:secret')}  `],
    ['base64 without its padding', platform, `Basic ${base64('platform:secret').replace(/=+$/, '')}`],
    ['colons in the password', { username: 'a', password: ':b:c:' }, `Basic ${base64('a::b:c:')}`],
    [
      'other alphabets, in UTF-8',
      { username: 'плат', password: 'pässwörd 😀' },
      `Basic ${base64('плат:pässwörd 😀')}`,
    ],
    [
      'bytes that base64 writes with + and /',
      { username: 'a', password: 'ûï¿>?>?' },
      `Basic ${base64('a:ûï¿>?>?')}`,
    ],
    [
      'a password of many characters',
      { username: 'a', password: 'x'.repeat(5000) },
      `Basic ${base64(`a:${'x'.repeat(5000)}`)}`,
    ],
  ])('lets in %s', (_, credentials, authorization) => {
    expect(letsIn(credentials, authorization)).toBe(true)
    expect(letsIn(credentials, [authorization])).toBe(true)
  })

  test.each<[string, string | string[] | undefined]>([
    ['nothing', undefined],
    ['an empty header', ''],
    ['the scheme alone', 'Basic'],
    ['empty credentials', 'Basic '],
    ['another password', `Basic ${base64('platform:other!')}`],
    ['another user name', `Basic ${base64('somebody:secret')}`],
    ['a password that is longer', `Basic ${base64('platform:secrets')}`],
    ['a password that is shorter', `Basic ${base64('platform:secre')}`],
    ['no password', `Basic ${base64('platform:')}`],
    ['no colon', `Basic ${base64('platformsecret')}`],
    ['the colon elsewhere', `Basic ${base64('platfor:msecret')}`],
    ['another case', `Basic ${base64('Platform:secret')}`],
    ['a NUL behind', `Basic ${base64('platform:secret\0')}`],
    ['a line break behind', `Basic ${base64('platform:secret\n')}`],
    ['no base64', 'Basic platform:secret'],
    ['base64 of another alphabet', `Basic ${base64('platform:secret')}-_`],
    ['base64 with something behind', `Basic ${base64('platform:secret')} x`],
    ['base64 with something before', `Basic x ${base64('platform:secret')}`],
    ['base64 twice', `Basic ${base64('platform:secret')}, Basic ${base64('platform:secret')}`],
    ['no space', `Basic${base64('platform:secret')}`],
    ['a tab', `Basic\t${base64('platform:secret')}`],
    ['another scheme', `Bearer ${base64('platform:secret')}`],
    ['the credentials as they are', 'platform:secret'],
    ['two headers', [`Basic ${base64('platform:secret')}`, `Basic ${base64('platform:secret')}`]],
  ])('does not let in %s', (_, authorization) => {
    expect(letsIn(platform, authorization)).toBe(false)
  })

  test('does not take Latin-1 for UTF-8', () => {
    const latin1 = Buffer.from('platform:sécret', 'latin1').toString('base64')
    expect(letsIn({ username: 'platform', password: 'sécret' }, `Basic ${latin1}`)).toBe(false)
  })

  test('compares as many bytes as the secret has, whatever comes, and nothing else', () => {
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
    // What is expected is made once, and never from what is sent.
    expect(new Set(compared.map(([, expected]) => expected)).size).toBe(1)
  })

  test('keeps no copy that somebody could change', () => {
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
  ])('is not made of %j', credentials => {
    expect(() => basicAuth(credentials as typeof platform)).toThrow(TypeError)
  })
})
