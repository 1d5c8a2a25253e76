/** Credentials that a wallet must refuse, made from the given ones. */

import type { Caller } from '../wire/wallet-client.js'

interface Wrong {
  /** Without one, the user name stays right. */
  username?(given: string): string
  /** Of a password, or of the value of a secret header. Without one, both stay right. */
  secret?(given: string): string
  /** The user of curl, in the syntax of the shell. */
  curlUser: string
  /** The scheme that is wrong, while the others stay right. Without one, all of them are wrong. */
  only?: 'Authorization' | 'signature'
}

const user = '$WALLET_USER'
const same = (given: string) => given
const characters = (text: string) => Array.from(text)

function shortened(keep: (length: number) => number, shell: string): Wrong {
  return {
    secret: given =>
      characters(given)
        .slice(0, keep(characters(given).length))
        .join(''),
    curlUser: `"${user}:${shell}"`,
  }
}

const anotherSecret: Wrong = {
  secret: given => `${given}x`,
  curlUser: `"${user}:not-the-password"`,
}

/** By name, for the labels of calls. */
const wrongCredentials = {
  'wrong credentials': anotherSecret,
  'another Authorization': { ...anotherSecret, only: 'Authorization' },
  'a body that was changed after signing': { curlUser: `"${user}:$WALLET_PASSWORD"`, only: 'signature' },
  'an empty password': shortened(() => 0, ''),
  'the first character of the password': shortened(() => 1, '$(printf %.1s "$WALLET_PASSWORD")'),
  'the first half of the password': shortened(
    length => Math.floor(length / 2),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of the shell
    '$(printf "%.$((${#WALLET_PASSWORD} / 2))s" "$WALLET_PASSWORD")',
  ),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of the shell
  'all but the last character of the password': shortened(length => length - 1, '${WALLET_PASSWORD%?}'),
  'the password in the other case': {
    secret: given =>
      characters(given)
        .map(character =>
          character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase(),
        )
        .join(''),
    curlUser: `"${user}:$(printf %s "$WALLET_PASSWORD" | tr 'a-zA-Z' 'A-Za-z')"`,
  },
  'another user name': {
    username: given => `${given}-unknown`,
    curlUser: `"${user}-unknown:$WALLET_PASSWORD"`,
  },
} as const satisfies Record<string, Wrong>

export type WrongCredentials = keyof typeof wrongCredentials

/**
 * The wrong credentials for all schemes at once, and for those that must not be replaced by another one: a
 * wallet may check only a header beside them, which is no secret.
 */
export function schemesOf({ credentials, headers, sign }: Caller): WrongCredentials[] {
  const others = Object.keys(headers).filter(name => name !== 'authorization').length
  const hasAuthorization = credentials !== null || headers.authorization !== undefined
  return [
    'wrong credentials',
    ...(hasAuthorization && (others > 0 || sign !== null) ? (['another Authorization'] as const) : []),
    ...(sign !== null && (hasAuthorization || others > 0)
      ? (['a body that was changed after signing'] as const)
      : []),
  ]
}

/** @returns how such a call is authenticated, and the user of its curl line; `null`: none */
export function callerOf(
  { credentials, headers, sign }: Caller,
  name: 'none' | WrongCredentials | undefined,
): Caller & { curlUser: string | null } {
  if (name === 'none') return { credentials: null, headers: {}, sign: null, curlUser: null }
  if (name === undefined)
    return { credentials, headers, sign, curlUser: credentials && `"${user}:$WALLET_PASSWORD"` }
  const wrong: Wrong = wrongCredentials[name]
  const { username = same, secret = same } = wrong
  const changed = Object.entries(headers).map(([header, value]) => [
    header,
    wrongHeader(wrong, header, value),
  ])
  return {
    credentials: credentials && {
      username: username(credentials.username),
      password: secret(credentials.password),
    },
    headers: Object.fromEntries(changed),
    // The body that is signed is another one than the body that is sent.
    sign:
      sign &&
      (request =>
        sign(
          wrong.only === 'Authorization' ? request : { ...request, body: Buffer.of(...request.body, 32) },
        )),
    curlUser: credentials && wrong.curlUser,
  }
}

/** The value of a header with its secret changed: of an Authorization, the scheme stays. */
function wrongHeader(wrong: Wrong, name: string, given: string): string {
  if (wrong.only !== undefined && (wrong.only === 'signature' || name !== 'authorization')) return given
  const [, scheme = '', secret = given] = (name === 'authorization' && /^(\S+ +)(.+)$/.exec(given)) || []
  return `${scheme}${wrong.secret?.(secret) ?? secret}`
}

/**
 * Whether these credentials must be refused. A password of digits has no other case; the value of a header
 * may be one that has no case, such as hexadecimal digits.
 */
export function changesSecrets(
  name: WrongCredentials,
  { credentials, headers }: Omit<Caller, 'sign'>,
): boolean {
  const { username = same, secret = same }: Wrong = wrongCredentials[name]
  if (credentials !== null)
    return (
      username(credentials.username) !== credentials.username ||
      secret(credentials.password) !== credentials.password
    )
  if (name === 'the password in the other case') return false
  return Object.values(headers).some(value => secret(value) !== value)
}
