/**
 * The proof that the proof can fail: broken stores, each one small deviation of the reference, one per promise
 * and way of breaking it. `killedBy` is the case that names the fault; others may find it too.
 */
import { add, type Decimal, isZero, subtract, wholeDigitsOf } from '../../src/money.js'
import type { Bet, CommitResult, Player, Transaction, WalletChanges, WalletKeys } from '../../src/store.js'
import type { ExternalSettlement, StoreHarness } from '../../src/testing/harness.js'
import {
  ConnectionLost,
  type Database,
  Deadlock,
  Locks,
  type OpenedReference,
  OutOfRange,
  ReferenceStore,
  type Rows,
  referenceHarness,
} from './reference.js'

export interface Mutant {
  name: string
  /** What it does wrong, in words. */
  fault: string
  /** The case that names the fault. */
  killedBy: `WS-${string}`
  /** For those that block: how long the kit waits before it says so. */
  patienceMs?: number
  make(): StoreHarness<OpenedReference>
}

const guards = ['guard1', 'guard2', 'guard3'] as const

type StoreClass = new (database: Database) => ReferenceStore

/** A list of mutants, from `name: [killedBy, fault, Store, patienceMs]`. */
function mutantsOf(
  table: Record<string, readonly [Mutant['killedBy'], string, StoreClass, number?]>,
): Mutant[] {
  return Object.entries(table).map(([name, [killedBy, fault, Store, patienceMs]]) => ({
    name,
    fault,
    killedBy,
    ...(patienceMs === undefined ? {} : { patienceMs }),
    make: () => referenceHarness(Store),
  }))
}

/** What is stored is not what comes back. */
const ofShape = mutantsOf({
  'undefined-for-none': [
    'WS-01',
    'what is not there is undefined instead of null',
    class extends ReferenceStore {
      override readBet(keys: WalletKeys) {
        return this.storedBet(keys) as Bet
      }
    },
  ],
  'player-on-sight': [
    'WS-01',
    'a player who is not known is opened with nothing as soon as somebody asks',
    class extends ReferenceStore {
      override readPlayer(keys: WalletKeys) {
        return super.readPlayer(keys) ?? { playerId: keys.playerId, currency: 'EUR', balance: '0' }
      }
    },
  ],
  'one-currency': [
    'WS-02',
    'every player has the currency of the first version',
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
  'reference-by-load': [
    'WS-03',
    'the walletTransactionId is made up by every load anew',
    class extends ReferenceStore {
      private loads = 0
      override readTransaction(keys: WalletKeys) {
        const transaction = super.readTransaction(keys)
        this.loads += 1
        return transaction && { ...transaction, walletTransactionId: `L${this.loads}` }
      }
    },
  ],
  'delta-not-kept': [
    'WS-03',
    'the transaction does not keep what it moved',
    class extends ReferenceStore {
      override transactionRow(transaction: Transaction) {
        return { ...super.transactionRow(transaction), delta: '0' }
      }
    },
  ],
  'refusal-dropped': [
    'WS-04',
    'a refusal is kept as a transaction that moved nothing, and so as a success',
    class extends ReferenceStore {
      override transactionRow(transaction: Transaction) {
        return { ...super.transactionRow(transaction), refusal: null }
      }
    },
  ],
  'description-in-latin-1': [
    'WS-04',
    'the description of a refusal is kept in Latin 1',
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
    'the map of credits is lost: there is one credit per bet, the last',
    class extends ReferenceStore {
      override betRow(bet: Bet) {
        return { ...super.betRow(bet), credits: Object.fromEntries(Object.entries(bet.credits).slice(-1)) }
      }
    },
  ],
  'cash-out-unknown': [
    'WS-05',
    'the list of settlement types is too short, and a cash-out is dropped',
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
    'every bet has a live credit of 0 of every type from the start',
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
    'what is not live any more is live with 0: the column is NOT NULL DEFAULT 0',
    withCredits(credit => ({ ...credit, live: credit.live ?? '0' })),
  ],
  'owed-forgotten': ['WS-06', 'what is owed is not kept', withCredits(credit => ({ ...credit, owed: '0' }))],
  'reversed-forgotten': [
    'WS-06',
    'what was reversed is not kept',
    withCredits(credit => ({ ...credit, reversed: '0' })),
  ],
  'tombstone-as-placed': [
    'WS-07',
    'a new bet gets the status PLACED, whatever it came with',
    class extends ReferenceStore {
      override betRow(bet: Bet) {
        return { ...super.betRow(bet), status: bet.revision === 1 ? ('PLACED' as const) : bet.status }
      }
    },
  ],
  'tombstone-not-shown': [
    'WS-07',
    'load leaves out bets without a stake that were rolled back',
    class extends ReferenceStore {
      override readBet(keys: WalletKeys) {
        const bet = super.readBet(keys)
        return bet?.status === 'ROLLED_BACK' && isZero(bet.stake) ? null : bet
      }
    },
  ],
  'two-places': [
    'WS-08',
    'amounts are rounded to 2 places',
    class extends ReferenceStore {
      override column(amount: Decimal) {
        return rounded(amount, 2)
      }
    },
  ],
  'credits-as-json-numbers': [
    'WS-08',
    'credits are kept as a JSON document with numbers',
    withCredits(credit => ({ ...credit, live: credit.live && asFloat(credit.live) })),
  ],
  'float-sums': [
    'WS-09',
    'balances are added up as floats',
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
    'an amount with too many decimals is rounded in silence',
    class extends ReferenceStore {
      override column(amount: Decimal) {
        return super.column(rounded(amount, 18))
      }
    },
  ],
  'clamps-beyond-its-digits': [
    'WS-10',
    'an amount that is too great becomes the greatest that fits',
    class extends ReferenceStore {
      override column(amount: Decimal) {
        return wholeDigitsOf(amount) > 15 ? '999999999999999.999999999999999999' : super.column(amount)
      }
    },
  ],
  'error-swallowed': [
    'WS-10',
    'an error of the database is logged, and committed is answered',
    class extends ReferenceStore {
      override failed(error: unknown, changes: WalletChanges): CommitResult {
        if (!(error instanceof OutOfRange)) return super.failed(error, changes)
        const player = this.storedPlayer(changes.transaction.playerId) as Player
        return { status: 'committed', balance: player.balance, walletTransactionId: null }
      }
    },
  ],
  'ids-of-64': [
    'WS-11',
    'ids are cut after 64 characters',
    class extends ReferenceStore {
      override id(text: string) {
        return text.slice(0, 64)
      }
    },
  ],
  'ids-of-254': [
    'WS-11',
    'ids are cut after 254 characters',
    class extends ReferenceStore {
      override id(text: string) {
        return text.slice(0, 254)
      }
    },
  ],
  'ids-without-case': [
    'WS-12',
    'ids are compared without regard to case',
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
    'spaces at the end of an id do not count, as in a CHAR column',
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
    'the collation of ids knows no accents',
    class extends ReferenceStore {
      override id(text: string) {
        return text.normalize('NFD').replace(/\p{M}/gu, '')
      }
    },
  ],
  'ids-as-numbers': [
    'WS-15',
    'ids that look like numbers are kept as numbers',
    class extends ReferenceStore {
      override id(text: string) {
        return /^[+]?[0-9.e]+$/.test(text) ? String(Number(text)) : text
      }
    },
  ],
  'keeps-what-it-was-given': [
    'WS-16',
    'the objects that commit was given are kept, and the core’s own change',
    class extends ReferenceStore {
      override copied(changes: WalletChanges) {
        return changes
      }
      override betRow(bet: Bet) {
        return bet
      }
    },
  ],
  'gives-its-own-away': [
    'WS-16',
    'load gives out the stored objects themselves',
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
    'load joins from the player, and finds nothing where there is none',
    class extends ReferenceStore {
      override async load(keys: WalletKeys) {
        const snapshot = await super.load(keys)
        return snapshot.player === null ? { player: null, bet: null, transaction: null } : snapshot
      }
    },
  ],
  'bets-of-the-player-only': [
    'WS-17',
    'load shows the bets of the player that it is asked for, and no others',
    class extends ReferenceStore {
      override readBet(keys: WalletKeys) {
        const bet = super.readBet(keys)
        return bet?.playerId === keys.playerId ? bet : null
      }
    },
  ],
  'transactions-of-the-bet-only': [
    'WS-17',
    'load looks for the transaction among those of the bet that it is asked for',
    class extends ReferenceStore {
      override readTransaction(keys: WalletKeys) {
        const transaction = super.readTransaction(keys)
        return transaction?.betId === keys.betId ? transaction : null
      }
    },
  ],
  'ids-of-255-bytes': [
    'WS-18',
    'ids are cut off after 255 characters of UTF-16',
    class extends ReferenceStore {
      override id(text: string) {
        return text.slice(0, 255)
      }
    },
  ],
  'short-descriptions': [
    'WS-18',
    'descriptions are cut off after 255 characters',
    class extends ReferenceStore {
      override readTransaction(keys: WalletKeys) {
        const transaction = super.readTransaction(keys)
        const { refusal } = transaction ?? { refusal: null }
        if (transaction === null || refusal === null) return transaction
        return { ...transaction, refusal: { ...refusal, description: refusal.description.slice(0, 255) } }
      }
    },
  ],
  'dates-of-seconds': [
    'WS-19',
    'dates are kept in whole seconds',
    class extends ReferenceStore {
      override readTransaction(keys: WalletKeys) {
        const transaction = super.readTransaction(keys)
        if (transaction === null) return null
        return { ...transaction, transactionDate: transaction.transactionDate.replace(/\.\d+Z$/, '.000Z') }
      }
    },
  ],
})

/** A guard is missing, or tests something else. */
const ofGuards = mutantsOf({
  'no-unique-transaction': [
    'WS-20',
    'nothing keeps a transaction from being recorded twice',
    class extends ReferenceStore {
      override guard1() {
        return true
      }
    },
  ],
  'unique-per-bet': [
    'WS-20',
    'transactionIds are unique per bet only',
    class extends ReferenceStore {
      override guard1({ transaction }: WalletChanges) {
        return this.storedTransaction(transaction)?.betId !== transaction.betId
      }
    },
  ],
  'unique-per-player': [
    'WS-21',
    'transactionIds are unique per player only',
    class extends ReferenceStore {
      override transactionKey(whose: WalletKeys) {
        return `${whose.playerId} ${super.transactionKey(whose)}`
      }
    },
  ],
  'unique-per-player-but-for-placebets': [
    'WS-37',
    'transactionIds of placebets are unique, those of other operations per player only',
    class extends ReferenceStore {
      override transactionKey(whose: WalletKeys) {
        const key = super.transactionKey(whose)
        return whose.operation === 'placebet' ? key : `${whose.playerId} ${key}`
      }
    },
  ],
  'operation-not-in-key': [
    'WS-22',
    'transactionIds are unique over all operations, and a rollback cannot have its bet’s',
    class extends ReferenceStore {
      override transactionKey({ transactionId }: WalletKeys) {
        return transactionId
      }
    },
  ],
  'refusals-not-unique': [
    'WS-23',
    'the unique index leaves refusals out',
    class extends ReferenceStore {
      override guard1({ transaction }: WalletChanges) {
        return (
          (this.storedTransaction(transaction)?.refusal ?? null) !== null ||
          super.guard1({ transaction } as WalletChanges)
        )
      }
    },
  ],
  'refusals-apart': [
    'WS-23',
    'refusals have a table of their own, and its ids are unique among themselves only',
    class extends ReferenceStore {
      private kind = ''
      override transactionKey(whose: WalletKeys) {
        return `${this.kind}${super.transactionKey(whose)}`
      }
      private refused<T>(refused: boolean, within: () => T): T {
        this.kind = refused ? 'refused ' : ''
        try {
          return within()
        } finally {
          this.kind = ''
        }
      }
      override storedTransaction(whose: Transaction) {
        const success = super.storedTransaction(whose)
        return success ?? this.refused(true, () => super.storedTransaction(whose))
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
    'a new bet replaces one with the same id',
    withRevision((bet, fits) => fits || bet.revision === 1),
  ],
  'bets-unique-per-player': [
    'WS-25',
    'betIds are unique per player only',
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
  'tombstone-forgotten': [
    'WS-26',
    'a bet that was rolled back before it came is not kept',
    class extends ReferenceStore {
      override putBet(rows: Rows) {
        const { bet } = rows
        if (bet?.status !== 'ROLLED_BACK' || bet.revision !== 1) super.putBet(rows)
      }
    },
  ],
  'revision-not-compared': [
    'WS-27',
    'the revision is raised, and not compared',
    withRevision((bet, fits) => fits || bet.revision > 1),
  ],
  'missing-bet-inserted': [
    'WS-28',
    'a change of a bet that is not there inserts it',
    withRevision((_bet, fits, stored) => fits || stored === undefined),
  ],
  'revision-skipped': [
    'WS-28',
    'any revision above the stored one will do',
    withRevision((bet, fits, stored) => fits || bet.revision - 1 > (stored?.revision ?? bet.revision)),
  ],
  'no-revision': [
    'WS-29',
    'there is no column for the revision: load shows 1, commit compares nothing but the id',
    class extends ReferenceStore {
      override betRow(bet: Bet) {
        return { ...super.betRow(bet), revision: 1 }
      }
    },
  ],
  'revision-of-credits-only': [
    'WS-29',
    'the revision counts settlements, and not what takes a credit away',
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
    'the balance has no floor',
    class extends ReferenceStore {
      override fundsSuffice() {
        return true
      }
    },
  ],
  'last-cent-kept': [
    'WS-30',
    'the balance must stay above its floor, and a stake of all of it is a conflict for ever',
    class extends ReferenceStore {
      override fundsSuffice(player: Player, { balance }: WalletChanges) {
        if (balance === null || balance.floor === null) return true
        return this.isLess(balance.floor, this.sum(player.balance, balance.delta))
      }
    },
  ],
  'floor-of-its-own': [
    'WS-31',
    'the floor is a CHECK (balance >= 0), and the one that commit is given is not looked at',
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
  'currency-not-guarded': [
    'WS-33',
    'the currency is not compared',
    class extends ReferenceStore {
      override currencyFits() {
        return true
      }
    },
  ],
  'currency-guarded-for-stakes': [
    'WS-33',
    'the currency is compared where money is taken only',
    class extends ReferenceStore {
      override currencyFits(player: Player, changes: WalletChanges) {
        return super.currencyFits(player, changes) || !changes.balance?.delta.startsWith('-')
      }
    },
  ],
  'floor-for-gifts': [
    'WS-34',
    'a floor of 0 is tested also where none is given',
    withFloor(floor => floor ?? '0'),
  ],
  'floor-for-nothing': [
    'WS-35',
    'who has no money cannot place a bet, not even a free one',
    class extends ReferenceStore {
      override fundsSuffice(player: Player, changes: WalletChanges) {
        return super.fundsSuffice(player, changes) && (changes.balance !== null || !isZero(player.balance))
      }
    },
  ],
  'no-rows-changed': [
    'WS-35',
    'an UPDATE that changes no balance counts no rows, and is taken for a guard that failed',
    class extends ReferenceStore {
      override guard3(changes: WalletChanges) {
        return changes.balance !== null && super.guard3(changes)
      }
    },
  ],
  'everybody-moved': [
    'WS-36',
    'the UPDATE of the balance has no WHERE',
    class extends ReferenceStore {
      override putPlayer(rows: Rows) {
        super.putPlayer(rows)
        if (!rows.moves) return
        for (const [key, player] of this.database.players) {
          this.database.players.set(key, { ...player, balance: rows.player.balance })
        }
      }
    },
  ],
  'every-bet-written': [
    'WS-36',
    'a credit is written to every bet there is',
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
    'only the ids of placebets are unique: settlements, unsettlements and rollbacks were added later',
    class extends ReferenceStore {
      override guard1(changes: WalletChanges) {
        return changes.transaction.operation !== 'placebet' || super.guard1(changes)
      }
    },
  ],
  'refusal-upserted': [
    'WS-37',
    'a refusal replaces what is recorded under its id: it moves nothing, after all',
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
    'a tombstone replaces a bet that has come in the meantime',
    withRevision((bet, fits) => fits || (bet.revision === 1 && bet.status === 'ROLLED_BACK')),
  ],
  'lost-bets-unguarded': [
    'WS-38',
    'a settlement of nothing moves nothing, and does not compare the revision',
    withRevision(
      (_bet, fits, _stored, { operation, delta }) => fits || (operation === 'settlement' && isZero(delta)),
    ),
  ],
  'voids-unguarded': [
    'WS-38',
    'the settlement of a void was added later, and does not compare the revision',
    withRevision((_bet, fits, _stored, { type }) => fits || type === 'VOIDED'),
  ],
  'clawback-without-floor': [
    'WS-39',
    'a clawback may take the balance below its floor',
    class extends ReferenceStore {
      override fundsSuffice(player: Player, changes: WalletChanges) {
        return changes.transaction.operation === 'unsettlement' || super.fundsSuffice(player, changes)
      }
    },
  ],
  'total-shown': [
    'WS-39',
    'load shows the total, open stakes among it, and the guard tests what is available',
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

/** Part of a commit is written, and not the rest. */
const ofPartialCommits = [
  ...mutantsOf({
    'bet-before-guard-1': [
      'WS-40',
      'the bet is written before guard 1 is tested',
      writingBefore('guard1', 'bet'),
    ],
    'balance-before-guard-1': [
      'WS-40',
      'the balance is written before guard 1 is tested',
      writingBefore('guard1', 'player'),
    ],
    'transaction-before-guard-2': [
      'WS-41',
      'the transaction is written before guard 2 is tested',
      writingBefore('guard2', 'transaction'),
    ],
    'balance-before-guard-2': [
      'WS-41',
      'the balance is written before guard 2 is tested',
      writingBefore('guard2', 'player'),
    ],
    'transaction-before-guard-3': [
      'WS-42',
      'the transaction is written before guard 3 is tested',
      writingBefore('guard3', 'transaction'),
    ],
    'bet-before-guard-3': [
      'WS-42',
      'the bet is written before guard 3 is tested',
      writingBefore('guard3', 'bet'),
    ],
    'conflict-that-wrote': [
      'WS-42',
      'all of it is written, and then a conflict is answered',
      writingBefore('guard3', 'transaction', 'bet', 'player'),
    ],
    'conflicts-written-later': [
      'WS-42',
      'what met a conflict is queued, and written with the next commit, when nobody looks any more',
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
        `${first}, ${second} and ${third} are three commits, in this order, and a crash comes after the first`,
        inPieces([first], [second, third]),
      ],
    }),
  ),
  ...mutantsOf({
    'transaction-and-bet-then-player': [
      'WS-46',
      'the balance has a commit of its own, after transaction and bet',
      inPieces(['transaction', 'bet'], ['player']),
    ],
    'player-and-transaction-then-bet': [
      'WS-46',
      'the bet has a commit of its own, after transaction and balance',
      inPieces(['player', 'transaction'], ['bet']),
    ],
  }),
]

/** Connections, crashes and time. */
const ofDurability = mutantsOf({
  'connection-with-a-cache': [
    'WS-43',
    'every connection keeps what it has read and written, and does not learn of what others write',
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
  'locks-per-connection': [
    'WS-44',
    'rows are locked by a mutex in the process, and other processes do not know it',
    class extends ReferenceStore {
      private readonly own = new Locks()
      override get locks() {
        return this.own
      }
    },
  ],
  'answered-before-durable': [
    'WS-45',
    'committed is answered before anything is on the disk',
    unsynced(() => true),
  ],
  'refusals-in-memory': [
    'WS-45',
    'refusals are kept in the memory of the process only',
    unsynced(({ transaction }) => transaction.refusal !== null),
  ],
  'tombstones-in-memory': [
    'WS-45',
    'tombstones are kept in the memory of the process only',
    unsynced(({ bet }) => bet?.status === 'ROLLED_BACK' && bet.revision === 1),
  ],
  'lost-connection-swallowed': [
    'WS-46',
    'a connection that breaks in the middle of a commit is answered as committed',
    class extends ReferenceStore {
      override failed(error: unknown, changes: WalletChanges): CommitResult {
        if (!(error instanceof ConnectionLost)) return super.failed(error, changes)
        return { status: 'committed', balance: '70', walletTransactionId: null }
      }
    },
  ],
  'transactions-expire': [
    'WS-47',
    'transactions have a time to live of 30 days',
    expiring(
      ({ transaction }) => transaction.refusal === null && transaction.operation === 'placebet',
      'transactions',
    ),
  ],
  'refusals-expire': [
    'WS-47',
    'refusals have a time to live of 30 days',
    expiring(({ transaction }) => transaction.refusal !== null, 'transactions'),
  ],
  'tombstones-expire': [
    'WS-47',
    'tombstones have a time to live of 30 days',
    expiring(({ bet }) => bet?.status === 'ROLLED_BACK', 'bets'),
  ],
  'one-lock-for-all': [
    'WS-48',
    'one lock is taken by every commit, and players wait for each other',
    class extends ReferenceStore {
      override locksOf() {
        return ['everything']
      }
    },
    50,
  ],
  'load-waits-for-commits': [
    'WS-48',
    'load takes the lock of the player’s row, and waits for commits under way',
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
})

/** `load` in pieces. */
const ofReads = mutantsOf({
  'three-reads': [
    'WS-50',
    'load is three reads, in the lawful order: bet, transaction, player (a SHOULD, and no more)',
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

/** Sound for one request after the other, and not for two at once. */
const ofRaces = mutantsOf({
  'looked-then-written': [
    'WS-60',
    'transaction and bet are looked for before their locks are taken, and not again',
    testedEarly(['guard1', 'guard2']),
  ],
  'met-a-lock-is-an-error': [
    'WS-60',
    'who meets a lock gets an error instead of a conflict',
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
  'transaction-looked-for-early': [
    'WS-61',
    'the transaction is looked for before its lock is taken, and not again',
    testedEarly(['guard1']),
  ],
  'ids-locked-by-player': [
    'WS-61',
    'transaction and bet are guarded by the lock of the player’s row only',
    class extends ReferenceStore {
      override locksOf({ transaction }: WalletChanges) {
        return [`player ${this.playerKey(transaction.playerId)}`, `bet ${this.betKey(transaction)}`]
      }
    },
  ],
  'bets-locked-by-player': [
    'WS-62',
    'a new bet is guarded by the lock of the player’s row only',
    class extends ReferenceStore {
      override locksOf({ transaction }: WalletChanges) {
        return [
          `transaction ${this.transactionKey(transaction)}`,
          `player ${this.playerKey(transaction.playerId)}`,
        ]
      }
    },
  ],
  'floor-tested-early': [
    'WS-63',
    'the floor is compared before other writers are locked out',
    testedEarly(['guard3']),
  ],
  'tombstone-tested-early': [
    'WS-64',
    'a rollback looks for its bet before it takes the lock, and not again',
    testedEarly(['guard2'], ({ transaction }) => transaction.operation === 'rollbackbet'),
  ],
  'settlement-tested-early': [
    'WS-65',
    'a settlement compares the revision before it takes the lock, and not again',
    testedEarly(['guard2'], ({ transaction }) => transaction.operation === 'settlement'),
  ],
  'unsettlement-tested-early': [
    'WS-66',
    'an unsettlement compares the revision before it takes the lock, and not again',
    testedEarly(['guard2'], ({ transaction }) => transaction.operation === 'unsettlement'),
  ],
  'clawback-tested-early': [
    'WS-67',
    'an unsettlement compares the floor before it takes the lock, and not again',
    testedEarly(['guard3'], ({ transaction }) => transaction.operation === 'unsettlement'),
  ],
  'shared-variable': [
    'WS-68',
    'what is being committed is kept in a field of the store, which concurrent commits share',
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
    'settlements lock bet and player, rollbacks player and bet; the deadlock is answered as committed',
    class extends ReferenceStore {
      override locksOf(changes: WalletChanges) {
        const names = super.locksOf(changes)
        return changes.transaction.operation === 'rollbackbet' ? names.reverse() : names
      }
      override failed(error: unknown, changes: WalletChanges): CommitResult {
        if (!(error instanceof Deadlock)) return super.failed(error, changes)
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
  'rollback-tested-early': [
    'WS-70',
    'a rollback of a placed bet compares the revision before it takes the lock, and not again',
    testedEarly(
      ['guard2'],
      ({ transaction, bet }) => transaction.operation === 'rollbackbet' && bet?.revision !== 1,
    ),
  ],
  'balance-from-before': [
    'WS-71',
    'the balance in the answer is the one from before the commit',
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
  'no-balance-where-nothing-moves': [
    'WS-71',
    'where nothing moves, the balance in the answer is 0',
    class extends ReferenceStore {
      override answer(rows: Rows, changes: WalletChanges) {
        const answer = super.answer(rows, changes)
        return changes.balance === null ? ({ ...answer, balance: '0' } as CommitResult) : answer
      }
    },
  ],
  'balance-reckoned': [
    'WS-72',
    'the balance in the answer is reckoned from the one that was there when the commit was called',
    class extends ReferenceStore {
      private readonly seen = new WeakMap<WalletChanges, Decimal>()
      override async begin(changes: WalletChanges) {
        this.seen.set(changes, this.storedPlayer(changes.transaction.playerId)?.balance ?? '0')
        await super.begin(changes)
      }
      override answer(rows: Rows, changes: WalletChanges) {
        const balance = add(this.seen.get(changes) ?? '0', changes.balance?.delta ?? '0')
        return { ...super.answer(rows, changes), balance } as CommitResult
      }
    },
  ],
})

/** A store that remembers which balance it showed to whom. */
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

/** The PAM’s own code writes beside the library. */
const ofOtherWriters = mutantsOf({
  'ledger-of-its-own': [
    'WS-75',
    'the PAM’s deposits go to another ledger than the one that load reads',
    class extends ReferenceStore {
      override async deposit() {}
    },
  ],
  'balances-cached': [
    'WS-75',
    'load keeps balances in a cache that only commits invalidate',
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
    'commit writes the balance that load had shown, plus the delta',
    class extends RememberingStore {
      override playerRow(player: Player, changes: WalletChanges) {
        return super.playerRow({ ...player, balance: this.loaded(changes) ?? player.balance }, changes)
      }
    },
  ],
  'balance-with-a-version': [
    'WS-76',
    'the balance has a version, and a deposit since the load is a conflict',
    class extends RememberingStore {
      override fundsSuffice(player: Player, changes: WalletChanges) {
        return (
          super.fundsSuffice(player, changes) && (this.loaded(changes) ?? player.balance) === player.balance
        )
      }
    },
  ],
  'floor-tested-as-loaded': [
    'WS-77',
    'the floor is tested against the balance that load had shown',
    class extends RememberingStore {
      override fundsSuffice(player: Player, changes: WalletChanges) {
        return super.fundsSuffice({ ...player, balance: this.loaded(changes) ?? player.balance }, changes)
      }
    },
  ],
  'deposits-without-lock': [
    'WS-78',
    'commit reads, adds and writes under a lock that the PAM’s deposits do not take',
    class extends ReferenceStore {
      override async deposit(playerId: string, amount: Decimal) {
        for (let step = 0; step < 3; step += 1) await this.roundTrip()
        this.addOutside(playerId, amount)
      }
    },
  ],
  'balance-of-before-the-round-trip': [
    'WS-79',
    'a deposit adds to the balance in one step and takes no lock; commit adds to what it read a round trip ago',
    class extends ReferenceStore {
      override async deposit(playerId: string, amount: Decimal) {
        this.addOutside(playerId, amount)
      }
    },
  ],
  'credits-written-back': [
    'WS-73',
    'what takes money locks the player, but what gives money writes back a balance that it read before',
    class extends ReferenceStore {
      override locksOf(changes: WalletChanges) {
        const gives = changes.balance !== null && !changes.balance.delta.startsWith('-')
        return super.locksOf(changes).filter(name => !gives || !name.startsWith('player '))
      }
    },
  ],
  'refusals-tested-early': [
    'WS-74',
    'a refusal looks for its transaction before it takes the lock, and not again',
    testedEarly(['guard1'], ({ transaction }) => transaction.refusal !== null),
  ],
  'settlements-not-shown': [
    'WS-80',
    'the PAM’s own settlements are in the balance, and no credit of the bet',
    class extends ReferenceStore {
      override settled(bet: Bet) {
        return { ...bet, revision: bet.revision + 1 }
      }
    },
  ],
  'settlements-without-revision': [
    'WS-81',
    'the PAM’s own settlements do not raise the revision',
    withSettled((_before, settled) => ({ ...settled, revision: settled.revision - 1 })),
  ],
  'settlements-without-lock': [
    'WS-83',
    'the PAM’s own settlements take no lock, and commit writes the bet as it read it a round trip ago',
    class extends ReferenceStore {
      override async settle({ playerId, betId, type, amount }: ExternalSettlement) {
        const bet = this.storedBet({ playerId, betId }) as Bet
        this.database.bets.set(this.betKey(bet), this.settled(bet, type, amount))
        this.addOutside(playerId, amount)
      }
    },
  ],
  'settlement-forgives': [
    'WS-82',
    'the PAM’s own settlement writes the credit anew, and forgets what is owed',
    withSettled((_before, settled) => ({
      ...settled,
      credits: { BET_PAID: { live: settled.credits.BET_PAID?.live ?? '0', reversed: '0', owed: '0' } },
    })),
  ],
  'settlements-summed': [
    'WS-82',
    'what is live is the sum of the PAM’s settlements less what was reversed, what was closed among it',
    withSettled((before, settled) => {
      const credit = settled.credits.BET_PAID ?? { live: '0', reversed: '0', owed: '0' }
      const live = add(credit.live ?? '0', before.credits.BET_PAID?.owed ?? '0')
      return { ...settled, credits: { ...settled.credits, BET_PAID: { ...credit, live } } }
    }),
  ],
})

/** The line breaks. */
const ofLostAnswers = mutantsOf({
  'rollback-updates-only': [
    'WS-85',
    'a rollback is an UPDATE: where the bet never came it counts no rows, a conflict for ever',
    withRevision((bet, fits) => fits && !(bet.revision === 1 && bet.status === 'ROLLED_BACK')),
  ],
  'stale-replica': [
    'WS-86',
    'load reads transactions from a replica, which does not have a new one when it is first asked',
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
    'commit tests the bet as its own load had seen it',
    class extends ReferenceStore {
      private readonly seen = new Map<string, Bet | null>()
      override readBet(keys: WalletKeys) {
        const bet = super.readBet(keys)
        this.seen.set(this.transactionKey(keys), bet)
        return bet
      }
      override guard2({ transaction, bet }: WalletChanges) {
        const seen = this.seen.get(this.transactionKey(transaction))
        const stored = seen === undefined && bet ? this.storedBet(bet) : seen
        return bet === null || this.revisionFits(bet, stored ?? undefined)
      }
    },
  ],
  'the-same-again': [
    'WS-88',
    'what is recorded already is written again, an upsert, and its money moves again',
    writingAgain(operation => operation !== 'placebet'),
  ],
  'refusals-until-money-comes': [
    'WS-89',
    'a refusal for lack of funds is forgotten when money comes',
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

/** What only long histories come to. */
const ofHistories = mutantsOf({
  'other-credits-dropped': [
    'WS-95',
    'an unsettlement writes the credit that it takes back, and loses those of the other types',
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
    'that a bet was rolled back is kept in the memory of the process only, until its next change',
    unsynced(
      ({ transaction, bet }) => transaction.operation === 'rollbackbet' && bet !== null && bet.revision > 1,
    ),
  ],
  'refusals-replaced': [
    'WS-97',
    'a refusal replaces another one under the same id, and what stuck does not stick any more',
    class extends ReferenceStore {
      override guard1(changes: WalletChanges) {
        const stuck = this.storedTransaction(changes.transaction)?.refusal ?? null
        return (stuck !== null && changes.transaction.refusal !== null) || super.guard1(changes)
      }
    },
  ],
  'settlements-again': [
    'WS-98',
    'a settlement that is recorded already is written again, an upsert, and pays again',
    writingAgain(operation => operation === 'settlement'),
  ],
})

export const mutants: readonly Mutant[] = [
  ...ofShape,
  ...ofGuards,
  ...ofPartialCommits,
  ...ofDurability,
  ...ofReads,
  ...ofRaces,
  ...ofOtherWriters,
  ...ofLostAnswers,
  ...ofHistories,
]

// Ways of going wrong that several mutants share.

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

/** These parts are written before the guard is tested; what the other guards say is known by then. */
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

/** What is recorded already, of the same bet, is written again without a guard. */
function writingAgain(which: (operation: Transaction['operation']) => boolean): StoreClass {
  return class extends ReferenceStore {
    override guardsHold(changes: WalletChanges) {
      const { operation, betId } = changes.transaction
      const recorded = this.storedTransaction(changes.transaction)
      return (which(operation) && recorded?.betId === betId) || super.guardsHold(changes)
    }
  }
}

/** The parts have commits of their own; the first of them can be there without the others. */
function inPieces(first: Part[], rest: Part[]): StoreClass {
  return class extends ReferenceStore {
    override async write(rows: Rows) {
      putParts(this, rows, first)
      await this.database.heldHere()
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

/** Some commits are on the disk only after their answer, and a crash comes before. */
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
        if (player && rows.moves) this.database.players.set(this.playerKey(player.playerId), player)
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

/** The parts are read one after the other, a round trip between any two. */
function reading(...parts: Part[]): StoreClass {
  return class extends ReferenceStore {
    override async load(keys: WalletKeys) {
      const found = {
        bet: null as Bet | null,
        transaction: null as Transaction | null,
        player: null as Player | null,
      }
      for (const part of parts) {
        await this.roundTrip()
        if (part === 'bet') found.bet = this.readBet(keys)
        if (part === 'transaction') found.transaction = this.readTransaction(keys)
        if (part === 'player') found.player = this.readPlayer(keys)
      }
      await this.roundTrip()
      return found
    }
  }
}

/** Guards are tested before the locks are taken, and not again. */
function testedEarly(
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
