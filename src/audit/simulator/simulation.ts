/** One run: opening balances, bets, the end of all matches, and the reconciliation. */
import { isoMinorUnits } from '../../currencies.js'
import { add, compare, parseDecimal } from '../../money.js'
import { AuditError, type AuditErrorCode } from '../errors.js'
import { createRandom } from '../random.js'
import {
  type Account,
  createAccount,
  openAccount,
  operations,
  type SimulatedOperation,
  shown,
  type Transaction,
} from './books.js'
import { createHistogram } from './histogram.js'
import { createJudge } from './judge.js'
import { createLine, type Sending } from './line.js'
import { createNetwork } from './network.js'
import {
  type Settings,
  type SettleFunction,
  type SimulatedSettlement,
  type SimulationOptions,
  settingsOf,
} from './options.js'
import { type Reading, readingOf, shortOf } from './reading.js'
import type { PlayerBooks, SimulationProgress, SimulationReport } from './report.js'
import { createSportsbook } from './sportsbook.js'

/** Streams of chance: the network's does not disturb the world's. */
const streams = { world: 1, network: 2 }
/** So many answers that say nothing definite, for longer than `giveUpAfterMs`, and a transaction is given up. */
const faultsMax = 60
/** A wallet that words its failures anew each time must not fill the memory. */
const answersMax = 50
/** A wallet that has never answered is given up sooner. */
const firstPatienceMsMax = 5_000
/** With so many unanswered transactions per connection no more bets are made. */
const pendingPerConnectionMax = 8

/**
 * Plays a sportsbook against a running wallet (spec 4, as the platform has to keep it), judges every answer, and
 * reconciles its own books with the wallet's balances at the end.
 *
 * Sends placebets, rollbackbets, unsettlements and settlements for the given players only, to the given URLs only. Moves
 * their money, and leaves bets and transactions behind as any platform does: for test systems.
 *
 * @returns what was found. Differences are no error: they are in the report
 * @throws {AuditError} where it cannot begin: an option is not what it must be, the wallet does not answer, does not let
 *   it in, does not know a player. What a hook throws is thrown on
 */
export async function simulateSportsbook(options: SimulationOptions): Promise<SimulationReport> {
  const settings = settingsOf(options)
  const line = createLine(settings)
  try {
    return await run(settings, line)
  } finally {
    line.close()
  }
}

function run(settings: Settings, line: ReturnType<typeof createLine>): Promise<SimulationReport> {
  const { clock, signal } = settings
  const startedAt = clock.now()
  const startedDate = clock.date()
  const accounts = settings.players.map(({ playerId, sessionId }, index) =>
    createAccount(playerId, sessionId ?? `${settings.runId}-session${index + 1}`),
  )
  const histogram = createHistogram()
  const answers = new Map<SimulatedOperation, Map<string, number>>(operations.map(name => [name, new Map()]))
  let failedCalls = 0
  let earlyUnsettlements = 0
  let reviewed = 0
  let phase: SimulationProgress['phase'] = 'opening'
  let bettingSince = startedAt
  let complete = true
  let hasAnswered = false
  let shownAt = startedAt
  let shownRequests = 0

  return new Promise((resolve, reject) => {
    const judge = createJudge({
      differencesMax: settings.differencesMax,
      step: () => network.step,
      onDifference: settings.onDifference,
    })
    const network = createNetwork({
      ...settings,
      get giveUpAfterMs() {
        return giveUpAfterMs()
      },
      random: createRandom(settings.seed, streams.network),
      judge,
      post,
      idle,
      done: () => next(),
      gaveUp,
      answered,
      broke: fail,
    })
    const sportsbook = createSportsbook({
      accounts,
      random: createRandom(settings.seed, streams.world),
      network,
      judge,
      runId: settings.runId,
      settles: settings.settle !== null,
      date: clock.date,
      faultsMax,
      giveUpAfterMs: settings.giveUpAfterMs,
      now: clock.now,
      rememberedMax: settings.rememberedBetsMax,
      onBetClosed: settings.onBetClosed,
    })

    /** Who mistypes an address is told so soon. */
    function giveUpAfterMs(): number {
      return hasAnswered ? settings.giveUpAfterMs : Math.min(firstPatienceMsMax, settings.giveUpAfterMs)
    }

    // ── The way to the wallet ────────────────────────────────────────────────────────────────────────────────────

    function post(transaction: Transaction, sending: Sending, heard: (reading: Reading) => void): void {
      const { operation, body } = transaction
      const { settle, sign } = settings
      if (operation === 'settlement' && typeof settle === 'function') {
        // A call in the process cannot be cut in the middle: then it is as if it had not begun.
        const cut: Reading = { kind: 'broken', reason: 'cut' }
        if (sending === 'cut within') queueMicrotask(() => heard(cut))
        else void settleInCode(settle, body).then(reading => heard(sending === 'whole' ? reading : cut))
        return
      }
      const url = operation === 'settlement' ? (settle as URL) : settings.urls[operation]
      const send = (further: Readonly<Record<string, string>> | null) =>
        line.post(url, body, further, sending, answer => heard(readingOf(answer, operation !== 'settlement')))
      if (sign === null) {
        send(null)
        return
      }
      Promise.resolve()
        .then(() =>
          sign({ method: 'POST', url: url.href, headers: line.headersTo(url), body: Buffer.from(body) }),
        )
        .then(send)
        .catch(fail)
    }

    function answered({ operation }: Transaction, reading: Reading, milliseconds: number): void {
      const isEarly =
        operation === 'unsettlement' &&
        reading.kind === 'fault' &&
        reading.errorCode === 'SETTLEMENT_NOT_FOUND'
      if (isEarly) earlyUnsettlements += 1
      else if (reading.kind === 'broken' || reading.kind === 'fault') failedCalls += 1
      if (reading.kind !== 'broken') {
        hasAnswered = true
        histogram.record(milliseconds)
      }
      const counts = answers.get(operation) as Map<string, number>
      let answer = shortOf(reading)
      if (!counts.has(answer) && counts.size >= answersMax) answer = 'others'
      counts.set(answer, (counts.get(answer) ?? 0) + 1)
      if (clock.now() - shownAt >= settings.progressEveryMs) tell()
    }

    // ── The phases ───────────────────────────────────────────────────────────────────────────────────────────────

    function next(): void {
      if (!complete) finish()
      else if (phase === 'opening') begin()
      else if (phase === 'playing out') review()
      else if (phase === 'reconciling' && reconciling !== null) reconciling()
    }
    let reconciling: (() => void) | null = null

    function open(): void {
      for (const [index, account] of accounts.entries()) {
        sportsbook.readBalance(account, reading => {
          const player = settings.players[index]
          const { playerId } = account
          if (reading?.kind !== 'success' || reading.balance === null || reading.currency === null) {
            const answer = reading === null ? 'nothing definite' : shortOf(reading)
            fail(
              new AuditError(
                codeOf(reading),
                `${playerId}: a rollback of a bet that was never placed, to read the balance, was answered ${answer}`,
              ),
            )
            return
          }
          const { balance, currency } = reading
          openAccount(account, balance, currency, settings.minorUnits(currency) ?? isoMinorUnits(currency))
          if (player?.currency !== undefined && player.currency !== currency) {
            fail(
              new AuditError(
                'CURRENCY_MISMATCH',
                `${playerId}: the wallet answers balances in ${currency}, not in ${player.currency}`,
              ),
            )
          }
          const told = player?.balance
          if (told !== undefined && compare(told, balance) !== 0) {
            fail(
              new AuditError(
                'BALANCE_MISMATCH',
                `${playerId}: the wallet answers a balance of ${balance}, not of ${told}`,
              ),
            )
          }
        })
      }
      network.pump()
    }

    function begin(): void {
      if (accounts.every(({ opening }) => opening <= 0n)) {
        fail(new AuditError('INSUFFICIENT_TEST_FUNDS', 'players: none of them has any funds'))
        return
      }
      enter('betting')
      bettingSince = clock.now()
      network.disturb(settings.chaos)
      network.pump()
    }

    function idle(): boolean {
      if (phase !== 'betting') return false
      const { betsMax, durationMs } = settings
      const over =
        signal?.aborted === true ||
        (betsMax !== null && sportsbook.counts.bets >= betsMax) ||
        (durationMs !== null && clock.now() - bettingSince >= durationMs)
      if (over) {
        enter('playing out')
        network.disturb(null)
        return false
      }
      if (sportsbook.pending.size >= settings.concurrency * pendingPerConnectionMax) return false
      network.advance()
      sportsbook.placeBet()
      return true
    }

    /** What was answered once, is answered so again: sent once more for every bet that is remembered. */
    function review(): void {
      enter('reconciling')
      reconciling = readBalances
      for (const { transactions } of sportsbook.remembered()) {
        for (const transaction of transactions) {
          if (transaction.first === null) continue
          reviewed += 1
          network.repeat(transaction, 0)
        }
      }
      network.pump()
    }

    function readBalances(): void {
      reconciling = finish
      for (const account of accounts) {
        const transaction = sportsbook.readBalance(account, reading => {
          if (reading?.kind === 'success' && reading.balance !== null)
            judge.closingBalance(transaction, reading.balance)
        })
      }
      network.pump()
    }

    function gaveUp(): void {
      complete = false
      for (const transaction of sportsbook.pending) {
        judge.differs(
          transaction,
          'unanswered',
          'a definite answer',
          `none; the wallet was gone for ${settings.giveUpAfterMs} ms`,
        )
      }
      if (phase === 'opening')
        fail(new AuditError('UNREACHABLE', `${settings.target}: no answer for ${giveUpAfterMs()} ms`))
    }

    function finish(): void {
      reconciling = null
      checkOwnBooks()
      signal?.removeEventListener('abort', aborted)
      tell()
      network.stop()
      resolve(reportNow())
    }

    function fail(error: unknown): void {
      signal?.removeEventListener('abort', aborted)
      network.stop()
      reject(error)
    }

    const aborted = () => network.pump()
    signal?.addEventListener('abort', aborted)

    /** What the players won and lost by the results, and what the wallet was made to move for it, must agree. */
    function checkOwnBooks(): void {
      if (judge.differencesCount > 0 || !complete || sportsbook.openBets > 0) return
      for (const account of accounts) {
        const byResults = account.opening + account.entitled + account.debt
        if (account.low === byResults && account.high === byResults) continue
        const bet = { betId: '', account, transactions: [] }
        judge.differs(
          { ...bet, stake: 0n, placed: null, rollback: null, rolledBackAt: 0, state: 'open' },
          'books',
          `${shown(byResults, account)} by the results of all bets`,
          `${shown(account.low, account)} to ${shown(account.high, account)} by all transactions`,
          account.low - byResults,
        )
      }
    }

    // ── What is told ─────────────────────────────────────────────────────────────────────────────────────────────

    function enter(nextPhase: SimulationProgress['phase']): void {
      tell()
      phase = nextPhase
    }

    function tell(): void {
      const now = clock.now()
      const seconds = (now - shownAt) / 1000
      const requestsPerSecond = seconds > 0 ? (network.requests - shownRequests) / seconds : 0
      shownAt = now
      shownRequests = network.requests
      settings.onProgress?.({
        phase,
        elapsedMs: now - startedAt,
        durationMs: settings.durationMs,
        bets: sportsbook.counts.bets,
        betsMax: settings.betsMax,
        requests: network.requests,
        requestsPerSecond,
        latencyMs: histogram.latency(),
        replaysAbsorbed: judge.counts.replaysAbsorbed,
        betsRolledBack: judge.counts.betsRolledBack,
        lateBetsRefused: judge.counts.lateBetsRefused,
        clawbacksRefused: sportsbook.counts.clawbacksRefused,
        failedCalls: failedCalls,
        differencesCount: judge.differencesCount,
        pending: sportsbook.pending.size,
        walletUnreachable: network.walletUnreachable,
      })
    }

    function reportNow(): SimulationReport {
      const durationMs = clock.now() - startedAt
      return {
        formatVersion: 1,
        target: settings.target,
        startedAt: new Date(startedDate).toISOString(),
        durationMs,
        seed: settings.seed,
        runId: settings.runId,
        chaos: settings.chaos,
        concurrency: settings.concurrency,
        passed: complete && judge.differencesCount === 0,
        complete,
        differencesCount: judge.differencesCount,
        differences: [...judge.differences],
        requests: network.requests,
        requestsPerSecond: durationMs > 0 ? (network.requests * 1000) / durationMs : 0,
        latencyMs: histogram.latency(),
        answers: perOperation(name => Object.fromEntries(answers.get(name) ?? [])),
        counts: {
          ...sportsbook.counts,
          ...judge.counts,
          earlyUnsettlements: earlyUnsettlements,
          failedCalls: failedCalls,
          retriedAtEnd: reviewed,
        },
        faultsInjected: { ...network.faultsInjected },
        debts: debtsOf(accounts),
        books: { players: accounts.map(booksOf) },
      }
    }

    open()
  })
}

/** Why the opening balance could not be read. */
function codeOf(reading: Reading | null): AuditErrorCode {
  if (reading?.kind !== 'refusal') return 'BALANCE_UNREADABLE'
  if (reading.errorCode === 'INVALID_PLAYER') return 'UNKNOWN_PLAYER'
  if (reading.status === 401 || reading.status === 403) return 'AUTHENTICATION_FAILED'
  return reading.status === 404 ? 'NOT_A_WALLET' : 'BALANCE_UNREADABLE'
}

async function settleInCode(settle: SettleFunction, body: string): Promise<Reading> {
  // The amount as text: the handlers take it as it is written, and so may a PAM of the operator's.
  const settlement = JSON.parse(body.replace(/"amount":([0-9.]+)/, '"amount":"$1"')) as SimulatedSettlement
  try {
    const answer = await settle(settlement)
    if (!answer.ok) return { kind: 'refusal', status: 400, errorCode: answer.errorCode }
    const { currency = null, walletTransactionId = null } = answer
    const balance = currency === null ? null : parseDecimal(answer.balance)
    return { kind: 'success', status: 200, balance, currency, reference: walletTransactionId }
  } catch (error) {
    const { code } = error as { code?: unknown }
    return {
      kind: 'fault',
      status: 500,
      errorCode: typeof code === 'string' ? code : String(error),
      flaw: null,
    }
  }
}

function perOperation<T>(of: (name: SimulatedOperation) => T): Record<SimulatedOperation, T> {
  return {
    placebet: of('placebet'),
    settlement: of('settlement'),
    unsettlement: of('unsettlement'),
    rollbackbet: of('rollbackbet'),
  }
}

function debtsOf(accounts: readonly Account[]): Record<string, string> {
  const debts: Record<string, string> = {}
  for (const account of accounts) {
    if (account.debt > 0n)
      debts[account.currency] = add(debts[account.currency] ?? '0', shown(account.debt, account))
  }
  return debts
}

function booksOf(account: Account): PlayerBooks {
  const { playerId, currency, opening, low, high, debt, accepted, refused, found } = account
  return {
    playerId,
    currency,
    opening: shown(opening, account),
    expected: low === high ? shown(low, account) : null,
    expectedLeast: shown(low, account),
    expectedMost: shown(high, account),
    actual: found,
    debt: shown(debt, account),
    accepted: { ...accepted },
    refused: { ...refused },
  }
}
