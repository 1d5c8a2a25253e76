/** The options of the commands that call a running wallet: who calls it, and how its bets are settled. */
import { signerOf } from '../wire/signer.js'
import {
  codes,
  duration,
  form,
  otherwise,
  outputs,
  readJson,
  several,
  text,
  whole,
  withSecret,
} from './option.js'
import { UsageError } from './usage-error.js'

const settleUrl = form(/^(?:\/(?!\/)|https?:)/, 'a path such as /settlement or a URL', ({ input }) => input)

export const walletOptions = {
  accounts: codes(
    '--accounts <codes>',
    'the currencies of all accounts of a player who has several: EUR,JPY',
  ),
  credentials: {
    ...withSecret(
      '--user <name>',
      'HTTP Basic; the password is never an argument',
      'BET_WALLET_PASSWORD',
      (username, password) => ({ username, password }),
    ),
    codeName: 'credentials.username',
  },
  headers: several('--header <name: value>', 'a header of every request', headersOf),
  sign: withSecret(
    '--sign <file.json>',
    'signs each body by HMAC; the secret is never an argument: { "header": "X-Signature" }, and as' +
      ' they differ algorithm (hmac-sha256), encoding (hex), prefix, timestampHeader, signed' +
      ' ("{timestamp}.{body}", with {method} and {path} too)',
    'BET_WALLET_SECRET',
    (file, secret, name) => signerOf(readJson(file, name), secret),
  ),
  settleUrl: {
    ...settleUrl(
      '--settle-url <url>',
      'settles by POST to a path below the base URL (/settlement) or a URL: transactionId, betId, playerId,' +
        ' type (BET_PAID, VOIDED, CASHOUT), amount, currency and transactionDate as JSON; 2xx is done',
    ),
    codeName: 'settle.url',
  },
  settleCommand: text(
    '--settle-command <line>',
    'settles by a shell command that reads the same JSON as one line; exit code 0 is done',
  ),
  concurrency: otherwise('16', whole('--concurrency <number>', 'the most requests at once')),
  seed: whole('--seed <number>', 'makes amounts and timing reproducible'),
  timeoutMs: otherwise('10s', duration('--timeout <duration>', 'for each answer')),
  ...outputs,
}

function headersOf(lines: readonly string[], name: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    // The message does not show the argument, since its value is a secret.
    if (colon < 1) throw new UsageError(`${name} must have the form "X-Api-Key: …"`)
    const header = line.slice(0, colon).trim().toLowerCase()
    if (header in headers) throw new UsageError(`${name} names ${header} twice`)
    headers[header] = line.slice(colon + 1).trim()
  }
  return headers
}

/** A URL or a command, not both; without either no bet is settled. */
export function settleOf(url: string | undefined, command: string | undefined) {
  if (url !== undefined && command !== undefined)
    throw new UsageError('--settle-url and --settle-command exclude each other')
  if (url !== undefined) return { url }
  return command === undefined ? ('unsupported' as const) : { command }
}
