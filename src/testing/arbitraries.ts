/**
 * Random histories of a wallet. Few players, bets and ids, so that they collide; prepared bets to start from,
 * so that most runs begin in a state in which money can go wrong (paid and spent, voided, uncollected, rolled
 * back).
 */
import fc from 'fast-check'
import type {
  AmountFormat,
  BodyDefect,
  Cents,
  HistoryStep,
  InitialPlayer,
  InjectedFault,
  ModelRequest,
  SessionHook,
  WalletPolicy,
} from './model.js'

export const initialPlayers: readonly InitialPlayer[] = [
  { playerId: 'ann', currency: 'EUR', balance: 100_00n, known: true },
  { playerId: 'bo', currency: 'JPY', balance: 200_00n, known: true },
  { playerId: 'cy', currency: 'EUR', balance: 0n, known: true },
  { playerId: 'new', currency: 'EUR', balance: 50_00n, known: false },
]

const joined = (playerId: string) => (playerId === 'bo' ? 'ann' : playerId)

/** The same accounts with two of one player, whose home account is not the first by code. */
export const severalAccounts = initialPlayers.map(player => ({
  ...player,
  playerId: joined(player.playerId),
}))

/** The same step, where the accounts of `ann` and `bo` are those of one player. */
export function ofSeveralAccounts(step: HistoryStep): HistoryStep {
  if (step.step === 'call')
    return { ...step, request: { ...step.request, playerId: joined(step.request.playerId) } }
  if (step.step !== 'deposit' && step.step !== 'withdraw') return step
  return { ...step, playerId: joined(step.playerId), currency: step.playerId === 'bo' ? 'JPY' : 'EUR' }
}

/** The player and currency that a bet normally has. */
const ownerOfBet: Record<string, { playerId: string; currency: string }> = {
  b1: { playerId: 'ann', currency: 'EUR' },
  b2: { playerId: 'bo', currency: 'JPY' },
  b3: { playerId: 'ann', currency: 'EUR' },
  b4: { playerId: 'cy', currency: 'EUR' },
  b5: { playerId: 'new', currency: 'EUR' },
}

const players = initialPlayers.map(({ playerId }) => playerId)

/** One of the values: first a group of them is chosen by its weight. */
const weighted = <T>(...groups: readonly (readonly [weight: number, ...values: T[]])[]): fc.Arbitrary<T> =>
  fc.oneof(...groups.map(([weight, ...values]) => ({ weight, arbitrary: fc.constantFrom(...values) })))

/** A record, as one of several that are chosen by their weights. */
const record = <T>(weight: number, of: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) => ({
  weight,
  arbitrary: fc.record(of),
})

/** Mostly ordinary amounts; some that a float cannot add or represent exactly. */
export const amount: fc.Arbitrary<Cents> = weighted(
  [12, 30_00n, 60_00n, 10_00n, 100_00n, 100_01n],
  [2, 0n],
  [3, 10n, 20n, 1n],
  [2, 300_00n],
  [1, 999_999_999_999_999_99n],
)

const format: fc.Arbitrary<AmountFormat> = fc.constantFrom('text', 'trailing-zeros', 'number', 'exponent')

export const policy: fc.Arbitrary<WalletPolicy> = fc.record({
  clawbacks: weighted([4, true], [1, false]),
  debitMax: fc.constantFrom(90_00n, 10n ** 30n),
})

/** The currency of the home account: not the first by code. */
export const homeCurrency = 'JPY'

export const permissivePolicy: WalletPolicy = {
  clawbacks: true,
  debitMax: 10n ** 30n,
  defaultCurrency: homeCurrency,
}

const rarely = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> => weighted([12, usual], [1, ...others])

const defect = weighted<BodyDefect>(
  [30, 'none'],
  [1, 'missing-transaction-id', 'nul-in-player-id', 'incomplete-date'],
)

const fault = weighted<InjectedFault>(
  [16, 'none'],
  [1, 'load-throws', 'commit-unavailable', 'lost-before-commit', 'lost-after-commit'],
)

/** Half of the placebets are committed without a load. */
export const hook: fc.Arbitrary<SessionHook> = fc.constantFrom(
  'none',
  'authorizeRequest',
  'authorizeBet',
  'authorizeBet',
)

/** `null`: a unique id, assigned by `concrete`. */
const transactionId = weighted([4, null], [1, 't1', 't2', 't3'])

type Unidentified = ModelRequest extends infer R
  ? R extends ModelRequest
    ? Omit<R, 'transactionId'> & { transactionId: string | null }
    : never
  : never

const requestFor = (betId: string): fc.Arbitrary<Unidentified> => {
  const owner = ownerOf(betId)
  const common = {
    transactionId,
    betId: fc.constant(betId),
    playerId: rarely(owner.playerId, ...players, 'unknown-player'),
  }
  const currency = rarely(owner.currency, 'EUR', 'JPY', 'BTC')
  return fc.oneof(
    record(4, {
      operation: fc.constant('placebet' as const),
      ...common,
      amount,
      currency,
      sessionEnded: fc.constantFrom(false, false, false, false, true),
    }),
    record(4, {
      operation: fc.constant('settlement' as const),
      ...common,
      type: fc.constantFrom('BET_PAID' as const, 'BET_PAID' as const, 'VOIDED' as const, 'CASHOUT' as const),
      amount,
      currency,
    }),
    record(4, {
      operation: fc.constant('unsettlement' as const),
      ...common,
      type: fc.constantFrom('UNSCORED' as const, 'UNSCORED' as const, 'UNVOIDED' as const),
    }),
    record(3, {
      operation: fc.constant('rollbackbet' as const),
      ...common,
      type: rarely('TECHNICAL_ERROR' as const, 'MANUAL' as const),
    }),
  )
}

/** The one field in which a repeated request differs from an earlier one (D1, D3). */
type Change = 'nothing' | 'player' | 'bet' | 'amount' | 'currency' | 'type' | 'operation'

/** How a request is sent: a retry may be sent in another way. */
interface Sending {
  fault: InjectedFault
  format: AmountFormat
  hook: SessionHook
}

type Move =
  | (Sending & { move: 'call'; request: Unidentified; defect: BodyDefect })
  | (Sending & { move: 'retry'; of: number; change: Change })
  | { move: 'other'; step: HistoryStep }

const betId = fc.constantFrom('b1', 'b1', 'b1', 'b1', 'b1', 'b1', 'b2', 'b2', 'b2', 'b3', 'b4', 'b5')

const change = weighted<Change>(
  [6, 'nothing'],
  [2, 'player', 'bet', 'amount', 'currency', 'type', 'operation'],
)

const moneyStep: fc.Arbitrary<HistoryStep> = fc
  .record({
    step: fc.constantFrom('deposit' as const, 'withdraw' as const),
    playerId: fc.constantFrom('ann', 'ann', 'bo', 'cy'),
    amount,
  })
  // Yen have no decimals, and a table may have none for them.
  .map(step => (step.playerId === 'bo' ? { ...step, amount: step.amount - (step.amount % 100n) } : step))

const otherStep: fc.Arbitrary<HistoryStep> = fc.oneof(
  { weight: 6, arbitrary: moneyStep },
  record(1, {
    step: fc.constantFrom('restore-player' as const, 'remove-player' as const, 'restore-player' as const),
    playerId: fc.constantFrom(...players),
  }),
  record(1, {
    step: fc.constant('change-currency' as const),
    playerId: fc.constantFrom('ann', 'ann', 'cy'),
    currency: fc.constantFrom('EUR', 'BTC'),
  }),
)

const call = (faults: fc.Arbitrary<InjectedFault>, defects: fc.Arbitrary<BodyDefect>): fc.Arbitrary<Move> =>
  fc.record({
    move: fc.constant('call' as const),
    request: betId.chain(requestFor),
    defect: defects,
    fault: faults,
    format,
    hook,
  })

/** Repeats one of the earlier requests, unchanged or with one field changed. */
const retry = (faults: fc.Arbitrary<InjectedFault>): fc.Arbitrary<Move> =>
  fc.record({
    move: fc.constant('retry' as const),
    of: fc.nat({ max: 30 }),
    change,
    fault: faults,
    format,
    hook,
  })

const other = (steps: fc.Arbitrary<HistoryStep>): fc.Arbitrary<Move> =>
  fc.record({ move: fc.constant('other' as const), step: steps })

/** States of a bet, each as the steps that lead to it. */
const betStates: Record<string, (bet: string) => Move[]> = {
  none: () => [],
  placed: bet => [placed(bet, 30_00n)],
  refused: bet => [placed(bet, 500_00n)],
  'zero-stake': bet => [placed(bet, 0n)],
  paid: bet => paid(bet),
  'paid-twice': bet => [...paid(bet), credited(bet, 'BET_PAID', 10n)],
  'paid-and-spent': bet => [...paid(bet), spent(bet)],
  uncollected: bet => uncollected(bet),
  'uncollected-then-paid': bet => [...uncollected(bet), credited(bet, 'BET_PAID', 60_00n)],
  reversed: bet => [...paid(bet), unsettled(bet, 'UNSCORED')],
  lost: bet => [placed(bet, 30_00n), credited(bet, 'BET_PAID', 0n)],
  voided: bet => [placed(bet, 30_00n), credited(bet, 'VOIDED', 30_00n)],
  'voided-and-spent': bet => [placed(bet, 30_00n), credited(bet, 'VOIDED', 30_00n), spent(bet)],
  'cashed-out': bet => [placed(bet, 30_00n), credited(bet, 'CASHOUT', 20_00n)],
  'rolled-back': bet => [placed(bet, 30_00n), rolledBack(bet)],
  tombstone: bet => [rolledBack(bet)],
  'paid-in-an-old-currency': bet => [...paid(bet), currencyChanged(bet, 'BTC')],
  'placed-in-an-old-currency': bet => [placed(bet, 30_00n), currencyChanged(bet, 'BTC')],
}

function ownerOf(betId: string) {
  return ownerOfBet[betId] ?? { playerId: 'ann', currency: 'EUR' }
}

function plainCall(request: Unidentified): Move {
  return { move: 'call', request, defect: 'none', fault: 'none', format: 'text', hook: 'none' }
}

function placed(betId: string, amount: Cents): Move {
  const ids = { transactionId: null, betId, ...ownerOf(betId) }
  return plainCall({ operation: 'placebet', ...ids, amount, sessionEnded: false })
}

function credited(betId: string, type: 'BET_PAID' | 'VOIDED' | 'CASHOUT', amount: Cents): Move {
  return plainCall({ operation: 'settlement', transactionId: null, betId, ...ownerOf(betId), type, amount })
}

function unsettled(betId: string, type: 'UNSCORED' | 'UNVOIDED'): Move {
  const { playerId } = ownerOf(betId)
  return plainCall({ operation: 'unsettlement', transactionId: null, betId, playerId, type })
}

function rolledBack(betId: string): Move {
  const { playerId } = ownerOf(betId)
  return plainCall({
    operation: 'rollbackbet',
    transactionId: null,
    betId,
    playerId,
    type: 'TECHNICAL_ERROR',
  })
}

function paid(betId: string): Move[] {
  return [placed(betId, 30_00n), credited(betId, 'BET_PAID', 60_00n)]
}

/** The funds do not cover the clawback: the amount is owed to the platform (D7). */
function uncollected(betId: string): Move[] {
  return [...paid(betId), spent(betId), unsettled(betId, 'UNSCORED')]
}

/**
 * Leaves too little for a clawback: after `paid` or `voided` the balance of ann is 130 or 100, that of bo 230
 * or 200.
 */
function spent(betId: string): Move {
  const { playerId } = ownerOf(betId)
  return {
    move: 'other',
    step: { step: 'withdraw', playerId, amount: playerId === 'ann' ? 90_00n : 190_00n },
  }
}

function currencyChanged(betId: string, currency: string): Move {
  return { move: 'other', step: { step: 'change-currency', playerId: ownerOf(betId).playerId, currency } }
}

const preparedBet: fc.Arbitrary<Move[]> = fc
  .tuple(fc.constantFrom(...Object.keys(betStates)), fc.constantFrom('b1', 'b1', 'b2'))
  .map(([state, bet]) => betStates[state]?.(bet) ?? [])

/**
 * Assigns missing ids and resolves retries. Pure, so that a printed counterexample shows the requests that
 * ran.
 */
function concrete(moves: readonly Move[], prefix = 'f'): HistoryStep[] {
  const earlier: ModelRequest[] = []
  const steps: HistoryStep[] = []
  for (const [index, move] of moves.entries()) {
    if (move.move === 'other') {
      steps.push(move.step)
      continue
    }
    const request =
      move.move === 'call'
        ? ({
            ...move.request,
            transactionId: move.request.transactionId ?? `${prefix}${index}`,
          } as ModelRequest)
        : changed(earlier[earlier.length - 1 - (move.of % Math.max(earlier.length, 1))], move.change)
    if (request === undefined) continue
    earlier.push(request)
    const { fault, format } = move
    const defect = move.move === 'call' ? move.defect : 'none'
    steps.push({ step: 'call', request, defect, fault, format, hook: possibleHook(request, move) })
  }
  return steps
}

/** A hook with which the model knows the answer. */
function possibleHook(request: ModelRequest, { fault, hook }: Sending): SessionHook {
  if (request.operation !== 'placebet') return 'none'
  // The model has no loads and commits: it knows what a fault prevents only if the load comes first. The
  // exhaustive search judges these faults of a commit without a load.
  if (fault !== 'none' && fault !== 'lost-after-commit') return 'authorizeBet'
  return request.sessionEnded && hook === 'none' ? 'authorizeRequest' : hook
}

function changed(request: ModelRequest | undefined, change: Change): ModelRequest | undefined {
  if (request === undefined) return undefined
  const { transactionId, betId, playerId } = request
  switch (change) {
    case 'nothing':
      return request
    case 'player':
      return { ...request, playerId: playerId === 'ann' ? 'unknown-player' : 'ann' }
    case 'bet':
      return { ...request, betId: betId === 'b1' ? 'b3' : 'b1' }
    case 'amount':
      return 'amount' in request ? { ...request, amount: request.amount + 100n } : request
    case 'currency':
      return 'currency' in request ? { ...request, currency: 'BTC' } : request
    case 'type':
      if (request.operation === 'settlement') {
        return { ...request, type: request.type === 'VOIDED' ? 'BET_PAID' : 'VOIDED' }
      }
      if (request.operation === 'unsettlement') {
        return { ...request, type: request.type === 'UNVOIDED' ? 'UNSCORED' : 'UNVOIDED' }
      }
      return request.operation === 'rollbackbet' ? { ...request, type: 'MANUAL' } : request
    case 'operation': {
      const ids = { transactionId, betId, playerId }
      return request.operation === 'rollbackbet'
        ? { operation: 'unsettlement', ...ids, type: 'UNSCORED' }
        : { operation: 'rollbackbet', ...ids, type: 'TECHNICAL_ERROR' }
    }
  }
}

/** Sequential steps after one or two prepared bets. */
export const history: fc.Arbitrary<HistoryStep[]> = fc
  .tuple(
    preparedBet,
    fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: preparedBet }),
    fc.array(
      fc.oneof(
        { weight: 6, arbitrary: call(fault, defect) },
        { weight: 4, arbitrary: retry(fault) },
        { weight: 2, arbitrary: other(otherStep) },
      ),
      { maxLength: 16, size: 'max' },
    ),
  )
  .map(([one, two, moves]) => concrete([...one, ...two, ...moves]))

const noFault = fc.constant<InjectedFault>('none')
const noDefect = fc.constant<BodyDefect>('none')

/** A prepared bet (`before`), and then two to five steps at the same time (`concurrent`). */
export const concurrentBurst: fc.Arbitrary<{ before: HistoryStep[]; concurrent: HistoryStep[] }> = fc
  .tuple(
    preparedBet,
    fc.array(
      fc.oneof(
        { weight: 6, arbitrary: call(noFault, noDefect) },
        { weight: 5, arbitrary: retry(noFault) },
        { weight: 2, arbitrary: other(moneyStep) },
      ),
      { minLength: 2, maxLength: 5, size: 'max' },
    ),
  )
  .map(([one, moves]) => {
    const steps = concrete([...one, ...moves])
    return { before: steps.slice(0, one.length), concurrent: steps.slice(one.length) }
  })
  .filter(({ concurrent }) => concurrent.length > 1)

/** One prepared bet; every player still has the initial currency. */
export const start: fc.Arbitrary<HistoryStep[]> = preparedBet.map(moves =>
  concrete(moves, 'start').filter(({ step }) => step !== 'change-currency'),
)
