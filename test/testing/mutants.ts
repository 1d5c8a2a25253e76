/**
 * The proof that the kit can fail: mutants, each the reference store with one small fault. `killedBy` is the
 * case that is about the fault; other cases may fail as well.
 */
import { add, type Decimal, isZero, subtract, wholeDigitsOf } from '../../src/money.js'
import type { SettlementRequest } from '../../src/requests.js'
import type { Bet, CommitResult, Player, Transaction, WalletChanges, WalletKeys } from '../../src/store.js'
import type { StoreHarness } from '../../src/testing/harness.js'
import {
  ConnectionLost,
  type Database,
  Deadlock,
  Locks,
  LockTimeout,
  type OpenedReference,
  OutOfRange,
  ReferenceStore,
  type Rows,
  referenceHarness,
} from './reference.js'

export interface Mutant {
  name: string
  /** The fault in one sentence. */
  fault: string
  /** The case that is about the fault. */
  killedBy: `WS-${string}`
  /** For mutants that block: the timeout of the kit. */
  timeoutMs?: number
  make(): StoreHarness<OpenedReference>
}

const guards = ['guard1', 'guard2', 'guard3'] as const

type StoreClass = new (database: Database) => ReferenceStore

/** Builds mutants from `name: [killedBy, fault, Store, timeoutMs]`. */
function mutantsOf(
  table: Record<string, readonly [Mutant['killedBy'], string, StoreClass, number?]>,
): Mutant[] {
  return Object.entries(table).map(([name, [killedBy, fault, Store, timeoutMs]]) => ({
    name,
    fault,
    killedBy,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    make: () => referenceHarness(Store),
  }))
}

/** Records are returned otherwise than they were stored. */
const ofShape = mutantsOf({
  'undefined-for-none': [
    'WS-01',
    'a missing bet is undefined instead of null',
    class extends ReferenceStore {
      override readBet(keys: WalletKeys) {
        return this.storedBet(keys) as Bet
      }
    },
  ],
  'player-created-by-load': [
    'WS-01',
    'load creates an unknown player with a balance of 0',
    class extends ReferenceStore {
      override readPlayer(keys: WalletKeys) {
        return super.readPlayer(keys) ?? { playerId: keys.playerId, currency: 'EUR', balance: '0' }
      }
    },
  ],
  'one-currency': [
    'WS-02',
    'every player has the same currency',
    class extends ReferenceStore {
      override readPlayer(keys: WalletKeys) {
        const player = super.readPlayer(keys)
        return player && { ...player, currency: 'EUR' }
      }
    },
  ],
  'balance-as-number': [
    'WS-02',
    'the balance is a JavaScript number',
    class extends ReferenceStore {
      override readPlayer(keys: WalletKeys) {
        const player = super.readPlayer(keys)
        return player && { ...player, balance: Number(player.balance) as unknown as Decimal }
      }
    },
  ],
  'id-by-load': [
    'WS-03',
    'every load invents a new walletTransactionId',
    class extends ReferenceStore {
      private loads = 0
      override readTransaction(keys: WalletKeys) {
        const transaction = super.readTransaction(keys)
        this.loads += 1
        return transaction && { ...transaction, walletTransactionId: `L${this.loads}` }
      }
    },
  ],
  'delta-not-stored': [
    'WS-03',
    'the delta of the transaction is not stored',
    class extends ReferenceStore {
      override transactionRow(transaction: Transaction) {
        return { ...super.transactionRow(transaction), delta: '0' }
      }
    },
  ],
  'refusal-dropped': [
    'WS-04',
    'a refusal is stored as a transaction with delta 0, and so as a success',
    class extends ReferenceStore {
      override transactionRow(transaction: Transaction) {
        return { ...super.transactionRow(transaction), refusal: null }
      }
    },
  ],
  'description-in-latin-1': [
    'WS-04',
    'the description of a refusal is stored in Latin 1',
    class extends ReferenceStore {
      override transactionRow(transaction: Transaction) {
        const { refusal } = transaction
        const latin = refusal && { ...refusal, description: refusal.description.replace(/[^\0-\xff]/g, '?') }
        return { ...super.transactionRow(transaction), refusal: latin }
      }
    },
  ],
  'one-credit-column': [
    'WS-05',
    'there is one credit column per bet: only the last credit is stored',
    class extends ReferenceStore {
      override betRow(bet: Bet) {
        return { ...super.betRow(bet), credits: Object.fromEntries(Object.entries(bet.credits).slice(-1)) }
      }
    },
  ],
  'cash-out-unknown': [
    'WS-05',
    'the list of settlement types is incomplete: a cash-out is dropped',
    class extends ReferenceStore {
      override betRow(bet: Bet) {
        const row = super.betRow(bet)
        delete row.credits.CASHOUT
        return row
      }
    },
  ],
  'credits-from-the-start': [
    'WS-05',
    'every new bet has a live credit of 0 of every type',
    class extends ReferenceStore {
      override readBet(keys: WalletKeys) {
        const bet = super.readBet(keys)
        const nothing = { live: '0', reversed: '0', owed: '0' }
        return (
          bet && { ...bet, credits: { BET_PAID: nothing, VOIDED: nothing, CASHOUT: nothing, ...bet.credits } }
        )
      }
    },
  ],
  'null-as-zero': [
    'WS-06',
    'a reversed credit has a live amount of 0: the column is NOT NULL DEFAULT 0',
    withCredits(credit => ({ ...credit, live: credit.live ?? '0' })),
  ],
  'owed-not-stored': [
    'WS-06',
    'the owed amount is not stored',
    withCredits(credit => ({ ...credit, owed: '0' })),
  ],
  'reversed-not-stored': [
    'WS-06',
    'the reversed amount is not stored',
    withCredits(credit => ({ ...credit, reversed: '0' })),
  ],
  'tombstone-as-placed': [
    'WS-07',
    'every new bet is stored with the status PLACED',
    class extends ReferenceStore {
      override betRow(bet: Bet) {
        return { ...super.betRow(bet), status: bet.revision === 1 ? ('PLACED' as const) : bet.status }
      }
    },
  ],
  'tombstone-not-loaded': [
    'WS-07',
    'load omits rolled-back bets with a stake of 0',
    class extends ReferenceStore {
      override readBet(keys: WalletKeys) {
        const bet = super.readBet(keys)
        return bet?.status === 'ROLLED_BACK' && isZero(bet.stake) ? null : bet
      }
    },
  ],
  'two-decimals': [
    'WS-08',
    'amounts are rounded to two decimals',
    class extends ReferenceStore {
      override column(amount: Decimal) {
        return rounded(amount, 2)
      }
    },
  ],
  'credits-as-json-numbers': [
    'WS-08',
    'credits are stored as a JSON document with numbers',
    withCredits(credit => ({ ...credit, live: credit.live && asFloat(credit.live) })),
  ],
  'float-sums': [
    'WS-09',
    'balances are added as floats',
    class extends ReferenceStore {
      override sum(a: Decimal, b: Decimal) {
        return asFloat(a, b)
      }
      override column(amount: Decimal) {
        return amount
      }
    },
  ],
  'rounds-beyond-its-scale': [
    'WS-10',
    'an amount with too many decimals is rounded silently',
    class extends ReferenceStore {
      override column(amount: Decimal) {
        return super.column(rounded(amount, 18))
      }
    },
  ],
  'clamps-beyond-its-digits': [
    'WS-10',
    'an amount that is too large becomes the largest possible one',
    class extends ReferenceStore {
      override column(amount: Decimal) {
        return wholeDigitsOf(amount) > 15 ? '999999999999999.999999999999999999' : super.column(amount)
      }
    },
  ],
  'error-swallowed': [
    'WS-10',
    'a database error is logged, and answered as committed',
    class extends ReferenceStore {
      override answerError(error: unknown, changes: WalletChanges): CommitResult {
        if (!(error instanceof OutOfRange)) return super.answerError(error, changes)
        const player = this.storedPlayer(changes.transaction.playerId) as Player
        return { status: 'committed', balance: player.balance, walletTransactionId: null }
      }
    },
  ],
  'ids-of-64': [
    'WS-11',
    'ids are truncated to 64 characters',
    class extends ReferenceStore {
      override id(text: string) {
        return text.slice(0, 64)
      }
    },
  ],
  'ids-of-254': [
    'WS-11',
    'ids are truncated to 254 characters',
    class extends ReferenceStore {
      override id(text: string) {
        return text.slice(0, 254)
      }
    },
  ],
  'ids-case-insensitive': [
    'WS-12',
    'ids are compared case-insensitively',
    class extends ReferenceStore {
      override id(text: string) {
        return text.toLowerCase()
      }
    },
  ],
  'ids-trimmed': [
    'WS-13',
    'ids are trimmed',
    class extends ReferenceStore {
      override id(text: string) {
        return text.trim()
      }
    },
  ],
  'ids-padded': [
    'WS-13',
    'trailing spaces of an id are ignored, as in a CHAR column',
    class extends ReferenceStore {
      override id(text: string) {
        return text.trimEnd()
      }
    },
  ],
  'ids-composed': [
    'WS-14',
    'ids are normalised to composed characters',
    class extends ReferenceStore {
      override id(text: string) {
        return text.normalize('NFC')
      }
    },
  ],
  'ids-without-accents': [
    'WS-14',
    'the collation of ids ignores accents',
    class extends ReferenceStore {
      override id(text: string) {
        return text.normalize('NFD').replace(/\p{M}/gu, '')
      }
    },
  ],
  'ids-as-numbers': [
    'WS-15',
    'ids that look like numbers are stored as numbers',
    class extends ReferenceStore {
      override id(text: string) {
        return /^[+]?[0-9.e]+$/.test(text) ? String(Number(text)) : text
      }
    },
  ],
  'keeps-the-callers-objects': [
    'WS-16',
    'the store keeps the objects passed to commit instead of copies',
    class extends ReferenceStore {
      override copied(changes: WalletChanges) {
        return changes
      }
      override betRow(bet: Bet) {
        return bet
      }
    },
  ],
  'returns-its-own-objects': [
    'WS-16',
    'load returns the stored objects instead of copies',
    class extends ReferenceStore {
      override readBet(keys: WalletKeys) {
        return this.storedBet(keys) ?? null
      }
      override readPlayer({ playerId }: WalletKeys) {
        return this.storedPlayer(playerId) ?? null
      }
    },
  ],
  'joined-from-the-player': [
    'WS-17',
    'load joins from the player, and returns no bet or transaction for an unknown player',
    class extends ReferenceStore {
      override async load(keys: WalletKeys) {
        const snapshot = await super.load(keys)
        return snapshot.player === null ? { player: null, bet: null, transaction: null } : snapshot
      }
    },
  ],
  'bets-of-the-player-only': [
    'WS-17',
    'load returns only bets of the requested player',
    class extends ReferenceStore {
      override readBet(keys: WalletKeys) {
        const bet = super.readBet(keys)
        return bet?.playerId === keys.playerId ? bet : null
      }
    },
  ],
  'transactions-of-the-bet-only': [
    'WS-17',
    'load returns only transactions of the requested bet',
    class extends ReferenceStore {
      override readTransaction(keys: WalletKeys) {
        const transaction = super.readTransaction(keys)
        return transaction?.betId === keys.betId ? transaction : null
      }
    },
  ],
  'ids-of-255-utf-16-units': [
    'WS-18',
    'ids are truncated to 255 UTF-16 code units',
    class extends ReferenceStore {
      override id(text: string) {
        return text.slice(0, 255)
      }
    },
  ],
  'short-descriptions': [
    'WS-18',
    'descriptions are truncated to 255 characters',
    class extends ReferenceStore {
      override readTransaction(keys: WalletKeys) {
        const transaction = super.readTransaction(keys)
        const { refusal } = transaction ?? { refusal: null }
        if (transaction === null || refusal === null) return transaction
        return { ...transaction, refusal: { ...refusal, description: refusal.description.slice(0, 255) } }
      }
    },
  ],
  'currencies-of-3': [
    'WS-18',
    'the currency of a transaction is truncated to 3 characters',
    class extends ReferenceStore {
      override transactionRow(transaction: Transaction) {
        const { currency } = transaction
        return { ...super.transactionRow(transaction), currency: currency?.slice(0, 3) ?? null }
      }
    },
  ],
  'dates-in-seconds': [
    'WS-19',
    'dates are stored in whole seconds',
    class extends ReferenceStore {
      override readTransaction(keys: WalletKeys) {
        const transaction = super.readTransaction(keys)
        if (transaction === null) return null
        return { ...transaction, transactionDate: transaction.transactionDate.replace(/\.\d+Z$/, '.000Z') }
      }
    },
  ],
})

/** A guard is missing, or checks something else. */
const ofGuards = mutantsOf({
  'no-unique-transaction': [
    'WS-20',
    'guard 1 is missing: a transaction can be recorded twice',
    class extends ReferenceStore {
      override guard1() {
        return true
      }
    },
  ],
  'unique-per-bet': [
    'WS-20',
    'transactionIds are unique only per bet',
    class extends ReferenceStore {
      override guard1({ transaction }: WalletChanges) {
        return this.storedTransaction(transaction)?.betId !== transaction.betId
      }
    },
  ],
  'unique-per-player': [
    'WS-21',
    'transactionIds are unique only per player',
    class extends ReferenceStore {
      override transactionKey(keys: WalletKeys) {
        return `${keys.playerId} ${super.transactionKey(keys)}`
      }
    },
  ],
  'unique-per-player-except-placebets': [
    'WS-37',
    'transactionIds of placebets are unique, those of other operations only per player',
    class extends ReferenceStore {
      override transactionKey(keys: WalletKeys) {
        const key = super.transactionKey(keys)
        return keys.operation === 'placebet' ? key : `${keys.playerId} ${key}`
      }
    },
  ],
  'operation-not-in-key': [
    'WS-22',
    'transactionIds are unique across operations: a rollback cannot reuse the id of its placebet',
    class extends ReferenceStore {
      override transactionKey({ transactionId }: WalletKeys) {
        return transactionId
      }
    },
  ],
  'refusals-not-unique': [
    'WS-23',
    'the unique index excludes refusals',
    class extends ReferenceStore {
      override guard1({ transaction }: WalletChanges) {
        return (
          (this.storedTransaction(transaction)?.refusal ?? null) !== null ||
          super.guard1({ transaction } as WalletChanges)
        )
      }
    },
  ],
  'refusals-in-their-own-table': [
    'WS-23',
    'refusals have their own table, keys ids are unique only among refusals',
    class extends ReferenceStore {
      private kind = ''
      override transactionKey(keys: WalletKeys) {
        return `${this.kind}${super.transactionKey(keys)}`
      }
      private refused<T>(refused: boolean, within: () => T): T {
        this.kind = refused ? 'refused ' : ''
        try {
          return within()
        } finally {
          this.kind = ''
        }
      }
      override storedTransaction(keys: Transaction) {
        const success = super.storedTransaction(keys)
        return success ?? this.refused(true, () => super.storedTransaction(keys))
      }
      override guard1({ transaction }: WalletChanges) {
        return this.refused(
          transaction.refusal !== null,
          () => !this.database.transactions.has(this.transactionKey(transaction)),
        )
      }
      override putTransaction(rows: Rows) {
        this.refused(rows.transaction.refusal !== null, () => super.putTransaction(rows))
      }
    },
  ],
  'bets-upserted': [
    'WS-24',
    'a new bet replaces an existing bet with the same id',
    withRevision((bet, fits) => fits || bet.revision === 1),
  ],
  'bets-unique-per-player': [
    'WS-25',
    'betIds are unique only per player',
    class extends ReferenceStore {
      override betKey({ betId, playerId }: WalletKeys) {
        return `${playerId} ${betId}`
      }
    },
  ],
  'tombstone-overwritten': [
    'WS-26',
    'a new bet replaces a tombstone',
    withRevision((bet, fits, stored) => fits || (bet.revision === 1 && isZero(stored?.stake ?? '1'))),
  ],
  'tombstone-not-stored': [
    'WS-26',
    'a tombstone is not stored',
    class extends ReferenceStore {
      override putBet(rows: Rows) {
        const { bet } = rows
        if (bet?.status !== 'ROLLED_BACK' || bet.revision !== 1) super.putBet(rows)
      }
    },
  ],
  'revision-not-compared': [
    'WS-27',
    'the revision is increased but not compared',
    withRevision((bet, fits) => fits || bet.revision > 1),
  ],
  'missing-bet-inserted': [
    'WS-28',
    'a change of a missing bet inserts it',
    withRevision((_bet, fits, stored) => fits || stored === undefined),
  ],
  'revision-skipped': [
    'WS-28',
    'any revision above the stored one is accepted',
    withRevision((bet, fits, stored) => fits || bet.revision - 1 > (stored?.revision ?? bet.revision)),
  ],
  'no-revision': [
    'WS-29',
    'there is no revision column: load always returns 1',
    class extends ReferenceStore {
      override betRow(bet: Bet) {
        return { ...super.betRow(bet), revision: 1 }
      }
    },
  ],
  'revision-of-settlements-only': [
    'WS-29',
    'only settlements increase the revision; an unsettlement or a rollback does not',
    class extends ReferenceStore {
      override betRow(bet: Bet) {
        const stored = this.storedBet(bet)
        const credited = Object.values(bet.credits).some(({ live }) => live !== null)
        return { ...super.betRow(bet), revision: stored && !credited ? stored.revision : bet.revision }
      }
    },
  ],
  'no-floor': [
    'WS-30',
    'the floor is not checked',
    class extends ReferenceStore {
      override fundsSuffice() {
        return true
      }
    },
  ],
  'last-cent-kept': [
    'WS-30',
    'the new balance must be above the floor: a stake of exactly the balance is always a conflict',
    class extends ReferenceStore {
      override fundsSuffice(player: Player, { balance }: WalletChanges) {
        if (balance === null || balance.floor === null) return true
        return this.isLess(balance.floor, this.sum(player.balance, balance.delta))
      }
    },
  ],
  'hard-coded-floor': [
    'WS-31',
    'the floor is a CHECK (balance >= 0), and the floor passed to commit is ignored',
    withFloor(() => '0'),
  ],
  'compared-as-text': [
    'WS-32',
    'balance and floor are compared as text',
    class extends ReferenceStore {
      override fundsSuffice(player: Player, { balance }: WalletChanges) {
        return balance === null || balance.floor === null || player.balance >= balance.delta.slice(1)
      }
    },
  ],
  'currency-not-compared': [
    'WS-33',
    'the currency is not compared',
    class extends ReferenceStore {
      override currencyMatches() {
        return true
      }
    },
  ],
  'currency-compared-for-debits': [
    'WS-33',
    'the currency is compared only for debits',
    class extends ReferenceStore {
      override currencyMatches(player: Player, changes: WalletChanges) {
        return super.currencyMatches(player, changes) || !changes.balance?.delta.startsWith('-')
      }
    },
  ],
  'floor-for-credits': [
    'WS-34',
    'a floor of 0 is checked even if the floor is null',
    withFloor(floor => floor ?? '0'),
  ],
  'floor-without-change': [
    'WS-35',
    'a player with a balance of 0 cannot place a bet, not even a bet of 0',
    class extends ReferenceStore {
      override fundsSuffice(player: Player, changes: WalletChanges) {
        return super.fundsSuffice(player, changes) && (changes.balance !== null || !isZero(player.balance))
      }
    },
  ],
  'no-rows-changed': [
    'WS-35',
    'an UPDATE that does not change the balance counts no rows, and is treated as a failed guard',
    class extends ReferenceStore {
      override guard3(changes: WalletChanges) {
        return changes.balance !== null && super.guard3(changes)
      }
    },
  ],
  'balance-without-where': [
    'WS-36',
    'the UPDATE of the balance has no WHERE',
    class extends ReferenceStore {
      override putPlayer(rows: Rows) {
        super.putPlayer(rows)
        if (!rows.balanceChanges) return
        for (const [key, player] of this.database.players) {
          this.database.players.set(key, { ...player, balance: rows.player.balance })
        }
      }
    },
  ],
  'credit-without-where': [
    'WS-36',
    'a credit is written to every bet',
    class extends ReferenceStore {
      override putBet(rows: Rows) {
        super.putBet(rows)
        for (const [key, bet] of this.database.bets) {
          this.database.bets.set(key, { ...bet, credits: rows.bet?.credits ?? bet.credits })
        }
      }
    },
  ],
  'unique-for-placebets': [
    'WS-37',
    'only placebets have unique transactionIds',
    class extends ReferenceStore {
      override guard1(changes: WalletChanges) {
        return changes.transaction.operation !== 'placebet' || super.guard1(changes)
      }
    },
  ],
  'refusal-upserted': [
    'WS-37',
    'a refusal replaces a recorded transaction with its id',
    class extends ReferenceStore {
      override guard1(changes: WalletChanges) {
        return changes.transaction.refusal !== null || super.guard1(changes)
      }
    },
  ],
  'unsettlement-without-revision': [
    'WS-38',
    'an unsettlement does not compare the revision',
    withRevision((_bet, fits, _stored, { operation }) => fits || operation === 'unsettlement'),
  ],
  'tombstone-upserted': [
    'WS-38',
    'a tombstone replaces a bet that has arrived in the meantime',
    withRevision((bet, fits) => fits || (bet.revision === 1 && bet.status === 'ROLLED_BACK')),
  ],
  'lost-bets-unguarded': [
    'WS-38',
    'a settlement of 0 does not compare the revision',
    withRevision(
      (_bet, fits, _stored, { operation, delta }) => fits || (operation === 'settlement' && isZero(delta)),
    ),
  ],
  'voids-unguarded': [
    'WS-38',
    'a VOIDED settlement does not compare the revision',
    withRevision((_bet, fits, _stored, { type }) => fits || type === 'VOIDED'),
  ],
  'clawback-without-floor': [
    'WS-39',
    'a clawback can debit the balance below its floor',
    class extends ReferenceStore {
      override fundsSuffice(player: Player, changes: WalletChanges) {
        return changes.transaction.operation === 'unsettlement' || super.fundsSuffice(player, changes)
      }
    },
  ],
  'total-loaded': [
    'WS-39',
    'load returns the total balance with open stakes, and the guard checks the available balance',
    class extends ReferenceStore {
      override readPlayer(keys: WalletKeys) {
        const player = super.readPlayer(keys)
        const open = [...this.database.bets.values()].filter(({ status }) => status === 'PLACED')
        const total = (balance: Decimal) => open.reduce((sum, { stake }) => add(sum, stake), balance)
        return player && { ...player, balance: total(player.balance) }
      }
    },
  ],
})

type Part = 'transaction' | 'bet' | 'player'

/** Only a part of a commit is written. */
const ofPartialCommits = [
  ...mutantsOf({
    'bet-before-guard-1': [
      'WS-40',
      'the bet is written before guard 1 is checked',
      writingBefore('guard1', 'bet'),
    ],
    'balance-before-guard-1': [
      'WS-40',
      'the balance is written before guard 1 is checked',
      writingBefore('guard1', 'player'),
    ],
    'transaction-before-guard-2': [
      'WS-41',
      'the transaction is written before guard 2 is checked',
      writingBefore('guard2', 'transaction'),
    ],
    'balance-before-guard-2': [
      'WS-41',
      'the balance is written before guard 2 is checked',
      writingBefore('guard2', 'player'),
    ],
    'transaction-before-guard-3': [
      'WS-42',
      'the transaction is written before guard 3 is checked',
      writingBefore('guard3', 'transaction'),
    ],
    'bet-before-guard-3': [
      'WS-42',
      'the bet is written before guard 3 is checked',
      writingBefore('guard3', 'bet'),
    ],
    'conflict-that-wrote': [
      'WS-42',
      'everything is written, and a conflict is answered',
      writingBefore('guard3', 'transaction', 'bet', 'player'),
    ],
    'conflicts-written-later': [
      'WS-42',
      'rejected changes are queued, and written with the next commit',
      class extends ReferenceStore {
        private readonly queue: WalletChanges[] = []
        override guardsHold(changes: WalletChanges) {
          for (const queued of this.queue.splice(0))
            putParts(this, this.rowsOf(queued), ['transaction', 'bet', 'player'])
          const holds = super.guardsHold(changes)
          if (!holds) this.queue.push(changes)
          return holds
        }
      },
    ],
  }),
  ...orders(['transaction', 'bet', 'player']).flatMap(([first, second, third]) =>
    mutantsOf({
      [`${first}-then-${second}-then-${third}`]: [
        'WS-46',
        `${first}, ${second} and ${third} are three commits in this order, with a crash after the first`,
        inPieces([first], [second, third]),
      ],
    }),
  ),
  ...mutantsOf({
    'transaction-and-bet-then-player': [
      'WS-46',
      'the balance has its own commit, after transaction and bet',
      inPieces(['transaction', 'bet'], ['player']),
    ],
    'player-and-transaction-then-bet': [
      'WS-46',
      'the bet has its own commit, after transaction and balance',
      inPieces(['player', 'transaction'], ['bet']),
    ],
  }),
]

/** Connections, crashes and time. */
const ofDurability = mutantsOf({
  'connection-with-a-cache': [
    'WS-43',
    'every connection caches players, and misses the writes of other connections',
    class extends ReferenceStore {
      private readonly cache = new Map<string, Player>()
      override readPlayer(keys: WalletKeys) {
        const player = this.cache.get(keys.playerId) ?? super.readPlayer(keys)
        if (player !== null) this.cache.set(keys.playerId, player)
        return player
      }
      override putPlayer(rows: Rows) {
        super.putPlayer(rows)
        this.cache.delete(rows.player.playerId)
      }
    },
  ],
  'one-load-in-fifteen-is-stale': [
    'WS-43',
    'one load in fifteen misses the last commit of the other connection, as on a replica that lags',
    staleReads(1),
  ],
  'locks-per-connection': [
    'WS-44',
    'rows are locked by a mutex in the process, which other processes do not see',
    class extends ReferenceStore {
      private readonly own = new Locks()
      override get locks() {
        return this.own
      }
    },
  ],
  'answered-before-durable': [
    'WS-45',
    'committed is answered before the commit is durable',
    unsynced(() => true),
  ],
  'refusals-in-memory': [
    'WS-45',
    'refusals are stored only in the memory of the process',
    unsynced(({ transaction }) => transaction.refusal !== null),
  ],
  'tombstones-in-memory': [
    'WS-45',
    'tombstones are stored only in the memory of the process',
    unsynced(({ bet }) => bet?.status === 'ROLLED_BACK' && bet.revision === 1),
  ],
  'lost-connection-swallowed': [
    'WS-46',
    'a connection that is lost during a commit is answered as committed',
    class extends ReferenceStore {
      override answerError(error: unknown, changes: WalletChanges): CommitResult {
        if (!(error instanceof ConnectionLost)) return super.answerError(error, changes)
        return { status: 'committed', balance: '70', walletTransactionId: null }
      }
    },
  ],
  'transactions-expire': [
    'WS-47',
    'transactions expire after 30 days',
    expiring(
      ({ transaction }) => transaction.refusal === null && transaction.operation === 'placebet',
      'transactions',
    ),
  ],
  'refusals-expire': [
    'WS-47',
    'refusals expire after 30 days',
    expiring(({ transaction }) => transaction.refusal !== null, 'transactions'),
  ],
  'tombstones-expire': [
    'WS-47',
    'tombstones expire after 30 days',
    expiring(({ bet }) => bet?.status === 'ROLLED_BACK', 'bets'),
  ],
  'one-lock-for-all': [
    'WS-48',
    'every commit takes the same lock, so players wait for each other',
    class extends ReferenceStore {
      override locksOf() {
        return ['everything']
      }
    },
    50,
  ],
  'load-waits-for-commits': [
    'WS-48',
    'load takes the lock of the player’s row, and waits for commits in progress',
    class extends ReferenceStore {
      override async load(keys: WalletKeys) {
        const owner = {}
        await this.locks.take(owner, `player ${this.playerKey(keys.playerId)}`)
        const snapshot = await super.load(keys)
        this.locks.releaseAll(owner)
        return snapshot
      }
    },
    50,
  ],
  'lock-timeout-without-rollback': [
    'WS-49',
    'a lock timeout is answered as a conflict, and the connection goes back to its pool without ROLLBACK',
    leftOpen(error => error instanceof LockTimeout, ['transaction', 'bet']),
  ],
  'lock-timeout-after-the-transaction': [
    'WS-49',
    'a lock timeout after the first insert leaves the transaction for the next commit on the connection',
    leftOpen(error => error instanceof LockTimeout, ['transaction']),
  ],
  'lock-timeout-and-written-later': [
    'WS-49',
    'a timeout of the client is answered as a conflict, and the statement on the server is executed later',
    class extends ReferenceStore {
      private readonly running: WalletChanges[] = []
      override answerError(error: unknown, changes: WalletChanges) {
        if (error instanceof LockTimeout) this.running.push(changes)
        return super.answerError(error, changes)
      }
      override async begin(changes: WalletChanges) {
        for (const late of this.running.splice(0)) {
          if (this.guardsHold(late)) putParts(this, this.rowsOf(late), ['transaction', 'bet', 'player'])
        }
        await super.begin(changes)
      }
    },
  ],
  'lock-timeout-as-committed': [
    'WS-49',
    'a lock timeout is logged, and answered as committed',
    class extends ReferenceStore {
      override answerError(error: unknown, changes: WalletChanges): CommitResult {
        if (!(error instanceof LockTimeout)) return super.answerError(error, changes)
        return { status: 'committed', balance: '99', walletTransactionId: null }
      }
    },
  ],
})

/** Closed players, changed currencies, refused stakes. */
const ofPamRules = mutantsOf({
  'closed-players-hidden': [
    'WS-56',
    'load returns null for a closed player',
    class extends ReferenceStore {
      override readPlayer(keys: WalletKeys) {
        return this.database.closed.has(keys.playerId) ? null : super.readPlayer(keys)
      }
    },
  ],
  'closed-players-refused': [
    'WS-56',
    'every commit of a closed player is refused, also a rollback',
    refusing(({ database }, { transaction }) => database.closed.has(transaction.playerId)),
  ],
  'closed-players-not-updated': [
    'WS-56',
    'the balance of a closed player is not updated: the statement asks for open accounts',
    class extends ReferenceStore {
      override putPlayer(rows: Rows) {
        if (!this.database.closed.has(rows.player.playerId)) super.putPlayer(rows)
      }
    },
  ],
  'closed-players-record-nothing': [
    'WS-56',
    'a refusal or a tombstone of a closed player is not recorded',
    refusing(
      ({ database }, { transaction, balance }) =>
        database.closed.has(transaction.playerId) && balance === null,
    ),
  ],
  'bet-currency-of-the-player': [
    'WS-57',
    'a bet has no currency of its own: load joins it from the player',
    class extends ReferenceStore {
      override readBet(keys: WalletKeys) {
        const bet = super.readBet(keys)
        return bet && { ...bet, currency: this.storedPlayer(bet.playerId)?.currency ?? bet.currency }
      }
    },
  ],
  'transaction-currency-of-the-player': [
    'WS-57',
    'a transaction has no currency of its own: load joins it from the player',
    class extends ReferenceStore {
      override readTransaction(keys: WalletKeys) {
        const transaction = super.readTransaction(keys)
        if (transaction === null || transaction.currency === null) return transaction
        const player = this.storedPlayer(transaction.playerId)
        return { ...transaction, currency: player?.currency ?? transaction.currency }
      }
    },
  ],
  'currency-cached': [
    'WS-57',
    'a connection never reads the currency of a player again',
    class extends ReferenceStore {
      private readonly currencies = new Map<string, string>()
      override currencyMatches(player: Player, { balance }: WalletChanges) {
        const currency = this.currencies.get(player.playerId) ?? player.currency
        this.currencies.set(player.playerId, currency)
        return balance === null || balance.currency === currency
      }
    },
  ],
  'currency-guarded-by-the-bet': [
    'WS-57',
    'guard 3 compares the currency of the bet, and not that of the player',
    class extends ReferenceStore {
      override currencyMatches(player: Player, changes: WalletChanges) {
        const { bet, balance } = changes
        if (bet === null || bet.revision === 1) return super.currencyMatches(player, changes)
        return balance === null || balance.currency === bet.currency
      }
    },
  ],
  'refused-with-a-transaction': [
    'WS-58',
    'a refused stake has its transaction recorded, as a success',
    class extends ReferenceStore {
      override refusalOf(changes: WalletChanges) {
        const refusal = super.refusalOf(changes)
        if (refusal !== null) putParts(this, this.rowsOf(changes), ['transaction'])
        return refusal
      }
    },
  ],
  'refused-with-a-bet': [
    'WS-58',
    'a refused stake has its bet recorded',
    class extends ReferenceStore {
      override refusalOf(changes: WalletChanges) {
        const refusal = super.refusalOf(changes)
        if (refusal !== null) putParts(this, this.rowsOf(changes), ['bet'])
        return refusal
      }
    },
  ],
  'refused-without-rollback': [
    'WS-58',
    'a stake is refused after the inserts, and the connection goes back to its pool without ROLLBACK',
    leftOpen('refused', ['transaction', 'bet']),
  ],
  'refused-as-conflict': [
    'WS-58',
    'a refused stake is answered as a conflict, so the platform is told to try again',
    class extends ReferenceStore {
      override async commit(changes: WalletChanges) {
        const result = await super.commit(changes)
        return result.status === 'refused' ? { status: 'conflict' as const } : result
      }
    },
  ],
  'refuses-credits': [
    'WS-59',
    'the rule of a limit is checked for credits too',
    refusing(
      ({ database }, { transaction, balance }) =>
        balance !== null && !balance.delta.startsWith('-') && database.limited.has(transaction.playerId),
    ),
  ],
  'refuses-recorded-refusals': [
    'WS-59',
    'the rule of a limit is checked for commits that record a refusal',
    refusing(
      ({ database }, { transaction }) =>
        transaction.refusal !== null && database.limited.has(transaction.playerId),
    ),
  ],
})

/** `load` consists of several reads. */
const ofReads = mutantsOf({
  'three-reads': [
    'WS-50',
    'load is three reads in the permitted order: bet, transaction, player (fails only a SHOULD)',
    reading('bet', 'transaction', 'player'),
  ],
  'transaction-read-first': [
    'WS-51',
    'load is three reads, the transaction before the bet',
    reading('transaction', 'bet', 'player'),
  ],
  'player-read-first': [
    'WS-52',
    'load is three reads, the player first',
    reading('player', 'bet', 'transaction'),
  ],
  'player-read-second': [
    'WS-52',
    'load is three reads, the player between bet and transaction',
    reading('bet', 'player', 'transaction'),
  ],
})

/** `loadConfirmed`, and commits without a load before them. */
const ofCommitsWithoutLoad = mutantsOf({
  'confirmed-by-a-replica': [
    'WS-53',
    'loadConfirmed reads a replica that never replays',
    class extends ReferenceStore {
      override async loadConfirmed(keys: WalletKeys) {
        await this.roundTrip()
        return { bet: null, transaction: null, player: this.readPlayer(keys) }
      }
    },
  ],
  'confirmed-without-commit': [
    'WS-54',
    'loadConfirmed is load',
    class extends ReferenceStore {
      override loadConfirmed(keys: WalletKeys) {
        return this.load(keys)
      }
    },
  ],
  'confirmed-by-asking': [
    'WS-54',
    'loadConfirmed asks the server whether it is a primary, and does not wait for a commit',
    class extends ReferenceStore {
      override async loadConfirmed(keys: WalletKeys) {
        const snapshot = await this.load(keys)
        await this.roundTrip()
        return snapshot
      }
    },
  ],
  'unknown-player-throws': [
    'WS-55',
    'the commit for an unknown player throws',
    class extends ReferenceStore {
      override guard3(changes: WalletChanges) {
        if (this.storedPlayer(changes.transaction.playerId) === undefined) throw new Error('unknown player')
        return super.guard3(changes)
      }
    },
  ],
  'unknown-player-created': [
    'WS-55',
    'the commit creates an unknown player',
    class extends ReferenceStore {
      override storedPlayer(playerId: string) {
        return super.storedPlayer(playerId) ?? { playerId, currency: 'EUR', balance: '0' }
      }
      override readPlayer(keys: WalletKeys) {
        return this.database.players.has(this.playerKey(keys.playerId)) ? super.readPlayer(keys) : null
      }
      override fundsSuffice() {
        return true
      }
    },
  ],
})

/** Correct for sequential requests, and wrong for concurrent ones. */
const ofRaces = mutantsOf({
  'checked-then-written': [
    'WS-60',
    'guards 1 and 2 are checked before the locks are taken, and not again',
    checkedEarly(['guard1', 'guard2']),
  ],
  'lock-as-error': [
    'WS-60',
    'a commit that meets a lock throws instead of answering conflict',
    class extends ReferenceStore {
      private readonly busy = new Set<string>()
      override async begin(changes: WalletChanges) {
        const { betId } = changes.transaction
        if (this.busy.has(betId)) throw new Error('could not obtain lock on row')
        this.busy.add(betId)
        await super.begin(changes)
      }
      override async commit(changes: WalletChanges) {
        try {
          return await super.commit(changes)
        } finally {
          this.busy.delete(changes.transaction.betId)
        }
      }
    },
  ],
  'transaction-checked-early': [
    'WS-61',
    'guard 1 is checked before the lock is taken, and not again',
    checkedEarly(['guard1']),
  ],
  'ids-locked-by-player': [
    'WS-61',
    'new transactions are protected only by the lock of the player’s row',
    class extends ReferenceStore {
      override locksOf({ transaction }: WalletChanges) {
        return [`player ${this.playerKey(transaction.playerId)}`, `bet ${this.betKey(transaction)}`]
      }
    },
  ],
  'bets-locked-by-player': [
    'WS-62',
    'new bets are protected only by the lock of the player’s row',
    class extends ReferenceStore {
      override locksOf({ transaction }: WalletChanges) {
        return [
          `transaction ${this.transactionKey(transaction)}`,
          `player ${this.playerKey(transaction.playerId)}`,
        ]
      }
    },
  ],
  'floor-checked-early': [
    'WS-63',
    'guard 3 is checked before the lock is taken, and not again',
    checkedEarly(['guard3']),
  ],
  'tombstone-checked-early': [
    'WS-64',
    'a rollback checks guard 2 before it takes the lock, and not again',
    checkedEarly(['guard2'], ({ transaction }) => transaction.operation === 'rollbackbet'),
  ],
  'settlement-checked-early': [
    'WS-65',
    'a settlement checks guard 2 before it takes the lock, and not again',
    checkedEarly(['guard2'], ({ transaction }) => transaction.operation === 'settlement'),
  ],
  'unsettlement-checked-early': [
    'WS-66',
    'an unsettlement checks guard 2 before it takes the lock, and not again',
    checkedEarly(['guard2'], ({ transaction }) => transaction.operation === 'unsettlement'),
  ],
  'clawback-checked-early': [
    'WS-67',
    'an unsettlement checks guard 3 before it takes the lock, and not again',
    checkedEarly(['guard3'], ({ transaction }) => transaction.operation === 'unsettlement'),
  ],
  'shared-variable': [
    'WS-68',
    'concurrent commits share one field for the rows that they write',
    class extends ReferenceStore {
      private rows: Rows | null = null
      override rowsOf(changes: WalletChanges) {
        this.rows = super.rowsOf(changes)
        return this.rows
      }
      override putPlayer() {
        super.putPlayer(this.rows as Rows)
      }
    },
  ],
  'deadlock-as-success': [
    'WS-69',
    'settlements lock bet and player, rollbacks player and bet, and the deadlock is answered as committed',
    class extends ReferenceStore {
      override locksOf(changes: WalletChanges) {
        const names = super.locksOf(changes)
        return changes.transaction.operation === 'rollbackbet' ? names.reverse() : names
      }
      override answerError(error: unknown, changes: WalletChanges): CommitResult {
        if (!(error instanceof Deadlock)) return super.answerError(error, changes)
        const player = this.storedPlayer(changes.transaction.playerId) as Player
        return { status: 'committed', balance: player.balance, walletTransactionId: null }
      }
    },
  ],
  'rollback-by-status': [
    'WS-69',
    'a rollback compares the status of the bet instead of its revision',
    withRevision(
      (_bet, fits, stored, { operation }) =>
        fits || (operation === 'rollbackbet' && stored?.status === 'PLACED'),
    ),
  ],
  'rollback-checked-early': [
    'WS-70',
    'a rollback of a placed bet checks guard 2 before it takes the lock, and not again',
    checkedEarly(
      ['guard2'],
      ({ transaction, bet }) => transaction.operation === 'rollbackbet' && bet?.revision !== 1,
    ),
  ],
  'balance-from-before': [
    'WS-71',
    'the answered balance is the one from before the commit',
    class extends ReferenceStore {
      override answer(rows: Rows, changes: WalletChanges) {
        const delta = changes.balance?.delta ?? '0'
        return {
          ...super.answer(rows, changes),
          balance: subtract(rows.player.balance, delta),
        } as CommitResult
      }
    },
  ],
  'zero-balance-without-change': [
    'WS-71',
    'the answered balance is 0 if the commit does not change it',
    class extends ReferenceStore {
      override answer(rows: Rows, changes: WalletChanges) {
        const answer = super.answer(rows, changes)
        return changes.balance === null ? ({ ...answer, balance: '0' } as CommitResult) : answer
      }
    },
  ],
  'balance-computed-early': [
    'WS-72',
    'the answered balance is computed from the balance at the start of the commit',
    class extends ReferenceStore {
      private readonly before = new WeakMap<WalletChanges, Decimal>()
      override async begin(changes: WalletChanges) {
        this.before.set(changes, this.storedPlayer(changes.transaction.playerId)?.balance ?? '0')
        await super.begin(changes)
      }
      override answer(rows: Rows, changes: WalletChanges) {
        const balance = add(this.before.get(changes) ?? '0', changes.balance?.delta ?? '0')
        return { ...super.answer(rows, changes), balance } as CommitResult
      }
    },
  ],
})

/** A store that remembers the balance of every load. */
class RememberingStore extends ReferenceStore {
  private readonly balances = new Map<string, Decimal>()
  override readPlayer(keys: WalletKeys) {
    const player = super.readPlayer(keys)
    if (player !== null) this.balances.set(this.transactionKey(keys), player.balance)
    return player
  }
  loaded({ transaction }: WalletChanges): Decimal | undefined {
    return this.balances.get(this.transactionKey(transaction))
  }
}

/** External writers change the data beside the library. */
const ofOtherWriters = mutantsOf({
  'separate-ledger': [
    'WS-75',
    'external deposits go to another ledger than the one that load reads',
    class extends ReferenceStore {
      override async deposit() {}
    },
  ],
  'balances-cached': [
    'WS-75',
    'load caches balances, and only commits invalidate the cache',
    class extends ReferenceStore {
      private readonly cache = new Map<string, Player>()
      override readPlayer(keys: WalletKeys) {
        const player = this.cache.get(keys.playerId) ?? super.readPlayer(keys)
        if (player !== null) this.cache.set(keys.playerId, player)
        return player
      }
      override async commit(changes: WalletChanges) {
        const result = await super.commit(changes)
        this.cache.clear()
        return result
      }
    },
  ],
  'balance-written-as-loaded': [
    'WS-76',
    'commit writes the loaded balance plus the delta',
    class extends RememberingStore {
      override playerRow(player: Player, changes: WalletChanges) {
        return super.playerRow({ ...player, balance: this.loaded(changes) ?? player.balance }, changes)
      }
    },
  ],
  'balance-with-a-version': [
    'WS-76',
    'the balance has a version: a deposit since the load is a conflict',
    class extends RememberingStore {
      override fundsSuffice(player: Player, changes: WalletChanges) {
        return (
          super.fundsSuffice(player, changes) && (this.loaded(changes) ?? player.balance) === player.balance
        )
      }
    },
  ],
  'floor-checked-as-loaded': [
    'WS-77',
    'the floor is checked against the loaded balance',
    class extends RememberingStore {
      override fundsSuffice(player: Player, changes: WalletChanges) {
        return super.fundsSuffice({ ...player, balance: this.loaded(changes) ?? player.balance }, changes)
      }
    },
  ],
  'deposits-without-lock': [
    'WS-78',
    'commit reads, adds and writes under a lock that external deposits do not take',
    class extends ReferenceStore {
      override async deposit(playerId: string, amount: Decimal) {
        for (let step = 0; step < 3; step += 1) await this.roundTrip()
        this.addExternally(playerId, amount)
      }
    },
  ],
  'balance-read-before-the-round-trip': [
    'WS-79',
    'an external deposit takes no lock, and commit adds to the balance that it read a round trip before',
    class extends ReferenceStore {
      override async deposit(playerId: string, amount: Decimal) {
        this.addExternally(playerId, amount)
      }
    },
  ],
  'credits-written-back': [
    'WS-73',
    'debits lock the player, but credits write back a balance that they read before',
    class extends ReferenceStore {
      override locksOf(changes: WalletChanges) {
        const isCredit = changes.balance !== null && !changes.balance.delta.startsWith('-')
        return super.locksOf(changes).filter(name => !isCredit || !name.startsWith('player '))
      }
    },
  ],
  'refusals-checked-early': [
    'WS-74',
    'a refusal checks guard 1 before it takes the lock, and not again',
    checkedEarly(['guard1'], ({ transaction }) => transaction.refusal !== null),
  ],
  'settlements-not-loaded': [
    'WS-80',
    'external settlements are in the balance, but not in the credits of the bet',
    class extends ReferenceStore {
      override settled(bet: Bet) {
        return { ...bet, revision: bet.revision + 1 }
      }
    },
  ],
  'settlements-without-revision': [
    'WS-81',
    'external settlements do not increase the revision',
    withSettled((_before, settled) => ({ ...settled, revision: settled.revision - 1 })),
  ],
  'settlements-without-lock': [
    'WS-83',
    'external settlements take no lock, and commit writes the bet as it read it a round trip before',
    class extends ReferenceStore {
      override async settle({ playerId, betId, type, amount }: SettlementRequest) {
        const bet = this.storedBet({ playerId, betId }) as Bet
        this.database.bets.set(this.betKey(bet), this.settled(bet, type, amount))
        this.addExternally(playerId, amount)
      }
    },
  ],
  'settlement-drops-owed': [
    'WS-82',
    'an external settlement overwrites the credit, and drops the owed amount',
    withSettled((_before, settled) => ({
      ...settled,
      credits: { BET_PAID: { live: settled.credits.BET_PAID?.live ?? '0', reversed: '0', owed: '0' } },
    })),
  ],
  'settlements-summed': [
    'WS-82',
    'the live amount is the sum of external settlements less the reversed amount, uncollected ones included',
    withSettled((before, settled) => {
      const credit = settled.credits.BET_PAID ?? { live: '0', reversed: '0', owed: '0' }
      const live = add(credit.live ?? '0', before.credits.BET_PAID?.owed ?? '0')
      return { ...settled, credits: { ...settled.credits, BET_PAID: { ...credit, live } } }
    }),
  ],
})

/** Requests and answers get lost. */
const ofLostAnswers = mutantsOf({
  'rollback-updates-only': [
    'WS-85',
    'a rollback is an UPDATE: for a bet that never arrived it counts no rows, always a conflict',
    withRevision((bet, fits) => fits && !(bet.revision === 1 && bet.status === 'ROLLED_BACK')),
  ],
  'stale-replica': [
    'WS-86',
    'load reads transactions from a replica, which misses a new one on the first read',
    class extends ReferenceStore {
      private readonly arrived = new Set<Transaction>()
      override readTransaction(keys: WalletKeys) {
        const stored = this.storedTransaction(keys)
        if (stored === undefined || this.arrived.has(stored)) return structuredClone(stored ?? null)
        this.arrived.add(stored)
        return null
      }
    },
  ],
  'guards-of-the-load': [
    'WS-87',
    'commit checks guard 2 against the loaded bet',
    class extends ReferenceStore {
      private readonly loaded = new Map<string, Bet | null>()
      override readBet(keys: WalletKeys) {
        const bet = super.readBet(keys)
        this.loaded.set(this.transactionKey(keys), bet)
        return bet
      }
      override guard2({ transaction, bet }: WalletChanges) {
        const loaded = this.loaded.get(this.transactionKey(transaction))
        const stored = loaded === undefined && bet ? this.storedBet(bet) : loaded
        return bet === null || this.revisionMatches(bet, stored ?? undefined)
      }
    },
  ],
  'retries-upserted': [
    'WS-88',
    'an upsert writes a recorded transaction again, and changes the balance again',
    upserting(operation => operation !== 'placebet'),
  ],
  'refusals-until-a-credit': [
    'WS-89',
    'a credit deletes the refusals for insufficient funds',
    class extends ReferenceStore {
      override putPlayer(rows: Rows) {
        super.putPlayer(rows)
        const { playerId, delta } = rows.transaction
        for (const [key, { playerId: of, refusal }] of this.database.transactions) {
          const short = of === playerId && refusal?.errorCode === 'INSUFFICIENT_FUNDS'
          if (short && !isZero(delta) && !delta.startsWith('-')) this.database.transactions.delete(key)
        }
      }
    },
  ],
})

/** Faults that only long histories reach. */
const ofHistories = mutantsOf({
  'other-credits-dropped': [
    'WS-95',
    'an unsettlement stores only the credit that it reverses, and drops those of other types',
    class extends ReferenceStore {
      override async write(rows: Rows, changes: WalletChanges) {
        const { transaction, bet } = rows
        if (transaction.operation === 'unsettlement' && bet !== null) {
          const type = transaction.type === 'UNSCORED' ? 'BET_PAID' : 'VOIDED'
          bet.credits = Object.fromEntries(Object.entries(bet.credits).filter(([of]) => of === type))
        }
        await super.write(rows, changes)
      }
    },
  ],
  'rollbacks-in-memory': [
    'WS-96',
    'a rollback is stored only in the memory of the process, until the next change of the bet',
    unsynced(
      ({ transaction, bet }) => transaction.operation === 'rollbackbet' && bet !== null && bet.revision > 1,
    ),
  ],
  'refusals-replaced': [
    'WS-97',
    'a refusal replaces another refusal with the same id',
    class extends ReferenceStore {
      override guard1(changes: WalletChanges) {
        const recorded = this.storedTransaction(changes.transaction)?.refusal ?? null
        return (recorded !== null && changes.transaction.refusal !== null) || super.guard1(changes)
      }
    },
  ],
  'settlements-upserted': [
    'WS-98',
    'an upsert writes a recorded settlement again, and credits again',
    upserting(operation => operation === 'settlement'),
  ],
})

export const mutants: readonly Mutant[] = [
  ...ofShape,
  ...ofGuards,
  ...ofPartialCommits,
  ...ofDurability,
  ...ofReads,
  ...ofCommitsWithoutLoad,
  ...ofPamRules,
  ...ofRaces,
  ...ofOtherWriters,
  ...ofLostAnswers,
  ...ofHistories,
]

// Faults that several mutants share.

type Credit = NonNullable<Bet['credits']['BET_PAID']>

function withCredits(kept: (credit: Credit) => Credit): StoreClass {
  return class extends ReferenceStore {
    override betRow(bet: Bet) {
      const row = super.betRow(bet)
      for (const type of ['BET_PAID', 'VOIDED', 'CASHOUT'] as const) {
        const credit = row.credits[type]
        if (credit !== undefined) row.credits[type] = kept(credit)
      }
      return row
    }
  }
}

function withRevision(
  fits: (bet: Bet, fits: boolean, stored: Bet | undefined, transaction: Transaction) => boolean,
): StoreClass {
  return class extends ReferenceStore {
    override guard2(changes: WalletChanges) {
      const { bet, transaction } = changes
      return bet === null || fits(bet, super.guard2(changes), this.storedBet(bet), transaction)
    }
  }
}

function withFloor(floorOf: (floor: Decimal | null) => Decimal): StoreClass {
  return class extends ReferenceStore {
    override fundsSuffice(player: Player, changes: WalletChanges) {
      const { balance } = changes
      if (balance === null) return true
      return super.fundsSuffice(player, {
        ...changes,
        balance: { ...balance, floor: floorOf(balance.floor) },
      })
    }
  }
}

function withSettled(kept: (before: Bet, settled: Bet) => Bet): StoreClass {
  return class extends ReferenceStore {
    override settled(...[bet, type, amount]: Parameters<ReferenceStore['settled']>) {
      return kept(bet, super.settled(bet, type, amount))
    }
  }
}

/** These parts are written before the guard is checked, and after the other guards. */
function writingBefore(guard: (typeof guards)[number], ...parts: Part[]): StoreClass {
  return class extends ReferenceStore {
    override guardsHold(changes: WalletChanges) {
      const others = guards.filter(other => other !== guard)
      if (!others.every(other => this[other](changes))) return false
      const holds = this[guard](changes)
      if (!holds) putParts(this, this.rowsOf(changes), parts)
      return holds
    }
  }
}

/** A recorded transaction of the same bet is written again, without a guard. */
function upserting(which: (operation: Transaction['operation']) => boolean): StoreClass {
  return class extends ReferenceStore {
    override guardsHold(changes: WalletChanges) {
      const { operation, betId } = changes.transaction
      const recorded = this.storedTransaction(changes.transaction)
      return (which(operation) && recorded?.betId === betId) || super.guardsHold(changes)
    }
  }
}

/** The first parts have a commit of their own, so that they can be stored without the rest. */
function inPieces(first: Part[], rest: Part[]): StoreClass {
  return class extends ReferenceStore {
    override async write(rows: Rows) {
      putParts(this, rows, first)
      await this.database.stopIfHeld()
      await this.roundTrip()
      putParts(this, rows, rest)
    }
  }
}

function putParts(store: ReferenceStore, rows: Rows, parts: Part[]): void {
  if (parts.includes('transaction')) store.putTransaction(rows)
  if (parts.includes('bet')) store.putBet(rows)
  if (parts.includes('player')) store.putPlayer(rows)
}

function orders([a, b, c]: [Part, Part, Part]): [Part, Part, Part][] {
  return [
    [a, b, c],
    [a, c, b],
    [b, a, c],
    [b, c, a],
    [c, a, b],
    [c, b, a],
  ]
}

/** Some commits become durable only after their answer, and a crash comes first. */
function unsynced(which: (rows: Rows) => boolean | undefined): StoreClass {
  return class extends ReferenceStore {
    override async write(rows: Rows, changes: WalletChanges) {
      const { transaction, bet } = rows
      const before = bet && this.storedBet(bet)
      const player = this.storedPlayer(transaction.playerId)
      await super.write(rows, changes)
      if (!which(rows)) return
      this.database.unsynced.push(() => {
        this.database.transactions.delete(this.transactionKey(transaction))
        if (bet !== null) this.database.bets.delete(this.betKey(bet))
        if (before) this.database.bets.set(this.betKey(before), before)
        if (player && rows.balanceChanges) this.database.players.set(this.playerKey(player.playerId), player)
      })
    }
  }
}

/** Rows are deleted 30 days after their commit. */
function expiring(which: (rows: Rows) => boolean, table: 'transactions' | 'bets'): StoreClass {
  return class extends ReferenceStore {
    private readonly expiries: { key: string; atMs: number }[] = []
    override putPlayer(rows: Rows) {
      super.putPlayer(rows)
      const key = table === 'bets' ? this.betKey(rows.transaction) : this.transactionKey(rows.transaction)
      if (which(rows)) this.expiries.push({ key, atMs: this.database.nowMs + 30 * 24 * 60 * 60 * 1000 })
    }
    override async roundTrip() {
      await super.roundTrip()
      for (const { key, atMs } of this.expiries) {
        if (atMs <= this.database.nowMs) this.database[table].delete(key)
      }
    }
  }
}

/**
 * A pool of connections in the order of their return. Some commits end without COMMIT or ROLLBACK: their
 * first parts are written with the next commit on the same connection.
 *
 * @param which the error that leaves the database transaction open, or the status
 */
function leftOpen(which: 'refused' | ((error: unknown) => boolean), parts: Part[]): StoreClass {
  const connections = 10
  return class extends ReferenceStore {
    private readonly pool = Array.from({ length: connections }, () => ({ open: [] as WalletChanges[] }))
    private readonly failed = new Set<string>()
    override answerError(error: unknown, changes: WalletChanges) {
      if (typeof which === 'function' && which(error)) this.failed.add(changes.transaction.transactionId)
      return super.answerError(error, changes)
    }
    override async commit(changes: WalletChanges) {
      const connection = this.pool.shift() ?? { open: [] }
      for (const open of connection.open.splice(0)) putParts(this, this.rowsOf(open), parts)
      try {
        const result = await super.commit(changes)
        const isLeftOpen = this.failed.delete(changes.transaction.transactionId) || result.status === which
        if (isLeftOpen) connection.open.push(structuredClone(changes))
        return result
      } finally {
        this.pool.push(connection)
      }
    }
  }
}

/** The PAM has a rule that refuses more than debits. */
function refusing(which: (store: ReferenceStore, changes: WalletChanges) => boolean): StoreClass {
  return class extends ReferenceStore {
    override refusalOf(changes: WalletChanges) {
      if (which(this, changes)) return { errorCode: 'NOT_ALLOWED', description: 'not allowed' }
      return super.refusalOf(changes)
    }
  }
}

/** What the tables held before the last commit, and the connection that committed. */
const lastCommits = new WeakMap<
  Database,
  { by: ReferenceStore; before: Pick<Database, 'players' | 'bets' | 'transactions'> }
>()

/**
 * One load in fifteen misses the last commit, unless it was made on the same connection.
 *
 * @param seed of the loads that do
 */
export function staleReads(seed: number): StoreClass {
  let state = seed
  const isStale = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0 // the generator of Numerical Recipes
    return state / 2 ** 32 < 1 / 15
  }
  return class extends ReferenceStore {
    override async write(rows: Rows, changes: WalletChanges) {
      const { players, bets, transactions } = this.database
      const before = { players: new Map(players), bets: new Map(bets), transactions: new Map(transactions) }
      await super.write(rows, changes)
      lastCommits.set(this.database, { by: this, before })
    }
    override async load(keys: WalletKeys) {
      const last = lastCommits.get(this.database)
      if (last === undefined || last.by === this || !isStale()) return super.load(keys)
      return structuredClone({
        player: last.before.players.get(this.playerKey(keys.playerId)) ?? null,
        bet: last.before.bets.get(this.betKey(keys)) ?? null,
        transaction: last.before.transactions.get(this.transactionKey(keys)) ?? null,
      })
    }
  }
}

/** The parts are read one after the other, with a round trip between any two. */
function reading(...parts: Part[]): StoreClass {
  return class extends ReferenceStore {
    override async load(keys: WalletKeys) {
      const snapshot = {
        bet: null as Bet | null,
        transaction: null as Transaction | null,
        player: null as Player | null,
      }
      for (const part of parts) {
        await this.roundTrip()
        if (part === 'bet') snapshot.bet = this.readBet(keys)
        if (part === 'transaction') snapshot.transaction = this.readTransaction(keys)
        if (part === 'player') snapshot.player = this.readPlayer(keys)
      }
      await this.roundTrip()
      return snapshot
    }
  }
}

/** Guards are checked before the locks are taken, and not again. */
function checkedEarly(
  early: readonly (typeof guards)[number][],
  which: (changes: WalletChanges) => boolean = () => true,
): StoreClass {
  return class extends ReferenceStore {
    private readonly held = new WeakMap<WalletChanges, boolean>()
    override async begin(changes: WalletChanges) {
      this.held.set(
        changes,
        early.every(guard => this[guard](changes)),
      )
      await super.begin(changes)
    }
    override guardsHold(changes: WalletChanges) {
      if (!which(changes)) return super.guardsHold(changes)
      const late = guards.filter(guard => !early.includes(guard))
      return this.held.get(changes) === true && late.every(guard => this[guard](changes))
    }
  }
}

function rounded(amount: Decimal, places: number): Decimal {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  const up = (fraction[places] ?? '0') >= '5' ? 1n : 0n
  const units = String(BigInt(whole + fraction.slice(0, places).padEnd(places, '0')) + up).padStart(
    places + 1,
    '0',
  )
  const text = `${units.slice(0, -places)}.${units.slice(-places)}`
  return amount.startsWith('-') && !isZero(text) ? `-${text}` : text
}

function asFloat(...terms: Decimal[]): Decimal {
  const text = terms
    .reduce((total, term) => total + Number(term), 0)
    .toFixed(18)
    .replace(/\.?0+$/, '')
  return isZero(text) ? '0' : text
}
