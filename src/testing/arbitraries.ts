/**
 * What happens to a wallet. Few players, bets and ids, so that they collide; stories to start from, so that the
 * states in which money goes wrong (paid and spent, voided, closed, rolled back) are where most runs begin.
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
  WalletPolicy,
} from './model.js'

export const initialPlayers: readonly InitialPlayer[] = [
  { playerId: 'ann', currency: 'EUR', balance: 100_00n, known: true },
  { playerId: 'bo', currency: 'JPY', balance: 200_00n, known: true },
  { playerId: 'cy', currency: 'EUR', balance: 0n, known: true },
  { playerId: 'new', currency: 'EUR', balance: 50_00n, known: false },
]

const homes: Record<string, { playerId: string; currency: string }> = {
  b1: { playerId: 'ann', currency: 'EUR' },
  b2: { playerId: 'bo', currency: 'JPY' },
  b3: { playerId: 'ann', currency: 'EUR' },
  b4: { playerId: 'cy', currency: 'EUR' },
  b5: { playerId: 'new', currency: 'EUR' },
}

const players = initialPlayers.map(({ playerId }) => playerId)

/** Mostly ordinary; some that a float cannot add, or cannot hold. */
export const amount: fc.Arbitrary<Cents> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(30_00n, 60_00n, 10_00n, 100_00n, 100_01n) },
  { weight: 2, arbitrary: fc.constantFrom(0n) },
  { weight: 3, arbitrary: fc.constantFrom(10n, 20n, 1n) },
  { weight: 2, arbitrary: fc.constantFrom(300_00n) },
  { weight: 1, arbitrary: fc.constantFrom(999_999_999_999_999_99n) },
)

const writing: fc.Arbitrary<AmountFormat> = fc.constantFrom('text', 'with zeros', 'number', 'exponent')

export const policy: fc.Arbitrary<WalletPolicy> = fc.record({
  clawbacks: fc.oneof(
    { weight: 4, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  takenAtOnceMax: fc.constantFrom(90_00n, 10n ** 30n),
})

/** A house without rules of its own. */
export const permissivePolicy: WalletPolicy = { clawbacks: true, takenAtOnceMax: 10n ** 30n }

const rarely = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )

const flaw: fc.Arbitrary<BodyDefect> = fc.oneof(
  { weight: 30, arbitrary: fc.constant<BodyDefect>('none') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<BodyDefect>(
      'transactionId missing',
      'playerId with a NUL',
      'date without a day',
    ),
  },
)

const line: fc.Arbitrary<InjectedFault> = fc.oneof(
  { weight: 16, arbitrary: fc.constant<InjectedFault>('up') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<InjectedFault>(
      'load throws',
      'commit unavailable',
      'breaks before commit',
      'breaks after commit',
    ),
  },
)

/** `null`: an id that nothing else has; given by `concrete`. */
const transactionId = fc.oneof(
  { weight: 4, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom('t1', 't2', 't3') },
)

type Unidentified = ModelRequest extends infer R
  ? R extends ModelRequest
    ? Omit<R, 'transactionId'> & { transactionId: string | null }
    : never
  : never

const requestFor = (betId: string): fc.Arbitrary<Unidentified> => {
  const home = homes[betId] ?? { playerId: 'ann', currency: 'EUR' }
  const common = {
    transactionId,
    betId: fc.constant(betId),
    playerId: rarely(home.playerId, ...players, 'nobody'),
  }
  const currency = rarely(home.currency, 'EUR', 'JPY', 'BTC')
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        operation: fc.constant('placebet' as const),
        ...common,
        amount,
        currency,
        sessionEnded: fc.constantFrom(false, false, false, false, true),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        operation: fc.constant('settlement' as const),
        ...common,
        type: fc.constantFrom(
          'BET_PAID' as const,
          'BET_PAID' as const,
          'VOIDED' as const,
          'CASHOUT' as const,
        ),
        amount,
        currency,
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        operation: fc.constant('unsettlement' as const),
        ...common,
        type: fc.constantFrom('UNSCORED' as const, 'UNSCORED' as const, 'UNVOIDED' as const),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        operation: fc.constant('rollbackbet' as const),
        ...common,
        type: rarely('TECHNICAL_ERROR' as const, 'MANUAL' as const),
      }),
    },
  )
}

/** An earlier request again, exactly or with one thing changed, under its own operation or another one (D1). */
type Change = 'nothing' | 'player' | 'bet' | 'amount' | 'currency' | 'type' | 'operation'

type Move =
  | { move: 'call'; request: Unidentified; flaw: BodyDefect; line: InjectedFault; writing: AmountFormat }
  | { move: 'again'; of: number; change: Change; line: InjectedFault; writing: AmountFormat }
  | { move: 'other'; step: HistoryStep }

const betId = fc.constantFrom('b1', 'b1', 'b1', 'b1', 'b1', 'b1', 'b2', 'b2', 'b2', 'b3', 'b4', 'b5')

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Change>('nothing') },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Change>('player', 'bet', 'amount', 'currency', 'type', 'operation'),
  },
)

const moneyStep: fc.Arbitrary<HistoryStep> = fc.record({
  step: fc.constantFrom('deposit' as const, 'withdraw' as const),
  playerId: fc.constantFrom('ann', 'ann', 'bo', 'cy'),
  amount,
})

const otherStep: fc.Arbitrary<HistoryStep> = fc.oneof(
  { weight: 6, arbitrary: moneyStep },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constantFrom('come' as const, 'leave' as const, 'come' as const),
      playerId: fc.constantFrom(...players),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('change currency' as const),
      playerId: fc.constantFrom('ann', 'ann', 'cy'),
      currency: fc.constantFrom('EUR', 'BTC'),
    }),
  },
)

const call = (lines: fc.Arbitrary<InjectedFault>, flaws: fc.Arbitrary<BodyDefect>): fc.Arbitrary<Move> =>
  fc.record({
    move: fc.constant('call' as const),
    request: betId.chain(requestFor),
    flaw: flaws,
    line: lines,
    writing,
  })

const again = (lines: fc.Arbitrary<InjectedFault>): fc.Arbitrary<Move> =>
  fc.record({ move: fc.constant('again' as const), of: fc.nat({ max: 30 }), change, line: lines, writing })

const other = (steps: fc.Arbitrary<HistoryStep>): fc.Arbitrary<Move> =>
  fc.record({ move: fc.constant('other' as const), step: steps })

/** Where a bet's life has come to, in the moves that lead there. */
const stories: Record<string, (bet: string) => Move[]> = {
  nothing: () => [],
  placed: bet => [placed(bet, 30_00n)],
  refused: bet => [placed(bet, 500_00n)],
  'a zero stake': bet => [placed(bet, 0n)],
  paid: bet => [placed(bet, 30_00n), credited(bet, 'BET_PAID', 60_00n)],
  'paid in two': bet => [...(stories.paid?.(bet) ?? []), credited(bet, 'BET_PAID', 10n)],
  'paid and spent': bet => [...(stories.paid?.(bet) ?? []), spend(bet)],
  'paid, spent and closed': bet => [...(stories['paid and spent']?.(bet) ?? []), unsettled(bet, 'UNSCORED')],
  'closed and paid again': bet => [
    ...(stories['paid, spent and closed']?.(bet) ?? []),
    credited(bet, 'BET_PAID', 60_00n),
  ],
  reversed: bet => [...(stories.paid?.(bet) ?? []), unsettled(bet, 'UNSCORED')],
  lost: bet => [placed(bet, 30_00n), credited(bet, 'BET_PAID', 0n)],
  voided: bet => [placed(bet, 30_00n), credited(bet, 'VOIDED', 30_00n)],
  'voided and spent': bet => [placed(bet, 30_00n), credited(bet, 'VOIDED', 30_00n), spend(bet)],
  'cashed out': bet => [placed(bet, 30_00n), credited(bet, 'CASHOUT', 20_00n)],
  'rolled back': bet => [placed(bet, 30_00n), rolledBack(bet)],
  tombstone: bet => [rolledBack(bet)],
  'paid in a currency of the past': bet => [...(stories.paid?.(bet) ?? []), moveTo('BTC', bet)],
  'placed in a currency of the past': bet => [placed(bet, 30_00n), moveTo('BTC', bet)],
}

const homeOf = (betId: string) => homes[betId] ?? { playerId: 'ann', currency: 'EUR' }

function told(request: Unidentified): Move {
  return { move: 'call', request, flaw: 'none', line: 'up', writing: 'text' }
}

function placed(betId: string, amount: Cents): Move {
  const ids = { transactionId: null, betId, ...homeOf(betId) }
  return told({ operation: 'placebet', ...ids, amount, sessionEnded: false })
}

function credited(betId: string, type: 'BET_PAID' | 'VOIDED' | 'CASHOUT', amount: Cents): Move {
  return told({ operation: 'settlement', transactionId: null, betId, ...homeOf(betId), type, amount })
}

function unsettled(betId: string, type: 'UNSCORED' | 'UNVOIDED'): Move {
  const { playerId } = homeOf(betId)
  return told({ operation: 'unsettlement', transactionId: null, betId, playerId, type })
}

function rolledBack(betId: string): Move {
  const { playerId } = homeOf(betId)
  return told({ operation: 'rollbackbet', transactionId: null, betId, playerId, type: 'TECHNICAL_ERROR' })
}

/** After `paid` or `voided` ann has 130 or 100, and bo 230 or 200. */
function spend(betId: string): Move {
  const { playerId } = homeOf(betId)
  return {
    move: 'other',
    step: { step: 'withdraw', playerId, amount: playerId === 'ann' ? 90_00n : 190_00n },
  }
}

function moveTo(currency: string, betId: string): Move {
  return { move: 'other', step: { step: 'change currency', playerId: homeOf(betId).playerId, currency } }
}

const story: fc.Arbitrary<Move[]> = fc
  .tuple(fc.constantFrom(...Object.keys(stories)), fc.constantFrom('b1', 'b1', 'b2'))
  .map(([name, bet]) => stories[name]?.(bet) ?? [])

/** Gives ids to what has none, and looks up what is to come again. Pure, so that a counterexample prints as it ran. */
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
    const { line, writing } = move
    steps.push({ step: 'call', request, flaw: move.move === 'call' ? move.flaw : 'none', line, writing })
  }
  return steps
}

function changed(request: ModelRequest | undefined, change: Change): ModelRequest | undefined {
  if (request === undefined) return undefined
  const { transactionId, betId, playerId } = request
  switch (change) {
    case 'nothing':
      return request
    case 'player':
      return { ...request, playerId: playerId === 'ann' ? 'nobody' : 'ann' }
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

/** One after the other, from one or two stories on. */
export const history: fc.Arbitrary<HistoryStep[]> = fc
  .tuple(
    story,
    fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: story }),
    fc.array(
      fc.oneof(
        { weight: 6, arbitrary: call(line, flaw) },
        { weight: 4, arbitrary: again(line) },
        { weight: 2, arbitrary: other(otherStep) },
      ),
      { maxLength: 16, size: 'max' },
    ),
  )
  .map(([one, two, moves]) => concrete([...one, ...two, ...moves]))

const up = fc.constant<InjectedFault>('up')
const flawless = fc.constant<BodyDefect>('none')

/** A history, and then what happens all at once. */
export const concurrentBurst: fc.Arbitrary<{ before: HistoryStep[]; atOnce: HistoryStep[] }> = fc
  .tuple(
    story,
    fc.array(
      fc.oneof(
        { weight: 6, arbitrary: call(up, flawless) },
        { weight: 5, arbitrary: again(up) },
        { weight: 2, arbitrary: other(moneyStep) },
      ),
      { minLength: 2, maxLength: 5, size: 'max' },
    ),
  )
  .map(([one, moves]) => {
    const steps = concrete([...one, ...moves])
    return { before: steps.slice(0, one.length), atOnce: steps.slice(one.length) }
  })
  .filter(({ atOnce }) => atOnce.length > 1)

/** A state to start from that is mostly not empty; every player in the currency of the opening. */
export const start: fc.Arbitrary<HistoryStep[]> = story.map(moves =>
  concrete(moves, 'start').filter(({ step }) => step !== 'change currency'),
)
