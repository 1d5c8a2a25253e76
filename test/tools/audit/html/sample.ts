/** Reports written by hand in the form of an audit, for the tests of the page. */
import type {
  AuditExchange,
  AuditFailure,
  AuditReport,
  AuditResult,
  Level,
} from '../../../../src/tools/audit/report.js'

/** A call in short: its time after the start of the case, its duration (`null`: no answer), and its answer. */
interface SampleCall {
  path: '/placebet' | '/unsettlement' | '/rollbackbet'
  label: string
  atMs: number
  tookMs: number | null
  /** Of a placebet. */
  amount?: string
  status?: number
  body?: string
  answer?: string
  balance?: string
  error?: string
}

interface Case {
  id: string
  level?: Level
  name: string
  source: string
  calls?: SampleCall[]
  failure?: AuditFailure
  reason?: string
  durationMs?: number
  balance?: NonNullable<AuditResult['balance']>
}

const target = 'https://wallet.example.test/callbacks'

function exchangeOf(call: SampleCall, startMs: number, number: number): AuditExchange {
  const { path, label, atMs, tookMs, amount = '30.00', balance = null, error = null } = call
  const stake =
    path === '/placebet' ? `"sessionId":"s-1","amount":${amount},"currency":"EUR","betType":"SINGLE",` : ''
  const type = {
    '/placebet': '',
    '/unsettlement': '"type":"UNSCORED",',
    '/rollbackbet': '"type":"TECHNICAL_ERROR",',
  }[path]
  const body =
    call.body ??
    `{"transactionId":"audit-7-${number}","betId":"audit-7-b${number}","playerId":"audit-player",${stake}${type}"transactionDate":"2026-11-21T07:45:57Z"}`
  const answer =
    call.answer ??
    `{"balance":${balance ?? '1000.00'},"currency":"EUR","walletTransactionId":"W-${20_000 + number}"}`
  return {
    label,
    sentAtMs: startMs + atMs,
    answeredAtMs: tookMs === null ? null : startMs + atMs + tookMs,
    method: 'POST',
    path,
    body,
    curl: `curl -sS -i -X POST '${target}${path}' -u "$WALLET_USER:$WALLET_PASSWORD" -H 'content-type: application/json' --data-binary '${body.replaceAll("'", `'\\''`)}'`,
    status: tookMs === null ? null : (call.status ?? 200),
    answer: tookMs === null ? null : answer,
    balance,
    error,
    omitted: 0,
  }
}

function reportOf(cases: readonly Case[], seed: number, findings: AuditReport['findings'] = []): AuditReport {
  let startMs = 12
  let number = 0
  const results = cases.map((item): AuditResult => {
    const { id, level = 'MUST', name, source, calls = [], failure, reason, durationMs } = item
    const { balance = { before: '1000.00', after: '1000.00', explained: true } } = item
    const exchanges = calls.map(call => exchangeOf(call, startMs, ++number))
    const endMs = Math.max(startMs, ...exchanges.map(call => call.answeredAtMs ?? call.sentAtMs))
    const lastedMs = durationMs ?? endMs - startMs + 1.5
    startMs += lastedMs + 2
    const verdict = failure ? 'failed' : reason === undefined ? 'passed' : 'skipped'
    return {
      id,
      level,
      name,
      source,
      verdict,
      reason: reason ?? null,
      failure: failure ?? null,
      exchanges,
      balance: reason === undefined ? balance : null,
      durationMs: lastedMs,
    }
  })
  return {
    formatVersion: 1,
    target,
    startedAt: '2026-11-21T07:45:57.120Z',
    durationMs: startMs,
    seed,
    player: { playerId: 'audit-player', currency: 'EUR' },
    funds: { before: '1000.00', after: results.at(-1)?.exchanges.at(-1)?.balance ?? null },
    requests: number,
    balancesReadBy: { by: 'rollback', reason: null },
    findings,
    foreignAnswers: [],
    limitations: [
      'Whether records survive a restart: use --restart-command.',
      'What happens after more than a few seconds: use --pause.',
    ],
    results,
    passed: results.every(({ verdict, level }) => verdict !== 'failed' || level !== 'MUST'),
    complete: results.every(({ verdict }) => verdict !== 'skipped'),
  }
}

const refused = (errorCode: string, description: string) =>
  `{"errorCode":"${errorCode}","description":"${description}"}`
const noFunds = refused('INSUFFICIENT_FUNDS', 'amount: insufficient funds')

const placed: Case = {
  id: 'AU-101',
  name: 'A placebet debits the stake',
  source: 'spec 4.1',
  calls: [
    { path: '/placebet', label: 'placebet 30.00', atMs: 0, tookMs: 6.2, balance: '970.00' },
    {
      path: '/rollbackbet',
      label: 'rollback, to return the stake',
      atMs: 7,
      tookMs: 4.4,
      balance: '1000.00',
    },
  ],
}

const beyondFunds: Case = {
  id: 'AU-102',
  name: 'A stake above the funds is refused with 402 INSUFFICIENT_FUNDS',
  source: 'spec 4.1, D6',
  calls: [
    {
      path: '/placebet',
      label: 'placebet 1000.01',
      amount: '1000.01',
      atMs: 0,
      tookMs: 3.1,
      status: 402,
      answer: noFunds,
    },
    {
      path: '/placebet',
      label: 'retry',
      amount: '1000.01',
      atMs: 4,
      tookMs: 2.7,
      status: 402,
      answer: noFunds,
    },
  ],
}

const repeated: Case = {
  id: 'AU-103',
  name: 'Concurrent copies of one placebet debit the stake once',
  source: 'spec 1.5, D2',
  calls: [
    ...Array.from(
      { length: 16 },
      (_, copy): SampleCall => ({
        path: '/placebet',
        label: `copy ${copy + 1} of 16`,
        atMs: copy * 0.3,
        tookMs: 5 + ((copy * 7) % 11),
        balance: '970.00',
      }),
    ),
    {
      path: '/rollbackbet',
      label: 'rollback, to return the stake',
      atMs: 22,
      tookMs: 4,
      balance: '1000.00',
    },
  ],
}

const hungUp: Case = {
  id: 'AU-121',
  name: 'A caller that disconnects before the answer finds a consistent wallet',
  source: 'spec 4.1, spec 4.3',
  calls: [
    {
      path: '/placebet',
      label: 'placebet 30.00, given up',
      atMs: 0,
      tookMs: null,
      error: 'closed by us after 2 ms',
    },
    { path: '/placebet', label: 'retry', atMs: 40, tookMs: 5, balance: '970.00' },
    { path: '/rollbackbet', label: 'rollback', atMs: 46, tookMs: 4, balance: '1000.00' },
    {
      path: '/rollbackbet',
      label: 'rollback under a new transactionId',
      atMs: 51,
      tookMs: 3,
      balance: '1000.00',
    },
  ],
}

const plain = (id: string, name: string, source: string, level: Level = 'MUST', stake = 20): Case => ({
  id,
  level,
  name,
  source,
  calls: [
    {
      path: '/placebet',
      label: `placebet ${stake}.00`,
      amount: `${stake}.00`,
      atMs: 0,
      tookMs: 5.5,
      balance: `${1000 - stake}.00`,
    },
    {
      path: '/placebet',
      label: 'retry',
      amount: `${stake}.00`,
      atMs: 7,
      tookMs: 2.9,
      balance: `${1000 - stake}.00`,
    },
    { path: '/rollbackbet', label: 'rollback', atMs: 11, tookMs: 4.1, balance: '1000.00' },
    { path: '/rollbackbet', label: 'retry of the rollback', atMs: 16, tookMs: 2.2, balance: '1000.00' },
  ],
})

const passingCases: Case[] = [
  placed,
  beyondFunds,
  repeated,
  plain('AU-104', 'A repeat long after is answered with the current balance', 'spec 1.4, D2'),
  plain('AU-105', 'Other odds, session and date do not make another transaction', 'D3'),
  plain('AU-106', 'The same transactionId with another amount is refused with 409', 'D4', 'MUST', 250),
  plain('AU-109', 'A betId that is known under another transactionId is refused', 'D10'),
  plain('AU-110', 'A rollback gives the stake back, exactly once', 'spec 4.3, D12', 'MUST', 400),
  plain('AU-112', 'A rollback of an unknown bet succeeds and moves nothing', 'spec 4.3, D11'),
  plain('AU-114', 'An unknown player is refused with INVALID_PLAYER', 'spec 7, D16'),
  plain('AU-116', 'Three bets of 0.10 leave no rounding behind', 'D21'),
  plain('AU-117', 'An amount that a float cannot hold is taken exactly or refused', 'D21, D22'),
  plain('AU-119', 'An error body holds errorCode and description, and nothing else', 'spec 2, spec 7'),
  plain('AU-120', 'Calls without credentials are answered with 401', 'spec 5'),
  hungUp,
  plain('AU-122', 'A body that comes in pieces, slowly, is read to its end', 'spec 1.3'),
  plain('AU-124', 'Ids that differ in case alone are different ids', 'D24', 'SHOULD'),
  plain('AU-125', 'A decimal in quotes is taken like a number', 'D21', 'SHOULD'),
]

/** All cases passed, none was skipped. */
export const passingReport = reportOf(passingCases, 7)

const races: Case = {
  id: 'AU-108',
  name: 'Concurrent bets never debit more than the funds',
  source: 'spec 4.1, D6',
  calls: [
    ...Array.from({ length: 24 }, (_, bet): SampleCall => {
      const accepted = bet % 3 !== 2
      const took = 9 + ((bet * 13) % 29)
      return {
        path: '/placebet',
        label: `placebet b-${bet + 1} of 24, 100.00 each`,
        amount: '100.00',
        atMs: bet * 0.4,
        tookMs: took,
        ...(accepted
          ? { balance: `${1000 - 100 * Math.min(10, Math.floor(took / 3.4))}.00` }
          : { status: 402, answer: noFunds }),
      }
    }),
    {
      path: '/placebet',
      label: 'zero stake, to read the balance',
      amount: '0.00',
      atMs: 58,
      tookMs: 3.2,
      balance: '-600.00',
    },
  ],
  balance: { before: '1000.00', after: '960.00', explained: false },
  failure: {
    kind: 'balance',
    difference: '-600.00',
    expected: '10 of 24 bets accepted, 14 refused with 402 INSUFFICIENT_FUNDS, and a balance of 0.00',
    actual: '16 of 24 bets accepted, and a balance of -600.00',
    impact:
      'A player who sends bets in parallel stakes money that is not there. A script does it in a second, and what it wins is paid out.',
    quote: null,
    exchangeIndex: 24,
  },
}

const late: Case = {
  id: 'AU-111',
  name: 'A placebet that arrives after its rollback debits nothing',
  source: 'spec 4.3, D11',
  calls: [
    {
      path: '/rollbackbet',
      label: 'rollback of a bet that never arrived',
      atMs: 0,
      tookMs: 4.2,
      balance: '1000.00',
    },
    { path: '/placebet', label: 'late placebet', atMs: 6, tookMs: 6.8, balance: '970.00' },
    { path: '/rollbackbet', label: 'retry of the rollback', atMs: 14, tookMs: 3.4, balance: '970.00' },
  ],
  failure: {
    kind: 'balance',
    difference: '-30.00',
    expected: '400 INVALID_BET, and nothing debited',
    actual: '200, balance 970.00: 30.00 were debited for a cancelled bet',
    impact:
      'After every time-out that overtakes its bet the player loses the stake, and no call of the platform will ever return it.',
    quote: 'If it fails or times out, the platform sends a rollback to correct the balance.',
    exchangeIndex: 1,
  },
}

const outage: Case = {
  id: 'AU-123',
  name: 'A body that never ends is cut off, and the wallet continues to answer ⟶ «unscathed», 何事もなく',
  source: 'errors over HTTP',
  calls: [
    {
      path: '/placebet',
      label: 'a body of 40 MB',
      atMs: 0,
      tookMs: null,
      body: `{"transactionId":"${'9'.repeat(1960)}…`,
      error: 'timed out after 5,000 ms',
    },
    {
      path: '/placebet',
      label: 'concurrent placebet 1.00',
      amount: '1.00',
      atMs: 100,
      tookMs: 2400,
      status: 502,
      answer:
        '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>',
    },
    {
      path: '/placebet',
      label: 'retry of the concurrent placebet',
      amount: '1.00',
      atMs: 2600,
      tookMs: 1900,
      status: 500,
      answer: `{"errorCode":"INTERNAL_ERROR","description":"${'java.lang.OutOfMemoryError: Java heap space at com.example.wallet.BodyReader.readFully(BodyReader.java:88) '.repeat(15)}"}`,
    },
    { path: '/rollbackbet', label: 'rollback of it', atMs: 4600, tookMs: null, error: 'connection refused' },
  ],
  durationMs: 5200,
  failure: {
    kind: 'no-answer',
    difference: null,
    expected: '413 PAYLOAD_TOO_LARGE or a closed connection, and answers to other calls',
    actual:
      'no answer within 5,000 ms; the calls beside it were answered with 502 and 500, then the port was closed',
    impact: 'Anyone who can reach the port can stop betting for all players.',
    quote: null,
    exchangeIndex: null,
  },
}

const lookalike: Case = {
  id: 'AU-126',
  level: 'SHOULD',
  name: 'Ids that only look alike are different ids',
  source: 'D24',
  calls: [
    {
      path: '/placebet',
      label: 'betId with é in one character',
      atMs: 0,
      tookMs: 5,
      balance: '999.00',
      body: '{"transactionId":"audit-7-é","betId":"Zoë‑⚽️","playerId":"audit-player","amount":1.00}',
    },
    {
      path: '/placebet',
      label: 'betId with a zero-width space',
      atMs: 6,
      tookMs: 4,
      balance: '998.00',
      body: '{"transactionId":"audit-7-e\u0301","betId":"Zoë\u200b‑⚽️","playerId":"audit-player","amount":1.00}',
    },
    {
      path: '/placebet',
      label: 'betId turned round',
      atMs: 11,
      tookMs: 4,
      status: 409,
      answer: refused('TRANSACTION_CONFLICT', 'audit-7-\u202eeulb is known: המשתמש'),
      body: '{"transactionId":"audit-7-\u202eeulb","betId":"b","playerId":"audit-player","amount":1.00}',
    },
  ],
  failure: {
    kind: 'refused',
    difference: null,
    expected: '200: an id that was never sent before',
    actual: '409 TRANSACTION_CONFLICT',
    impact: 'Two bets of two players whose ids fold to the same letters become one. The platform asks which.',
    quote: null,
    exchangeIndex: 2,
  },
}

const failingCases: (Case | undefined)[] = [
  ...passingCases.slice(0, 6),
  plain('AU-107', 'A refusal for funds is final, whatever is deposited later', 'D6'),
  races,
  ...passingCases.slice(6, 8),
  late,
  passingCases[8],
  plain('AU-113', 'A rollback races its placebet, from both sides: no stake is lost', 'spec 4.3, R06'),
  ...passingCases.slice(9, 16),
  outage,
  ...passingCases.slice(16),
  lookalike,
  {
    id: 'AU-130',
    name: 'UNSCORED debits the amount of BET_PAID once',
    source: 'spec 4.2, D18',
    reason: 'no way to settle was given',
  },
  {
    id: 'AU-131',
    name: 'A clawback that exceeds the funds is refused, and not collected later',
    source: 'spec 4.2, D7',
    reason: 'no way to settle was given',
  },
  {
    id: 'AU-132',
    level: 'SHOULD',
    name: 'An unsettlement that arrives before its settlement can be retried',
    source: 'D19',
    reason: 'no way to settle was given',
  },
  {
    id: 'AU-133',
    level: 'SHOULD',
    name: 'Answers stay below a second while 64 calls are open',
    source: 'spec 8',
    reason: 'the time budget was used up',
    calls: [
      { path: '/placebet', label: 'placebet 1.00', amount: '1.00', atMs: 0, tookMs: 12, balance: '998.00' },
    ],
  },
]

/** Failures from practice: parallel bets, a late bet, broken connections, long bodies, ids that look alike. */
export const failingReport = reportOf(
  failingCases.filter(call => call !== undefined),
  42,
  [
    {
      id: 'AU-108',
      level: 'MUST',
      cause: 'Concurrent bets are checked against the same funds: a race.',
      followers: [{ id: 'AU-126', reason: 'the balance was already unexplained after AU-108' }],
    },
    { id: 'AU-111', level: 'MUST', cause: null, followers: [] },
    { id: 'AU-123', level: 'MUST', cause: null, followers: [] },
  ],
)

/** A large audit: 80 cases, 600 calls. */
export const largeReport = reportOf(
  Array.from({ length: 80 }, (_, index): Case => {
    const id = `AU-${101 + index}`
    const calls = Array.from(
      { length: index % 2 === 0 ? 5 : 10 },
      (_, call): SampleCall => ({
        path: call % 3 === 2 ? '/rollbackbet' : '/placebet',
        label: `call ${call + 1} of the case`,
        atMs: call * 6,
        tookMs: 5,
        ...(call % 4 === 3
          ? { status: 402, answer: noFunds }
          : { balance: `${1000 - ((index * 37 + call * 91) % 700)}.00` }),
      }),
    )
    const failure = {
      kind: 'accepted' as const,
      difference: null,
      expected: 'the same answer: 402',
      actual: '200',
      impact: 'A stake is lost.',
      quote: null,
      exchangeIndex: 3,
    }
    const name = 'What is promised, in one sentence of the usual length, give or take'
    return { id, name, source: 'spec 4.1, D6', calls, ...(index % 8 === 3 ? { failure } : {}) }
  }),
  1,
  [{ id: 'AU-104', level: 'MUST', cause: null, followers: [{ id: 'AU-112', reason: 'probably as AU-104' }] }],
)

/** The report with every text replaced, except fields with a fixed set of values. */
export function withEveryText(report: AuditReport, textOf: (path: string) => string): AuditReport {
  const fixedFields = ['level', 'verdict', 'kind', 'way']
  // The ids of findings refer to results.
  const referred = (id: string) => `report.results.${report.results.findIndex(result => result.id === id)}.id`
  const walk = (value: unknown, path: string): unknown => {
    if (typeof value === 'string' && /^report\.findings\.(.*\.)?id$/.test(path))
      return textOf(referred(value))
    if (typeof value === 'string')
      return fixedFields.includes(path.split('.').at(-1) ?? '') ? value : textOf(path)
    if (Array.isArray(value)) return value.map((member, index) => walk(member, `${path}.${index}`))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, walk(member, `${path}.${key}`)]),
    )
  }
  return walk(report, 'report') as AuditReport
}
