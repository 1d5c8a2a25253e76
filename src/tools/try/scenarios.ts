/** What the buttons of the page do: what goes wrong in real life between a platform and a wallet. */
import type { BetHistory } from '../../lookups/records.js'
import { add, parseDecimal, textOf, zero } from '../numbers/decimal.js'
import { type Json, raw } from '../wire/json.js'
import type { TryCall, TryPlatform } from './platform.js'

/** A bet, as the platform knows it. */
export interface TryBet {
  betId: string
  /** The transactionId of its placebet. */
  placebetId: string
  playerId: string
  currency: string
  /** As it was typed, or as the wallet has recorded it. */
  stake: string
  /** Of its placebet, ISO 8601: copies and retries are the same text. */
  transactionDate: string
}

/** A bet to place. */
export interface NewBet extends TryBet {
  /** The player's balance. */
  balance: string
}

/** A button: its words, what happens and why, and the calls. */
export interface Scenario<Bet> {
  /** In the button's URL. */
  name: string
  label: string
  description: string
  run(platform: TryPlatform, bet: Bet): Promise<TryCall[]>
}

/** Each places a new bet. */
export const newBetScenarios: readonly Scenario<NewBet>[] = [
  {
    name: 'place',
    label: 'Place the bet',
    description: 'The platform sends one placebet.',
    run: async (platform, bet) => [await platform.send('placebet', placebetOf(bet))],
  },
  {
    name: 'lose-the-answer',
    label: 'Lose the answer',
    description:
      'The wallet debits the stake, but its answer is lost. The platform cannot know what happened, so it rolls the bet back, and the stake returns.',
    run: async (platform, bet) => [
      await platform.send('placebet', placebetOf(bet), { lost: true }),
      await platform.send('rollbackbet', rollbackOf(bet)),
    ],
  },
  {
    name: 'roll-back-first',
    label: 'Roll it back first',
    description:
      'The placebet is delayed. The platform stops waiting and sends the rollback, which arrives before the bet. When the bet arrives, it must not be debited.',
    run: async (platform, bet) => [
      await platform.send('rollbackbet', rollbackOf(bet)),
      await platform.send('placebet', placebetOf(bet), { note: 'arrives late' }),
    ],
  },
  {
    name: 'deliver-late',
    label: 'Deliver a copy late',
    description:
      'The bet is placed and rolled back. Then the network delivers a second copy of its placebet. It must not be debited again.',
    run: async (platform, bet) => [
      await platform.send('placebet', placebetOf(bet)),
      await platform.send('rollbackbet', rollbackOf(bet)),
      await platform.send('placebet', placebetOf(bet), { note: 'the late copy' }),
    ],
  },
  {
    name: 'two-at-once',
    label: 'Two at once',
    description: 'Two copies of one placebet arrive at the same moment. The stake is debited once.',
    run: (platform, bet) =>
      Promise.all([
        platform.send('placebet', placebetOf(bet), { note: 'one copy' }),
        platform.send('placebet', placebetOf(bet), { note: 'the other copy' }),
      ]),
  },
  {
    name: 'funds-for-one',
    label: 'Two bets, funds for one',
    description:
      'Two bets arrive at the same moment, and each stakes the whole balance. One is taken, the other is refused.',
    run: (platform, { balance, ...bet }) => {
      const one = { ...bet, stake: balance }
      const other = { ...one, betId: `${bet.betId}b`, placebetId: `${bet.placebetId}b` }
      return Promise.all([
        platform.send('placebet', placebetOf(one), { note: 'one bet' }),
        platform.send('placebet', placebetOf(other), { note: 'the other bet' }),
      ])
    },
  },
]

/** A button of a bet. */
export interface BetScenario extends Scenario<TryBet> {
  /** Whether it changes something in this state of the bet, or shows a retry. */
  applies(history: BetHistory): boolean
}

/** Neither settled nor rolled back, and this call was not sent before. */
const isOpenFor =
  (action: string) =>
  ({ betId, bet, transactions }: BetHistory): boolean =>
    bet?.status === 'PLACED' &&
    Object.values(bet.credits).every(({ live }) => live === null) &&
    transactions.every(({ transactionId }) => transactionId !== `${betId}/${action}`)

/** Each continues with a bet that was placed. A second click sends the same body: a retry. */
export const placedBetScenarios: readonly BetScenario[] = [
  {
    name: 'send-again',
    label: 'Send it again',
    applies: () => true,
    description: 'The platform sends the same placebet once more: a retry. Nothing is debited.',
    run: async (platform, bet) => [await platform.send('placebet', placebetOf(bet), { note: 'again' })],
  },
  {
    name: 'settle',
    label: 'Settle it as won',
    applies: isOpenFor('win'),
    description:
      'The bet wins twice its stake. The interface has no call for settlements: /settlement stands for your own code.',
    run: async (platform, bet) => [await platform.send('settlement', winOf(bet, 'win'))],
  },
  {
    name: 'settle-wrongly',
    label: 'Settle wrongly, then unsettle',
    applies: isOpenFor('wrong-win'),
    description: 'The result was wrong: a win is credited, then the platform takes all of it back.',
    run: async (platform, bet) => [
      await platform.send('settlement', winOf(bet, 'wrong-win')),
      await platform.send('unsettlement', { ...idsOf(bet, 'unsettle'), type: 'UNSCORED' }),
    ],
  },
  {
    name: 'roll-back',
    label: 'Roll it back',
    applies: isOpenFor('rollback'),
    description: 'The platform undoes the bet.',
    run: async (platform, bet) => [await platform.send('rollbackbet', rollbackOf(bet))],
  },
]

/** Of what comes after the placebet. The same at every click, as a platform sends the same body again. */
const idsOf = ({ betId, playerId }: TryBet, action: string) => ({
  transactionId: `${betId}/${action}`,
  betId,
  playerId,
})

const placebetOf = (bet: TryBet) => ({
  transactionId: bet.placebetId,
  betId: bet.betId,
  playerId: bet.playerId,
  transactionDate: bet.transactionDate,
  sessionId: 'session-1',
  amount: amountOf(bet.stake),
  currency: bet.currency,
  odds: 2,
  betType: 'SINGLE',
})

const rollbackOf = (bet: TryBet) => ({ ...idsOf(bet, 'rollback'), type: 'TECHNICAL_ERROR' })

function winOf(bet: TryBet, action: string) {
  const stake = parseDecimal(bet.stake) ?? zero
  return {
    ...idsOf(bet, action),
    type: 'BET_PAID',
    amount: raw(textOf(add(stake, stake))),
    currency: bet.currency,
  }
}

/** A stake that is no number is sent as text: the wallet's own refusal explains it. */
const amountOf = (stake: string): Json => (/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(stake) ? raw(stake) : stake)
