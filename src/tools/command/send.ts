/** `bet-wallet send`: sends one call, and explains the answer. */
import { randomBytes } from 'node:crypto'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { ParseArgsConfig } from 'node:util'
import type { Operation } from '../../store.js'
import { basicOf } from '../platform/checks.js'
import { shellWord } from '../platform/curl.js'
import { write } from '../platform/json.js'
import { maskOf, secretsIn, secretsOf } from '../platform/secrets.js'
import { type TargetSettings, targetSettingsOf, type WalletTarget } from '../platform/target.js'
import { bodyOf, type CallBody, type CallFields } from '../send/body.js'
import { type Explanation, explainAnswer, explainSilence } from '../send/explain.js'
import {
  authenticationOf,
  authenticationOptions,
  given,
  millisecondsOf,
  parseWords,
  required,
  UsageError,
} from './arguments.js'
import { sendHelp } from './help.js'
import { forTerminal, printJson, wordsOf } from './output.js'

const fieldOptions = {
  player: { type: 'string' },
  bet: { type: 'string' },
  transaction: { type: 'string' },
  amount: { type: 'string' },
  currency: { type: 'string' },
  type: { type: 'string' },
  date: { type: 'string' },
  session: { type: 'string' },
  odds: { type: 'string' },
  'bet-type': { type: 'string' },
} as const satisfies ParseArgsConfig['options']

const sendArguments = {
  ...authenticationOptions,
  ...fieldOptions,
  'settle-url': { type: 'string' },
  timeout: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options']

type Values = ReturnType<typeof parseWords<typeof sendArguments>>['values']

const operations: readonly Operation[] = ['placebet', 'rollbackbet', 'unsettlement', 'settlement']
const exitCodes: Record<Explanation['result'], number> = { accepted: 0, refused: 1, unknown: 2 }

/** Where `bet-wallet try` listens, and its first player. */
const defaultWallet = { baseUrl: 'http://127.0.0.1:3000/wallet', player: 'anna', currency: 'EUR' }

export async function send(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, sendArguments)
  if (values.help) {
    console.log(sendHelp)
    return 0
  }
  const [name = '', baseUrl, ...more] = positionals
  const operation = operations.find(each => each === name)
  if (operation === undefined || more.length > 0)
    throw new UsageError(
      `Name one call: bet-wallet send ${operations.join(' | ')}, and optionally a base URL`,
    )
  const settings = targetSettingsOf(
    {
      baseUrl: baseUrl ?? defaultWallet.baseUrl,
      ...authenticationOf(values),
      ...given('timeoutMs', millisecondsOf('--timeout', values.timeout)),
      settle: { url: values['settle-url'] ?? '/settlement' },
    } satisfies WalletTarget,
    'unsupported',
  )
  const fields = fieldsOf(operation, values, baseUrl === undefined)
  const body = bodyOf(operation, fields, randomBytes(4).toString('hex'), new Date())
  const isNew = values.transaction === undefined
  const sent = await exchange(operation, settings, body, isNew)
  if (values.json) printJson({ operation, ...sent, request: write(body) })
  else console.log(textOf(body, sent, sameCall(operation, baseUrl, body, values)))
  return exitCodes[sent.explanation.result]
}

function fieldsOf(operation: Operation, values: Values, isDefault: boolean): CallFields {
  const { player, currency } = isDefault ? { ...defaultWallet, ...values } : values
  if (operation !== 'placebet' && values.bet === undefined)
    throw new UsageError(`${operation} needs --bet: the betId of its placebet`)
  const hasCurrency = operation === 'placebet' || operation === 'settlement'
  return {
    playerId: required('--player', player),
    ...given('betId', values.bet),
    ...given('transactionId', values.transaction),
    ...given('amount', values.amount),
    ...(hasCurrency ? { currency: required('--currency', currency) } : {}),
    ...given('type', values.type),
    ...given('transactionDate', values.date),
    ...given('sessionId', values.session),
    ...given('odds', values.odds),
    ...given('betType', values['bet-type']),
  }
}

interface Sent {
  url: string
  status: number | null
  /** Without the credentials, which a wallet may repeat. */
  answer: string | null
  explanation: Explanation
}

const answerShownMax = 2_000

/** @param isNew whether the transactionId was made just now */
async function exchange(
  operation: Operation,
  settings: TargetSettings,
  call: CallBody,
  isNew: boolean,
): Promise<Sent> {
  const { base, target, credentials, sign, settle } = settings
  const isSettlement = operation === 'settlement' && typeof settle === 'object' && 'url' in settle
  const url = isSettlement ? settle.url : new URL(`${target}/${operation}`)
  const body = Buffer.from(write(call))
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  // The credentials are for the wallet only, not for a settlement URL elsewhere.
  if (url.origin === base.origin) {
    Object.assign(headers, settings.headers)
    if (credentials !== null) headers.authorization = basicOf(credentials)
    if (sign !== null) Object.assign(headers, await sign({ method: 'POST', url: url.href, headers, body }))
  }
  const mask = maskOf([...secretsOf(settings), ...secretsIn(headers)])
  try {
    const { status, text } = await post(url, headers, body, settings)
    return {
      url: url.href,
      status,
      answer: mask(text.slice(0, answerShownMax)),
      explanation: explainAnswer(operation, status, text, isNew),
    }
  } catch (error) {
    const explanation = explainSilence(mask(wordsOf(error)), Object(error))
    return { url: url.href, status: null, answer: null, explanation }
  }
}

/** Not by `fetch`, which refuses some ports. Redirections are not followed. */
function post(
  url: URL,
  headers: Record<string, string>,
  body: Buffer,
  { tls, timeoutMs }: TargetSettings,
): Promise<{ status: number; text: string }> {
  const open = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const request = open(
      url,
      { ...tls, method: 'POST', headers: { ...headers, 'content-length': body.length }, agent: false },
      response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        )
      },
    )
    const timer = setTimeout(() => request.destroy(new Error('the time limit has passed')), timeoutMs)
    request.on('close', () => clearTimeout(timer))
    request.on('error', reject)
    request.end(body)
  })
}

function textOf(body: CallBody, sent: Sent, again: string): string {
  const { url, status, answer, explanation } = sent
  const { rule, retry, advice } = forTerminal(explanation)
  return [
    `POST ${url}`,
    forTerminal(write(body)),
    '',
    ...(status === null ? [] : [`${status}  ${forTerminal(answer ?? '')}`, '']),
    rule,
    `The platform: ${retry}`,
    advice,
    '',
    `The same call again: ${again}`,
  ].join('\n')
}

const optionOfField: Readonly<Record<string, keyof typeof fieldOptions>> = {
  playerId: 'player',
  betId: 'bet',
  transactionId: 'transaction',
  amount: 'amount',
  currency: 'currency',
  type: 'type',
  transactionDate: 'date',
  sessionId: 'session',
  odds: 'odds',
  betType: 'bet-type',
}

/** A retry has the same body, address and authentication; password, headers and secret are not printed. */
function sameCall(operation: Operation, baseUrl: string | undefined, body: CallBody, values: Values): string {
  const fields = Object.entries(body).flatMap(([field, value]) => {
    const text = typeof value === 'string' ? value : write(value)
    return [`--${optionOfField[field]}`, shellWord(text)]
  })
  return [
    'npx bet-wallet send',
    operation,
    ...(baseUrl === undefined ? [] : [shellWord(baseUrl)]),
    ...fields,
    ...shownOptions.flatMap(name => {
      const value = values[name]
      return value === undefined ? [] : [`--${name}`, shellWord(value)]
    }),
  ].join(' ')
}

/** They hold no secret, unlike --password and --header. */
const shownOptions = [
  'settle-url',
  'user',
  'sign-header',
  'sign-algorithm',
  'sign-encoding',
  'sign-prefix',
  'sign-timestamp',
  'sign-text',
] as const
