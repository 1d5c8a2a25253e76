/**
 * HTTP exchanges with a wallet, in order. Every server must give the same answers, whatever its framework.
 *
 * Behind a body parser of the application some answers differ. Each exchange states which, and why.
 */
import { gzipSync } from 'node:zlib'
import type { Account } from 'bet-wallet'

export const credentials = { username: 'platform', password: 'sécret:with a colon' }
export const basePath = '/wallet'
export const bodyBytesMax = 65_536

export const initialPlayers: readonly Account[] = [
  { playerId: 'anna', currency: 'EUR', balance: '100.00' },
  { playerId: 'kenji', currency: 'JPY', balance: '5000' },
  { playerId: 'satoshi', currency: 'BTC', balance: '923456789.12345678' },
  { playerId: 'Ünï 球迷 😀', currency: 'EUR', balance: '50' },
  // For calls whose result depends on the parser: no other exchange depends on this balance.
  { playerId: 'spare', currency: 'EUR', balance: '1000000.00' },
]

/**
 * The body parser in front of the wallet; `none`: the wallet reads the body itself; `kept`: a parser of JSON that keeps
 * the raw body too.
 */
export type Front = 'none' | 'json' | 'kept' | 'text' | 'raw'

export interface Exchange {
  name: string
  request: {
    method: string
    path: string
    /** `null` removes a header of {@link usualHeaders}. */
    headers: Record<string, string | null>
    body: string | Uint8Array
    /** Sent in chunks and without Content-Length. */
    chunked: boolean
  }
  expected: Expected
  behind: Partial<Record<Exclude<Front, 'none'>, Expected & { because: string }>>
}

/** Without `body` and `error`, the answer may come from the parser: only the status is checked. */
export interface Expected {
  status: number | readonly number[]
  /** The exact text. `{W:name}` is a walletTransactionId: a new one first, then the same for the same name. */
  body?: string
  /** The body has exactly these two fields. */
  error?: { errorCode: string; description: string | RegExp }
  headers?: Record<string, string>
}

export const usualHeaders = {
  authorization: basic(`${credentials.username}:${credentials.password}`),
  'content-type': 'application/json',
}

export function basic(userAndPassword: string): string {
  return `Basic ${Buffer.from(userAndPassword, 'utf8').toString('base64')}`
}

function exchange(
  name: string,
  request: Partial<Exchange['request']> & { path: string },
  expected: Expected,
  behind: Exchange['behind'] = {},
): Exchange {
  return {
    name,
    request: { method: 'POST', headers: {}, body: '', chunked: false, ...request },
    expected,
    behind,
  }
}

/** The fields of every call, as JSON text. */
const ids = (transactionId: string, betId: string, playerId: string) =>
  `"transactionId":"${transactionId}","betId":"${betId}","playerId":"${playerId}","transactionDate":"2026-11-21T18:00:00Z"`

const placebet = (n: string, amount: string, currency = 'EUR', playerId = 'anna') => ({
  path: '/wallet/placebet',
  body: `{${ids(`t-${n}`, `b-${n}`, playerId)},"sessionId":"s","amount":${amount},"currency":"${currency}","odds":1.85,"betType":"SINGLE"}`,
})
const call = (operation: string, transactionId: string, betId: string, rest: string, playerId = 'anna') => ({
  path: `/wallet/${operation}`,
  body: `{${ids(transactionId, betId, playerId)},${rest}}`,
})
const rollbackbet = (transactionId: string, betId: string, playerId?: string) =>
  call('rollbackbet', transactionId, betId, '"type":"TECHNICAL_ERROR"', playerId)
const unsettlement = (transactionId: string, betId: string, type: string) =>
  call('unsettlement', transactionId, betId, `"type":"${type}"`)

const ok = (balance: string, currency: string, reference: string): Expected => ({
  status: 200,
  body: `{"balance":${balance},"currency":"${currency}","walletTransactionId":"{W:${reference}}"}`,
})
const error = (status: number, errorCode: string, description: string | RegExp): Expected => ({
  status,
  error: { errorCode, description },
})

const malformed = error(
  400,
  'INVALID_REQUEST',
  'the body must be well-formed JSON in UTF-8, without a byte order mark',
)
const notAnObject = error(400, 'INVALID_REQUEST', 'the body must be a JSON object')
const missing = error(
  400,
  'INVALID_REQUEST',
  'transactionId: is missing; betId: is missing; playerId: is missing; sessionId: is missing; ' +
    'amount: is missing; currency: is missing; betType: is missing; transactionDate: is missing',
)
const notAuthenticated: Expected = {
  ...error(401, 'AUTHENTICATION_FAILED', 'Authentication failed'),
  headers: { 'www-authenticate': 'Basic realm="wallet", charset="UTF-8"' },
}
const tooLarge = error(413, 'PAYLOAD_TOO_LARGE', 'The body must have at most 65536 bytes')
const mediaType = error(415, 'UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json')

/** The parser answers, with its own text. */
const parserAnswers = (status: number | readonly number[], because: string) => ({ status, because })

const padded = (body: string, bytes: number) =>
  `${body.slice(0, -1)},"padding":"${' '.repeat(bytes - Buffer.byteLength(body) - 13)}"}`

/** In UTF-8, except one byte of the sessionId. */
const notUtf8 = (body: string) => {
  const [before = '', after = ''] = body.split('"s"')
  return Buffer.concat([Buffer.from(`${before}"`), Buffer.from([0xff]), Buffer.from(`"${after}`)])
}

const bet1 = placebet('1', '30')
const spare = (n: string) => placebet(`spare-${n}`, '1', 'EUR', 'spare')

export const exchanges: readonly Exchange[] = [
  // The life of bets.
  exchange('a bet', bet1, ok('70.00', 'EUR', 'bet 1')),
  exchange('a retry, which changes nothing', bet1, ok('70.00', 'EUR', 'bet 1')),
  exchange(
    'a retry with the amount in another notation',
    placebet('1', '"30.000"'),
    ok('70.00', 'EUR', 'bet 1'),
  ),
  exchange(
    'a retry with a query, another spelling of the charset, and white space',
    {
      path: '/wallet/placebet?trace=1',
      headers: { 'content-type': 'Application/JSON; charset="UTF-8"' },
      body: `\r\n\t ${bet1.body} \n`,
    },
    ok('70.00', 'EUR', 'bet 1'),
  ),
  exchange('a retry in chunks', { ...bet1, chunked: true }, ok('70.00', 'EUR', 'bet 1')),
  exchange(
    'the same transaction with another amount',
    placebet('1', '30.01'),
    error(409, 'TRANSACTION_CONFLICT', /^transactionId: /),
  ),
  exchange('a bet above the balance', placebet('2', '70.01'), error(402, 'INSUFFICIENT_FUNDS', /^amount: /)),
  exchange(
    'a bet of an unknown player',
    placebet('3', '1', 'EUR', 'unknown'),
    error(400, 'INVALID_PLAYER', /^playerId: /),
  ),
  exchange(
    'a bet in another currency',
    placebet('4', '1', 'USD'),
    error(400, 'INVALID_CURRENCY', /^currency: /),
  ),
  exchange(
    'a second bet with the same betId',
    { ...bet1, body: bet1.body.replace('t-1', 't-5') },
    error(400, 'INVALID_BET', /^betId: /),
  ),
  exchange(
    'an amount with too many decimals',
    placebet('6', '1.001'),
    error(400, 'INVALID_REQUEST', /^amount: .* 2 decimals/),
  ),
  exchange('a negative amount', placebet('7', '-1'), error(400, 'INVALID_REQUEST', /^amount: /)),
  exchange('an amount of minus zero', placebet('7', '-0'), error(400, 'INVALID_REQUEST', /^amount: /), {
    json: {
      ...error(400, 'INVALID_REQUEST', /^amount: /),
      because: 'the JavaScript number -0 is refused too',
    },
  }),
  exchange(
    'an amount with a huge exponent',
    placebet('7', '1e2000000000'),
    error(400, 'INVALID_REQUEST', /^amount: /),
  ),
  exchange(
    'an amount with very many decimals',
    placebet('7', `1.${'0'.repeat(60_000)}1`),
    error(400, 'INVALID_REQUEST', /^amount: /),
    {
      json: { status: 200, because: 'the parser has already rounded it to 1' },
      kept: { ...error(400, 'INVALID_REQUEST', /^amount: /), because: 'the raw body has every digit' },
    },
  ),
  exchange('the rollback of that bet, if it was accepted', rollbackbet('r-7', 'b-7'), { status: 200 }),
  exchange('a rollback of an unknown bet', rollbackbet('r-8', 'b-8'), ok('70.00', 'EUR', 'rollback 8')),
  exchange(
    'the bet that arrives after its rollback',
    placebet('8', '5'),
    error(400, 'INVALID_BET', 'betId: the bet was rolled back'),
  ),
  exchange(
    "a settlement, on the operator's own route",
    call('settlement', 's-1', 'b-1', '"type":"BET_PAID","amount":55.5,"currency":"EUR"'),
    ok('125.50', 'EUR', 'settlement 1'),
  ),
  exchange(
    'a rollback of a settled bet',
    rollbackbet('r-1', 'b-1'),
    error(400, 'INVALID_BET', 'betId: the bet is settled'),
  ),
  exchange('a clawback', unsettlement('u-1', 'b-1', 'UNSCORED'), ok('70.00', 'EUR', 'unsettlement 1')),
  exchange(
    'a retry of the clawback',
    unsettlement('u-1', 'b-1', 'UNSCORED'),
    ok('70.00', 'EUR', 'unsettlement 1'),
  ),
  exchange(
    'a second clawback of the same credit',
    unsettlement('u-2', 'b-1', 'UNSCORED'),
    error(400, 'INVALID_BET', /^betId: /),
  ),
  exchange(
    'an unsettlement that overtakes its settlement',
    unsettlement('u-3', 'b-1', 'UNVOIDED'),
    error(503, 'SETTLEMENT_NOT_FOUND', /^betId: no VOIDED settlement/),
  ),
  exchange('a rollback', rollbackbet('r-1', 'b-1'), ok('100.00', 'EUR', 'rollback 1')),
  exchange(
    'a second rollback, with another id',
    rollbackbet('r-2', 'b-1'),
    ok('100.00', 'EUR', 'rollback 2'),
  ),

  // Digits.
  exchange(
    'a bet in a currency without decimals',
    placebet('20', '1200', 'JPY', 'kenji'),
    ok('3800', 'JPY', 'bet 20'),
  ),
  exchange(
    'a zero decimal in a currency without decimals',
    placebet('21', '800.0', 'JPY', 'kenji'),
    ok('3000', 'JPY', 'bet 21'),
  ),
  exchange(
    '17 digits in the balance',
    placebet('22', '0.00000001', 'BTC', 'satoshi'),
    ok('923456789.12345677', 'BTC', 'bet 22'),
  ),
  exchange(
    '17 digits in an amount as text',
    placebet('23', '"100000000.00000001"', 'BTC', 'satoshi'),
    ok('823456789.12345676', 'BTC', 'bet 23'),
  ),
  exchange(
    '17 digits in an amount as a number',
    placebet('24', '123456789.12345678', 'BTC', 'satoshi'),
    ok('699999999.99999998', 'BTC', 'bet 24'),
    {
      json: {
        ...error(400, 'INVALID_REQUEST', /^amount: .*at most 15 digits/),
        because: 'the parser may have rounded it: refused, not guessed (D21)',
      },
    },
  ),
  exchange('an amount with an exponent', placebet('25', '1.5e1'), ok('85.00', 'EUR', 'bet 25')),
  exchange(
    'an amount with trailing zeros',
    placebet('26', '5.00000000000000000000'),
    ok('80.00', 'EUR', 'bet 26'),
  ),
  exchange('a stake of 0', placebet('27', '0'), ok('80.00', 'EUR', 'bet 27')),

  // Text.
  exchange(
    'ids in several languages',
    placebet('ставка-球-😀', '1', 'EUR', 'Ünï 球迷 😀'),
    ok('49.00', 'EUR', 'bet of a fan'),
  ),
  exchange(
    'the same ids, escaped',
    placebet('\\u0441тавка-\\u7403-\\ud83d\\ude00', '1', 'EUR', '\\u00dcnï 球迷 \\uD83D\\uDE00'),
    ok('49.00', 'EUR', 'bet of a fan'),
  ),
  exchange(
    'an id with half a surrogate pair',
    placebet('30', '1', 'EUR', '\\ud83d'),
    error(400, 'INVALID_REQUEST', /^playerId: /),
  ),
  exchange(
    'an id with a NUL',
    placebet('30', '1', 'EUR', 'an\\u0000na'),
    error(400, 'INVALID_REQUEST', /^playerId: /),
  ),
  exchange(
    'duplicate keys, of which the last counts',
    { ...bet1, body: `${placebet('31', '99999').body.slice(0, -1)},"amount":1}` },
    ok('79.00', 'EUR', 'bet 31'),
  ),
  exchange(
    'an amount inside "__proto__", which is an ordinary key',
    {
      ...bet1,
      body: bet1.body.replace(/"amount":30/, '"__proto__":{"amount":30}').replaceAll('-1"', '-32"'),
    },
    error(400, 'INVALID_REQUEST', 'amount: is missing'),
    { json: parserAnswers(400, 'a parser may refuse __proto__ itself') },
  ),
  exchange(
    '"__proto__" and "constructor" beside the fields',
    {
      ...bet1,
      body: `${placebet('33', '1').body.slice(0, -1)},"__proto__":null,"constructor":{"prototype":1}}`,
    },
    ok('78.00', 'EUR', 'bet 33'),
    { json: parserAnswers([200, 400], 'a parser may refuse __proto__ itself') },
  ),
  exchange('the rollback of that bet, if it was accepted', rollbackbet('r-33', 'b-33'), { status: 200 }),
  exchange(
    'a rollback that shows the balance',
    rollbackbet('r-34', 'b-34'),
    ok('79.00', 'EUR', 'rollback 34'),
  ),

  // Invalid bodies.
  exchange('malformed JSON', { ...bet1, body: bet1.body.slice(0, -1) }, malformed, {
    json: parserAnswers(400, 'the parser answers malformed JSON itself'),
  }),
  exchange('no body', { ...bet1, body: '' }, malformed, {
    json: parserAnswers(
      400,
      'some parsers return {} for an empty body, some nothing, some answer it themselves',
    ),
  }),
  exchange('an array', { ...bet1, body: `[${bet1.body}]` }, notAnObject),
  exchange('an empty object', { ...bet1, body: '{}' }, missing),
  exchange('null', { ...bet1, body: 'null' }, notAnObject, {
    json: parserAnswers(400, 'a strict parser accepts objects and arrays only'),
  }),
  exchange('a string', { ...bet1, body: '"placebet"' }, notAnObject, {
    json: parserAnswers(400, 'a strict parser accepts objects and arrays only'),
  }),
  exchange('a byte order mark', { ...bet1, body: `\uFEFF${spare('bom').body}` }, malformed, {
    json: parserAnswers([200, 400], 'most parsers drop the mark when they decode'),
    text: parserAnswers(200, 'express.text drops the mark when it decodes'),
  }),
  exchange('bytes that are not UTF-8', { ...bet1, body: notUtf8(spare('utf-8').body) }, malformed, {
    json: parserAnswers(200, 'parsers decode leniently: the sessionId is a U+FFFD'),
    text: parserAnswers(200, 'express.text decodes leniently: the sessionId is a U+FFFD'),
    kept: parserAnswers([200, 400], 'some parsers keep the bytes, some the text, decoded leniently'),
  }),
  exchange('deeply nested, unclosed JSON', { ...bet1, body: '['.repeat(60_000) }, malformed, {
    json: parserAnswers(400, 'the parser answers malformed JSON itself'),
  }),

  // Path, method and media type.
  exchange('another path', { ...bet1, path: '/wallet/placebets' }, error(404, 'NOT_FOUND', 'Not found')),
  exchange(
    'a path with a trailing slash',
    { ...bet1, path: '/wallet/placebet/' },
    error(404, 'NOT_FOUND', /./),
  ),
  exchange('a path in another case', { ...bet1, path: '/wallet/PlaceBet' }, error(404, 'NOT_FOUND', /./)),
  exchange('the base path alone', { ...bet1, path: '/wallet' }, error(404, 'NOT_FOUND', /./)),
  exchange(
    'another method',
    { path: '/wallet/placebet', method: 'GET' },
    { ...error(405, 'METHOD_NOT_ALLOWED', 'Only POST is allowed'), headers: { allow: 'POST' } },
  ),
  exchange(
    'another method with a body, and without credentials',
    { ...bet1, method: 'PUT', headers: { authorization: null } },
    { ...error(405, 'METHOD_NOT_ALLOWED', 'Only POST is allowed'), headers: { allow: 'POST' } },
  ),
  exchange('no Content-Type', { ...bet1, headers: { 'content-type': null } }, mediaType),
  exchange('text/plain', { ...bet1, headers: { 'content-type': 'text/plain' } }, mediaType),
  exchange(
    'a form',
    { ...bet1, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    mediaType,
  ),
  exchange('application/jsonp', { ...bet1, headers: { 'content-type': 'application/jsonp' } }, mediaType),
  exchange(
    'another charset',
    { ...bet1, headers: { 'content-type': 'application/json; charset=iso-8859-1' } },
    error(415, 'UNSUPPORTED_MEDIA_TYPE', 'Content-Type must have the charset utf-8, or none'),
    { json: parserAnswers(415, 'the parser may answer it itself') },
  ),
  exchange(
    'a compressed body',
    { ...bet1, headers: { 'content-encoding': 'gzip' }, body: gzipSync(spare('gzip').body) },
    error(415, 'UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding must be identity, or none'),
    {
      json: parserAnswers([200, 400], 'some parsers decompress it'),
      text: parserAnswers(200, 'express.text decompresses it'),
      raw: parserAnswers(200, 'express.raw decompresses it'),
    },
  ),
  exchange(
    'a body with Content-Encoding: identity',
    { ...bet1, headers: { 'content-encoding': 'identity' } },
    ok('79.00', 'EUR', 'bet 1'),
  ),

  // Authentication.
  exchange('no credentials', { ...placebet('50', '1'), headers: { authorization: null } }, notAuthenticated),
  exchange(
    'a wrong password',
    { ...placebet('50', '1'), headers: { authorization: basic('platform:secret') } },
    notAuthenticated,
  ),
  exchange(
    'a wrong user name',
    { ...placebet('50', '1'), headers: { authorization: basic(`Platform:${credentials.password}`) } },
    notAuthenticated,
  ),
  exchange(
    'a part of the password',
    { ...placebet('50', '1'), headers: { authorization: basic('platform:sécret') } },
    notAuthenticated,
  ),
  exchange(
    'another scheme',
    {
      ...placebet('50', '1'),
      headers: { authorization: usualHeaders.authorization.replace('Basic', 'Bearer') },
    },
    notAuthenticated,
  ),
  exchange(
    'credentials that are not base64',
    { ...placebet('50', '1'), headers: { authorization: 'Basic ***' } },
    notAuthenticated,
  ),
  exchange(
    'the scheme in lower case',
    { ...bet1, headers: { authorization: usualHeaders.authorization.replace('Basic', 'basic') } },
    ok('79.00', 'EUR', 'bet 1'),
  ),
  exchange(
    'malformed JSON without credentials',
    { ...bet1, headers: { authorization: null }, body: '{' },
    notAuthenticated,
    {
      json: parserAnswers(400, 'the parser reads before authentication'),
    },
  ),
  exchange(
    'a too large body without credentials',
    { ...bet1, headers: { authorization: null }, body: ' '.repeat(80_000) },
    notAuthenticated,
    {
      json: parserAnswers([400, 401], 'the parser reads before authentication'),
    },
  ),

  // Size.
  exchange(
    'a body of the maximum size',
    { ...bet1, body: padded(bet1.body, bodyBytesMax) },
    ok('79.00', 'EUR', 'bet 1'),
  ),
  exchange('a body of one byte more', { ...bet1, body: padded(bet1.body, bodyBytesMax + 1) }, tooLarge),
  exchange(
    'a body of the maximum size, in chunks',
    { ...bet1, chunked: true, body: padded(bet1.body, bodyBytesMax) },
    ok('79.00', 'EUR', 'bet 1'),
  ),
  exchange(
    'a body of one byte more, in chunks',
    { ...bet1, chunked: true, body: padded(bet1.body, bodyBytesMax + 1) },
    tooLarge,
    {
      json: { ...ok('79.00', 'EUR', 'bet 1'), because: "behind a parser, the parser's limit applies" },
    },
  ),
  exchange(
    'a body of one byte more, but not one character more',
    { ...bet1, chunked: true, body: padded(bet1.body, bodyBytesMax + 1).replace('  ', 'é') },
    tooLarge,
    {
      json: { ...ok('79.00', 'EUR', 'bet 1'), because: "behind a parser, the parser's limit applies" },
    },
  ),
  ...[false, true].map(chunked =>
    exchange(
      `a body of 4 MB${chunked ? ' in chunks' : ''}`,
      { ...bet1, chunked, body: padded(bet1.body, 4 << 20) },
      tooLarge,
      {
        json: parserAnswers(413, 'the parser has its own limit'),
        text: parserAnswers(413, 'the parser has its own limit'),
        raw: parserAnswers(413, 'the parser has its own limit'),
      },
    ),
  ),
  exchange(
    'a last rollback, which shows that no balance has changed',
    rollbackbet('r-60', 'b-60'),
    ok('79.00', 'EUR', 'rollback 60'),
  ),
]

/** Without `body` and `error`: the parser may answer. */
export function isFromParser({ body, error }: Expected): boolean {
  return body === undefined && error === undefined
}

export function expectedBehind(front: Front, { expected, behind }: Exchange): Expected {
  if (front === 'none') return expected
  const { json } = behind
  // What the parser answers itself, it also answers when it keeps the body. All else is judged by the raw body.
  if (front === 'kept') return behind.kept ?? (json !== undefined && isFromParser(json) ? json : expected)
  return behind[front] ?? expected
}
