/** A call as a curl command to paste into a shell. Secrets are replaced by environment variables. */

interface CurlParts {
  method: string
  url: string
  /** `secret`: an environment variable replaces the value, for example `"$WALLET_X_API_KEY"`. */
  headers: readonly { name: string; value: string; secret: boolean }[]
  /** HTTP Basic, in the syntax of the shell: `"$WALLET_USER:$WALLET_PASSWORD"`. */
  user: string | null
  body: Uint8Array | null
  /** A command that prints the body, if it is too long to paste. */
  bodyCommand?: string | undefined
  /** Additional curl options: `--max-time 0.05`. */
  options?: readonly string[] | undefined
}

export function curlLine({ method, url, headers, user, body, bodyCommand, options = [] }: CurlParts): string {
  const words = ['curl -i', ...options]
  if (method !== 'POST' || body === null) words.push(`-X ${method}`)
  if (user !== null) words.push(`-u ${user}`)
  for (const { name, value, secret } of headers) {
    words.push(secret ? `-H "${name}: $${variableOf(name)}"` : `-H ${quoted(`${name}: ${value}`)}`)
  }
  const piped = body === null ? null : (bodyCommand ?? printfOf(body))
  if (piped !== null) words.push('--data-binary @-')
  else if (body !== null) words.push(`--data-binary ${quoted(Buffer.from(body).toString('utf8'))}`)
  words.push(quoted(url))
  return `${piped === null ? '' : `${piped} | `}${words.join(' ')}`
}

/** `WALLET_X_API_KEY` for `X-Api-Key`. */
function variableOf(header: string): string {
  return `WALLET_${header.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`
}

/** Of a URL or a path, without its query, which may hold a secret. */
export const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '?***')

/** The text as one word of a POSIX shell, quoted only if it must be. */
export const shellWord = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : quoted(text))

/** The text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A printf command, for a body that curl cannot take as an argument: not text, or starting with `@`. */
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
