/** Each guard alone, with the other guards satisfied. A failed guard must leave no changes. */
import { add, subtract } from '../../money.js'
import type { Bet, Decimal, WalletChanges } from '../../store.js'
import { casesOf, type Run } from '../case-context.js'
import {
  anna,
  ben,
  chen,
  leaveTombstone,
  placeBet,
  refuseBet,
  rollBackBet,
  settleBet,
  unsettleBet,
} from '../changes.js'
import { sameAmount } from '../equality.js'
import { otherPlayers } from './all-or-nothing.js'

export const guardCases = casesOf({
  'WS-20 Guard 1: a transaction that is already recorded is a conflict, even for another bet (D1)': conflict(
    placeBet('t-1', 'b-1'),
    placeBet('t-1', 'b-2'),
    'the transaction is recorded',
    '70',
  ),
  'WS-21 Guard 1: a transactionId is unique across all players (D1)': {
    idScope: 'global',
    run: conflict(
      placeBet('t-1', 'b-1'),
      placeBet('t-1', 'b-2', { player: ben }),
      'anna has this transaction',
      '70',
    ),
  },
  async 'WS-22 Guard 1: the key is operation and transactionId, so a rollback may reuse the id of its placebet (D1)'(
    wallet,
    context,
  ) {
    const bet = await wallet.committedBet(placeBet('t-1', 'b-1'))
    await wallet.expectCommitted(rollBackBet(bet, 't-1'))
    await wallet.expectBalance('anna', '100')
    const [placed, rolled] = [
      await wallet.transaction('placebet', 't-1'),
      await wallet.transaction('rollbackbet', 't-1'),
    ]
    context.check(sameAmount(placed?.delta, '-30'), 'the placebet to keep its delta of -30', placed)
    context.check(sameAmount(rolled?.delta, '30'), 'the rollbackbet to have a delta of 30', rolled)
  },
  'WS-23 Guard 1: a recorded refusal reserves its transactionId like any other transaction (D6)': conflict(
    refuseBet('t-1', 'b-1'),
    placeBet('t-1', 'b-1'),
    'its refusal is recorded',
    '100',
  ),
  'WS-24 Guard 2: a new bet whose betId already exists is a conflict, even under a new transactionId (D10)':
    conflict(placeBet('t-1', 'b-1'), placeBet('t-2', 'b-1'), 'the bet exists', '70'),
  'WS-25 Guard 2: a betId is unique across all players (D1)': {
    idScope: 'global',
    run: conflict(placeBet('t-1', 'b-1'), placeBet('t-2', 'b-1', { player: ben }), 'anna has this bet', '70'),
  },
  'WS-26 Guard 2: a tombstone reserves its betId: a placebet that arrives after its rollback is a conflict (D11)':
    conflict(leaveTombstone('r-1', 'b-1'), placeBet('t-1', 'b-1'), 'the bet was rolled back', '100'),
  async 'WS-27 Guard 2: a change based on an older revision of the bet is a conflict'(wallet) {
    const old = await wallet.committedBet(placeBet('t-1', 'b-1'))
    await wallet.expectCommitted(settleBet(old, 's-1', '60'))
    await wallet.expectConflict(settleBet(old, 's-2', '5'), 'the bet has changed')
    await wallet.expectConflict(rollBackBet(old, 'r-1'), 'the bet has changed')
    await wallet.expectBalance('anna', '130')
  },
  async 'WS-28 Guard 2: a change of a bet that does not exist, or a change that skips a revision, is a conflict'(
    wallet,
  ) {
    const missing = placeBet('t-0', 'b-1').bet as Bet
    await wallet.expectConflict(settleBet(missing, 's-1', '60'), 'the bet does not exist')
    const bet = await wallet.committedBet(placeBet('t-1', 'b-1'))
    const ahead = settleBet({ ...bet, revision: 2 }, 's-2', '60')
    await wallet.expectConflict(ahead, 'revision 2 is not stored yet')
  },
  async 'WS-29 Guard 2: every change of a bet increases its revision by one'(wallet, context) {
    await wallet.expectCommitted(placeBet('t-1', 'b-1'))
    const changes = [
      (bet: Bet) => settleBet(bet, 's-1', '60'),
      (bet: Bet) => unsettleBet(bet, 'u-1'),
      (bet: Bet) => settleBet(bet, 's-2', '0'),
      (bet: Bet) => unsettleBet(bet, 'u-2', { uncollected: true }),
      (bet: Bet) => rollBackBet(bet, 'r-1'),
    ]
    for (const [index, change] of changes.entries()) {
      const bet = await wallet.existingBet('b-1')
      context.check(bet.revision === index + 1, `revision ${index + 1}`, bet.revision)
      await wallet.expectCommitted(change(bet))
    }
  },
  async 'WS-30 Guard 3: a stake above the balance is a conflict; a stake of exactly the balance is not'(
    wallet,
  ) {
    const above = placeBet('t-1', 'b-1', { stake: '100.01' })
    await wallet.expectConflict(above, 'the balance would fall below its floor')
    await wallet.expectCommitted(placeBet('t-1', 'b-1', { stake: '100' }))
    await wallet.expectBalance('anna', '0')
  },
  async 'WS-31 Guard 3: the floor is the one passed to commit, even if it is not 0'(wallet) {
    const withFloor = (floor: string, transactionId: string) => {
      const changes = placeBet(transactionId, transactionId, { stake: '30' })
      return { ...changes, account: { currency: 'EUR', delta: '-30', floor } }
    }
    await wallet.expectConflict(withFloor('70.01', 't-1'), '70 would be below the floor of 70.01')
    await wallet.expectCommitted(withFloor('70', 't-2'))
    await wallet.expectBalance('anna', '70')
  },
  'WS-32 Guard 3: amounts are compared as numbers: 9 is less than 10, and 100 is more than 20': {
    players: [
      { ...anna, balance: '9' },
      { ...ben, balance: '100' },
    ],
    async run(wallet) {
      await wallet.expectConflict(placeBet('t-1', 'b-1', { stake: '10' }), '9 does not cover 10')
      await wallet.expectCommitted(placeBet('t-2', 'b-2', { stake: '20', player: ben }))
      await wallet.expectBalance('ben', '80')
    },
  },
  'WS-33 Guard 3: a currency other than the player’s is a conflict, for debits and for credits (D23)': {
    players: [anna, chen],
    async run(wallet) {
      const inEuro = { ...chen, currency: 'EUR' }
      await wallet.expectConflict(
        placeBet('t-1', 'b-1', { player: inEuro }),
        'the player has another currency',
      )
      const bet = await wallet.committedBet(placeBet('t-2', 'b-2', { player: chen }))
      await wallet.expectConflict(
        settleBet(bet, 's-1', '60', { player: inEuro }),
        'the player has another currency',
      )
      await wallet.expectBalance('chen', '9970')
    },
  },
  async 'WS-34 Guard 3: a credit without a floor is committed, even to a negative balance'(wallet, context) {
    const bet = await wallet.committedBet(placeBet('t-1', 'b-1'))
    // A debit without a floor makes the balance negative, as the rules of a PAM may allow.
    const overdrawn = settleBet(bet, 's-1', '0')
    const debit = { ...overdrawn, account: { currency: 'EUR', delta: '-100', floor: null } }
    const changes = { ...debit, transaction: { ...debit.transaction, delta: '-100' } }
    const result = await wallet.store.commit(changes).catch(() => null)
    if (result?.status !== 'committed') {
      const expected = 'committed, refused or a fault: a store may forbid negative balances'
      context.check(result === null || result.status === 'refused', expected, result)
      return await wallet.expectBalance('anna', '70')
    }
    await wallet.expectCommitted(settleBet(await wallet.existingBet('b-1'), 's-2', '5'))
    await wallet.expectBalance('anna', '-25')
  },
  'WS-35 If delta is 0, no floor is checked and the balance does not change': {
    players: [{ ...anna, balance: '0' }, ben],
    async run(wallet, context) {
      const { balance } = await wallet.expectCommitted(placeBet('t-1', 'b-1', { stake: '0' }))
      context.check(sameAmount(balance, '0'), 'the balance of 0 in the answer', balance)
      await wallet.expectCommitted(leaveTombstone('r-2', 'b-2'))
      await wallet.expectCommitted(refuseBet('t-3', 'b-3'))
      await wallet.expectBalance('anna', '0')
      await wallet.expectBalance('ben', '100')
    },
  },
  'WS-36 A commit changes only the balance of its own player and only its own bet': {
    players: [anna, ...otherPlayers],
    async run(wallet) {
      const first = await wallet.committedBet(placeBet('t-1', 'b-1'))
      const bets: Bet[] = []
      for (const player of otherPlayers) {
        const id = `of-${player.playerId}`
        bets.push(await wallet.committedBet(placeBet(id, id, { player, stake: '5' })))
      }
      await wallet.expectCommitted(settleBet(first, 's-1', '60'))
      for (const bet of bets) {
        await wallet.expectBet(bet)
        await wallet.expectBalance(bet.playerId, '95')
      }
      await wallet.expectBalance('anna', '130')
    },
  },
  async 'WS-37 Guard 1 holds for every operation and for refusals: a recorded transaction is never recorded again (D1)'(
    wallet,
    context,
  ) {
    const recorded = 'the transaction is recorded, for another bet'
    for (const betId of ['b-1', 'b-2']) await wallet.expectCommitted(placeBet(betId, betId))
    const first = () => wallet.existingBet('b-1')
    const second = () => wallet.existingBet('b-2')
    await wallet.expectCommitted(settleBet(await first(), 's-1', '60'))
    await wallet.expectConflict(settleBet(await second(), 's-1', '60'), recorded)
    await wallet.expectCommitted(settleBet(await second(), 's-2', '60'))
    await wallet.expectCommitted(unsettleBet(await first(), 'u-1'))
    await wallet.expectConflict(unsettleBet(await second(), 'u-1'), recorded)
    await wallet.expectCommitted(unsettleBet(await second(), 'u-2'))
    await wallet.expectCommitted(rollBackBet(await first(), 'r-1'))
    await wallet.expectConflict(rollBackBet(await second(), 'r-1'), recorded)
    await wallet.expectConflict(leaveTombstone('r-1', 'b-3'), recorded)
    await wallet.expectConflict(refuseBet('b-1', 'b-1'), 'the bet was accepted')
    await wallet.expectBalance('anna', '70')
    if (context.keepsIdsApart()) return

    const ofAnna = 'the transaction is recorded, for another player'
    await wallet.expectCommitted(placeBet('b-9', 'b-9', { player: ben }))
    const bens = () => wallet.existingBet('b-9')
    await wallet.expectConflict(settleBet(await bens(), 's-1', '60', { player: ben }), ofAnna)
    await wallet.expectCommitted(settleBet(await bens(), 's-9', '60', { player: ben }))
    await wallet.expectConflict(unsettleBet(await bens(), 'u-1', { player: ben }), ofAnna)
    await wallet.expectCommitted(unsettleBet(await bens(), 'u-9', { player: ben }))
    await wallet.expectConflict(rollBackBet(await bens(), 'r-1', { player: ben }), ofAnna)
    await wallet.expectBalance('ben', '70')
  },
  async 'WS-38 Guard 2 holds for every operation: settlements of any type or of 0, unsettlements and tombstones'(
    wallet,
  ) {
    const placed = await wallet.committedBet(placeBet('t-1', 'b-1'))
    await wallet.expectConflict(leaveTombstone('r-1', 'b-1'), 'the bet has arrived')
    const paid = await wallet.committedBet(settleBet(placed, 's-1', '60'))
    await wallet.expectCommitted(unsettleBet(paid, 'u-1'))
    for (const type of ['BET_PAID', 'VOIDED', 'CASHOUT'] as const) {
      for (const amount of ['0', '5']) {
        const late = settleBet(paid, `s-${type}-${amount}`, amount, { type })
        await wallet.expectConflict(late, 'the bet has changed')
      }
    }
    await wallet.expectConflict(unsettleBet(paid, 'u-2'), 'the credit has been reversed')
    const uncollected = unsettleBet(paid, 'u-3', { uncollected: true })
    await wallet.expectConflict(uncollected, 'the credit has been reversed')
    await wallet.expectBalance('anna', '70')
  },
  async 'WS-39 Guard 3 checks the same balance that load returns, for stakes and for clawbacks'(wallet) {
    const placed = await wallet.committedBet(placeBet('t-1', 'b-1'))
    const paid = await wallet.committedBet(settleBet(placed, 's-1', '60'))
    const shown = await wallet.balance('anna')
    const above = placeBet('t-2', 'b-2', { stake: add(shown, '0.01') })
    await wallet.expectConflict(above, `load returned ${shown}, a cent less`)
    const spent = subtract(shown, '59.99')
    await wallet.expectCommitted(placeBet('t-3', 'b-3', { stake: spent }))
    await wallet.expectConflict(unsettleBet(paid, 'u-1'), 'load returned 59.99, and the debit is 60')
    await wallet.expectCommitted(placeBet('t-4', 'b-4', { stake: '59.99' }))
    await wallet.expectBalance('anna', '0')
  },
  'WS-40 A commit is atomic: if guard 1 fails, neither bet nor balance is written': conflict(
    refuseBet('t-1', 'b-9'),
    placeBet('t-1', 'b-1'),
    'the transaction is recorded',
    '100',
  ),
  'WS-41 A commit is atomic: if guard 2 fails, neither transaction nor balance is written': conflict(
    leaveTombstone('r-1', 'b-1'),
    placeBet('t-1', 'b-1'),
    'the bet exists',
    '100',
  ),
})

/** What is recorded is committed; then these changes are a conflict, which leaves no trace. */
function conflict(recorded: WalletChanges, changes: WalletChanges, because: string, balance: Decimal): Run {
  return async wallet => {
    await wallet.expectCommitted(recorded)
    await wallet.expectConflict(changes, because)
    await wallet.expectBalance('anna', balance)
  }
}
