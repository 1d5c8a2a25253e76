/** A call as a line to paste into a shell. Secrets are named as variables of the environment, never written out. */

export interface CurlParts {
  method: string
  url: string
  /** `variable`: not the value but the name of an environment variable is shown, as in `"$WALLET_X_API_KEY"`. */
  headers: readonly { name: string; value: string; secret: boolean }[]
  /** `-u`: of the environment, a wrong password, or none. */
  user: 'given' | 'wrong' | 'none'
  body: Uint8Array | null
  /** A command that writes the body, where the body itself is too long to paste. */
  bodyCommand?: string
  /** Further options of curl's: `--max-time 0.05`. */
  options?: readonly string[]
}

export function curlLine({ method, url, headers, user, body, bodyCommand, options = [] }: CurlParts): string {
  const words = ['curl -i', ...options]
  if (method !== 'POST' || body === null) words.push(`-X ${method}`)
  if (user === 'given') words.push('-u "$WALLET_USER:$WALLET_PASSWORD"')
  if (user === 'wrong') words.push('-u "$WALLET_USER:not-the-password"')
  for (const { name, value, secret } of headers) {
    words.push(secret ? `-H "${name}: $${variableOf(name)}"` : `-H ${quoted(`${name}: ${value}`)}`)
  }
  const piped = body === null ? null : (bodyCommand ?? printfOf(body))
  if (piped !== null) words.push('--data-binary @-')
  else if (body !== null) words.push(`--data-binary ${quoted(Buffer.from(body).toString('utf8'))}`)
  words.push(quoted(url))
  return `${piped === null ? '' : `${piped} | `}${words.join(' ')}`
}

/** `X-Api-Key` is in `WALLET_X_API_KEY`. */
function variableOf(header: string): string {
  return `WALLET_${header.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`
}

/** One word of any POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Bytes that no argument can hold, or that `@` would make a file name of: by printf, in octal where they are no text. */
function printfOf(body: Uint8Array): string | null {
  const text = Buffer.from(body).toString('utf8')
  const plain = Buffer.from(text, 'utf8').equals(Buffer.from(body)) && !/^@|[\p{Cc}\ufeff]/u.test(text)
  if (plain) return null
  const escaped = Array.from(body, byte => {
    const character = String.fromCharCode(byte)
    if (character === '%') return '%%'
    return /[ -~]/.test(character) && !/['\\]/.test(character)
      ? character
      : `\\${byte.toString(8).padStart(3, '0')}`
  }).join('')
  return `printf '${escaped}'`
}
