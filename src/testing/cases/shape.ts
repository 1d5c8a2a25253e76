/** Records are returned as they were stored: nulls, amounts, ids, texts, dates. */
import { add, type Decimal, negate, subtract } from '../../money.js'
import type { Account, WalletChanges } from '../../store.js'
import { type CaseContext, casesOf } from '../case-context.js'
import {
  addCredit,
  anna,
  chen,
  keys,
  leaveTombstone,
  placeBet,
  refuseBet,
  settleBet,
  unsettleBet,
} from '../changes.js'
import { sameAmount } from '../equality.js'
import { short, shown } from '../trace.js'
import type { Wallet } from '../wallet.js'

export const shapeCases = casesOf({
  async 'WS-01 Missing records are null, and an unknown player has no accounts'(wallet, context) {
    const ids = { transactionId: 't-0', playerId: 'unknown-player', betId: 'b-0' }
    const actual = await wallet.store.load({ operation: 'placebet', ...ids })
    context.check(shown(actual.accounts) === '[]', 'accounts to be empty', actual.accounts)
    for (const part of ['bet', 'transaction'] as const) {
      context.check(actual[part] === null, `${part} to be null`, actual[part])
    }
  },
  'WS-02 load returns an account with currency, and with balance as decimal text': {
    players: [anna, chen],
    async run(wallet, context) {
      for (const expected of [anna, chen]) {
        const [actual] = await wallet.accounts(expected.playerId)
        const same =
          actual !== undefined &&
          actual.playerId === expected.playerId &&
          actual.currency === expected.currency &&
          sameAmount(actual.balance, expected.balance)
        context.check(same, `the account ${shown(expected)}`, actual)
      }
    },
  },
  async 'WS-03 load returns a bet and its transaction as they were committed'(wallet, context) {
    const changes = placeBet('t-1', 'b-1')
    const { walletTransactionId } = await wallet.expectCommitted(changes)
    await wallet.expectRecords(changes)
    const actual = await wallet.transaction('placebet', 't-1')
    context.check(
      actual?.walletTransactionId === walletTransactionId,
      `the walletTransactionId that commit answered: ${walletTransactionId}`,
      actual?.walletTransactionId,
    )
  },
  async 'WS-04 load returns a recorded refusal with its error code and description (D6, D7)'(
    wallet,
    context,
  ) {
    const description = 'Grenze erreicht: ß, 限度, "quoted", it\'s \\ final'
    const refused = refuseBet('t-1', 'b-1', { errorCode: 'LIMIT_REACHED', description })
    await wallet.expectCommitted(refused)
    await wallet.expectRecords(refused)
    const bet = await wallet.bet('b-1')
    context.check(bet === null, 'no bet from a refusal', bet)
    await wallet.expectBalance('anna', '100')
  },
  async 'WS-05 Credits are stored per settlement type; a type that was never credited has no key (D18)'(
    wallet,
    context,
  ) {
    let bet = await wallet.committedBet(placeBet('t-1', 'b-1'))
    const expected = { BET_PAID: '60', VOIDED: '30', CASHOUT: '7.5' } as const
    const amounts = Object.entries(expected) as [keyof typeof expected, Decimal][]
    context.check(Object.keys(bet.credits).length === 0, 'no credits at first', bet.credits)
    for (const [type, amount] of amounts) {
      bet = await wallet.committedBet(settleBet(bet, `s-${type}`, amount, { type }))
    }
    for (const [type, amount] of amounts) {
      context.expectAmount(bet.credits[type]?.live, amount, `live for ${type}`)
      context.expectAmount(bet.credits[type]?.owed, '0', `owed for ${type}`)
    }
    const { credits } = await wallet.committedBet(unsettleBet(bet, 'u-1', { type: 'VOIDED' }))
    for (const type of ['BET_PAID', 'CASHOUT'] as const)
      context.expectAmount(credits[type]?.live, expected[type], `live for ${type} after VOIDED was reversed`)
  },
  async 'WS-06 Reversed and owed amounts are stored beside the live amount, and a live amount of null is not 0 (D7, D18)'(
    wallet,
    context,
  ) {
    let bet = await wallet.committedBet(placeBet('t-1', 'b-1'))
    const steps = [
      { amount: '60', uncollected: false, reversed: '60', owed: '0' },
      { amount: '40', uncollected: true, reversed: '60', owed: '40' },
      { amount: '0', uncollected: false, reversed: '60', owed: '40' },
    ]
    for (const [index, { amount, uncollected, reversed, owed }] of steps.entries()) {
      bet = await wallet.committedBet(settleBet(bet, `s-${index}`, amount))
      context.expectAmount(bet.credits.BET_PAID?.live, amount, 'live')
      bet = await wallet.committedBet(unsettleBet(bet, `u-${index}`, { uncollected }))
      const credit = bet.credits.BET_PAID
      context.check(credit?.live === null, 'a live amount of null', credit)
      context.expectAmount(credit?.reversed, reversed, 'reversed')
      context.expectAmount(credit?.owed, owed, 'owed')
    }
  },
  async 'WS-07 A tombstone is stored as a rolled-back bet of the player with a stake of 0 (D11)'(wallet) {
    const tombstone = leaveTombstone('r-1', 'b-1')
    await wallet.expectCommitted(tombstone)
    await wallet.expectRecords(tombstone)
  },
  'WS-08 Stakes, credits, deltas and balances are exact up to the declared digits and scale (D21)': {
    async runAlone(context) {
      for (const amount of amountsWithin(limitsOf(context))) {
        const wallet = await context.open([{ ...anna, balance: amount }])
        const forms = wallet.addsCredits ? [settleBet, addCredit] : [settleBet]
        for (const [index, settle] of forms.entries()) {
          const id = `t-${index}`
          await wallet.expectBalance('anna', amount)
          const bet = await wallet.committedBet(placeBet(id, id, { stake: amount }))
          await wallet.expectBalance('anna', '0')
          context.expectAmount(bet.stake, amount, 'as stake')
          const transaction = await wallet.transaction('placebet', id)
          context.expectAmount(transaction?.amount, amount, 'as amount of the transaction')
          context.expectAmount(transaction?.delta, negate(amount), 'as delta of the transaction')
          const { balance } = await wallet.expectCommitted(settle(bet, id, amount))
          context.expectAmount(balance, amount, 'in the answer')
          const { credits } = await wallet.existingBet(id)
          context.expectAmount(credits.BET_PAID?.live, amount, 'as live credit')
        }
      }
    },
  },
  'WS-09 Sums are exact: 0.1 + 0.2 is 0.3, and a large balance keeps its smallest unit (D21)': {
    async runAlone(context) {
      const { digits, scale } = limitsOf(context)
      const unit = smallestOf(scale)
      const large = subtract(`1${'0'.repeat(digits - scale)}`, unit)
      const wallet = await context.open([{ ...anna, balance: large }])
      await wallet.expectCommitted(placeBet('t-1', 'b-1', { stake: unit }))
      await wallet.expectBalance('anna', subtract(large, unit))
      if (wallet.addsCredits) await addCredits(context, large, unit)
      if (scale === 0) return
      const small = await context.open([{ ...anna, balance: '0.3' }])
      for (const part of ['1', '2', '3']) {
        await small.expectCommitted(placeBet(`t-${part}`, `b-${part}`, { stake: '0.1' }))
      }
      await small.expectBalance('anna', '0')
    },
  },
  'WS-10 An amount just beyond the declared limits is stored exactly, refused or a fault; never rounded or wrapped (D22)':
    {
      needs: ['limits'],
      async runAlone(context) {
        const { digits, scale } = limitsOf(context)
        const tooManyDecimals = `1.${'0'.repeat(scale)}1`
        const wallet = await context.open([{ ...anna, balance: digits - scale >= 2 ? '10' : '1' }])
        const before = await wallet.balance('anna')
        const changes = placeBet('t-1', 'b-1', { stake: tooManyDecimals })
        await exactOrNothing(context, wallet, changes, before)

        const tooLarge = `1${'0'.repeat(digits - scale)}`
        const second = await context.open()
        const placed = await second.committedBet(placeBet('t-1', 'b-1', { stake: '1' }))
        await exactOrNothing(context, second, settleBet(placed, 's-1', tooLarge), '99')
      },
    },
  'WS-11 Ids of 255 characters that differ only in the last character are different (D24)': distinctIds(
    'x'.repeat(254).concat('a'),
    'x'.repeat(254).concat('b'),
    'x'.repeat(254),
  ),
  'WS-12 Ids are case-sensitive (D24)': distinctIds('abc', 'ABC', 'aBc'),
  'WS-13 Leading and trailing spaces are part of an id (D24)': distinctIds('abc', ' abc', 'abc ', 'abc  '),
  'WS-14 Ids in any language are stored unchanged; accents and Unicode composition make ids different (D24)':
    distinctIds('é', 'e\u0301', 'e', 'ß', 'ss', '球', '🏇'.repeat(60), "o'hara; --", '100%_', '"\\n', '{}'),
  'WS-15 Ids that look like numbers are stored as text (D24)': distinctIds(
    '1',
    '01',
    '1.0',
    '1e0',
    '+1',
    '12345678901234567890',
    '12345678901234567891',
  ),
  async 'WS-16 Changing objects that were passed to commit or returned by load does not change the stored records'(
    wallet,
    context,
  ) {
    const changes = placeBet('t-1', 'b-1')
    await wallet.expectCommitted(changes)
    context.trace.note('kit', 'changes the objects that it passed to commit')
    overwrite(changes)
    await wallet.expectRecords(placeBet('t-1', 'b-1'))

    context.trace.note('kit', 'changes the objects that load returned')
    overwrite(await wallet.store.load(keys))
    await wallet.expectBalance('anna', '70')
    await wallet.expectRecords(placeBet('t-1', 'b-1'))
  },
  async 'WS-17 load finds a bet by betId alone, and a transaction by operation and transactionId alone (D4, D15, D16)'(
    wallet,
    context,
  ) {
    await wallet.expectCommitted(placeBet('t-1', 'b-1'))
    const ofOthers = [
      { playerId: 'ben', betId: 'b-1' },
      { playerId: 'unknown-player', betId: 'b-1' },
    ]
    const ofAnna = { playerId: 'anna', betId: 'b-2' }
    for (const { playerId, betId } of [...(context.keepsIdsApart() ? [] : ofOthers), ofAnna]) {
      const keys = { operation: 'placebet', transactionId: 't-1', playerId, betId } as const
      const { bet, transaction } = await wallet.store.load(keys)
      context.check(
        transaction?.playerId === 'anna' && transaction.betId === 'b-1',
        `anna's transaction t-1 on b-1, even if ${playerId} and ${betId} are requested`,
        transaction,
      )
      if (betId === 'b-2') context.check(bet === null, 'no bet b-2', bet)
      else context.check(bet?.playerId === 'anna', `anna's bet b-1, even if ${playerId} is requested`, bet)
    }
  },
  async 'WS-18 Texts are stored at full length: ids of 255 characters, error codes of 64, descriptions of 500, currencies of 16 (D24)'(
    wallet,
    context,
  ) {
    // Each character has four bytes in UTF-8 and two units in UTF-16. Only the last one differs.
    const [first, second] = ['1', '2'].map(last => '🏇'.repeat(254).concat(last)) as [string, string]
    const placed = placeBet(first, first)
    await wallet.expectCommitted(placed)
    await wallet.expectRecords(placed)
    const refused = refuseBet(second, second, {
      errorCode: 'LIMIT_'.padEnd(64, 'X'),
      description: '限度'.repeat(249).concat('🏇'),
    })
    await wallet.expectCommitted(refused)
    await wallet.expectRecords(refused)
    await expectCurrencyNotToBeCut(context, wallet)
  },
  'WS-19 transactionDate is stored to the millisecond, as an instant in UTC (D25)': {
    level: 'SHOULD',
    async run(wallet, context) {
      // In the hour that clocks skip, after 2038, and before 1970.
      const dates = ['2026-03-29T01:30:00.001Z', '2049-12-31T23:59:59.999Z', '1969-07-20T20:17:40.123Z']
      for (const [index, date] of dates.entries()) {
        const changes = placeBet(`t-${index}`, `b-${index}`, { stake: '1' })
        await wallet.expectCommitted({
          ...changes,
          transaction: { ...changes.transaction, transactionDate: date },
        })
        const actual = (await wallet.transaction('placebet', `t-${index}`))?.transactionDate
        context.check(actual === date, `the transactionDate ${date}`, actual)
      }
    },
  },
  async 'WS-99 load returns the reason of a transaction as it was committed, also one that no version knows yet'(
    wallet,
    context,
  ) {
    const longest = `DECIDED_BY_A_NEWER_VERSION_${'A'.repeat(37)}`
    const reasons = ['INSUFFICIENT_FUNDS', 'CURRENCY_MISMATCH', 'REFUSED_BY_OPERATOR', longest]
    const all = [
      placeBet('t-accepted', 'b-1'),
      leaveTombstone('r-1', 'b-2'),
      ...reasons.map((reason, index) => refuseBet(`t-${index}`, `b-refused-${index}`, { reason })),
    ]
    for (const changes of all) {
      await wallet.expectCommitted(changes)
      const { operation, transactionId, reason } = changes.transaction
      const actual = (await wallet.transaction(operation, transactionId))?.reason
      context.check(actual === reason, `the reason ${reason} of ${transactionId}`, actual)
    }
  },
})

/** A refusal for a wrong currency is recorded with the currency of the request: exactly, or not at all. */
async function expectCurrencyNotToBeCut(context: CaseContext, wallet: Wallet): Promise<void> {
  const currency = 'ABCDEFGHIJKLMNOP'
  const refused = refuseBet('t-3', 'b-3', { errorCode: 'INVALID_CURRENCY' })
  const changes = { ...refused, transaction: { ...refused.transaction, currency } }
  await wallet.commit(changes).catch(() => undefined) // checked below
  const recorded = await wallet.transaction('placebet', 't-3')
  const isWhole = recorded === null || recorded.currency === currency
  context.check(isWhole, `the currency ${currency} of the request, or no transaction`, recorded)
}

function limitsOf(context: CaseContext): { digits: number; scale: number } {
  return context.harness.limits ?? { digits: 33, scale: 18 }
}

function amountsWithin({ digits, scale }: { digits: number; scale: number }): Decimal[] {
  const whole = digits - scale
  const largest = '9'.repeat(whole) + (scale === 0 ? '' : `.${'9'.repeat(scale)}`)
  const pattern = '1234567890'.repeat(4)
  const mixed =
    pattern.slice(0, whole) + (scale === 0 ? '' : `.${pattern.slice(0, scale).replace(/0$/, '1')}`)
  const cents = scale >= 2 ? ['0.01', '0.07', '1.1'] : []
  return [largest, mixed, smallestOf(scale), ...cents]
}

const smallestOf = (scale: number) => (scale === 0 ? '1' : `0.${'0'.repeat(scale - 1)}1`)

function distinctIds(...ids: string[]) {
  return { runAlone: (context: CaseContext) => expectDistinctIds(context, ids) }
}

/**
 * Bets and transactions with these ids must all be different records, and players unless their ids are plain.
 * Each player has one of the bets, or anna has all of them if an id may exist once per player.
 */
async function expectDistinctIds(context: CaseContext, ids: readonly string[]): Promise<void> {
  const plain = context.harness.playerIds === 'plain'
  const players = ids.map((id, index) => ({
    playerId: plain ? `player-${index}` : id,
    currency: 'EUR',
    balance: String(100 + index),
  }))
  if (!plain)
    context.trace.note(
      'kit',
      "will open players with unusual ids; playerIds: 'plain' in the harness avoids it",
    )
  const ofAnna = context.keepsIdsApart()
  const wallet = await context.open(ofAnna ? [anna, ...players] : players)
  for (const [index, id] of ids.entries()) {
    const player = players[index] as Account
    const others = ids.filter(other => other !== id).map(short)
    const stake = String(index + 1)
    await wallet.expectCommitted(
      placeBet(id, id, { player: ofAnna ? anna : player, stake }),
      `the id ${short(id)} differs from ${others.join(', ')}`,
    )
    if (ofAnna) await wallet.expectCommitted(placeBet(`t-${index}`, `b-${index}`, { player, stake }))
  }
  for (const [index, id] of ids.entries()) {
    const { playerId } = players[index] as Account
    const [actual] = await wallet.accounts(playerId)
    context.check(actual?.playerId === playerId, `the player ${short(playerId)}`, actual)
    await wallet.expectBalance(playerId, '99')
    const owner = ofAnna ? anna.playerId : playerId
    await wallet.expectRecords(
      placeBet(id, id, { player: { ...anna, playerId: owner }, stake: String(index + 1) }),
    )
  }
}

/** A sum of credits is exact up to `large`, and beyond it; or a conflict, where the store cannot hold it. */
async function addCredits(context: CaseContext, large: Decimal, unit: Decimal): Promise<void> {
  const wallet = await context.open([{ ...anna, balance: '0' }])
  let bet = await wallet.committedBet(placeBet('t-1', 'b-1', { stake: '0' }))
  bet = await wallet.committedBet(addCredit(bet, 's-1', subtract(large, unit)))
  bet = await wallet.committedBet(addCredit(bet, 's-2', unit))
  context.expectAmount(bet.credits.BET_PAID?.live, large, 'live')
  await wallet.expectCommitted(placeBet('t-2', 'b-2', { stake: large }))
  const beyond = addCredit(bet, 's-3', unit)
  const { status } = await wallet.commit(beyond)
  if (status === 'committed') {
    await wallet.expectRecords(settleBet(bet, 's-3', unit))
  } else {
    await wallet.expectConflict(beyond, 'the store cannot hold the sum')
  }
}

/** Beyond the limits: the changes are stored exactly, or not at all. */
async function exactOrNothing(
  context: CaseContext,
  wallet: Wallet,
  changes: WalletChanges,
  before: Decimal,
): Promise<void> {
  const { transaction, account } = changes
  const result = await wallet.commit(changes).catch((error: unknown) => ({ status: 'threw' as const, error }))
  const after = await wallet.balance('anna')
  const actual = await wallet.transaction(transaction.operation, transaction.transactionId)
  if (result.status === 'committed') {
    const exact = add(before, account.delta)
    context.expectAmount(after, exact, 'as balance, or a refusal')
    context.expectAmount(actual?.amount, transaction.amount ?? '', 'as amount')
    return
  }
  context.check(
    result.status === 'refused' || result.status === 'threw',
    'committed exactly, refused, or a fault',
    result,
  )
  context.check(sameAmount(after, before) && actual === null, `no changes, balance ${before}`, {
    after,
    actual,
  })
}

/** Changes every property that can be changed, at every depth. Frozen objects stay as they are. */
function overwrite(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    overwrite(item)
    if (typeof item !== 'object') Reflect.set(value, key, typeof item === 'number' ? item + 7 : 'overwritten')
  }
  if ('credits' in value)
    Reflect.set(value.credits as object, 'VOIDED', { live: '1', reversed: '0', owed: '0' })
}
