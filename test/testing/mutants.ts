/**
 * The proof that the kit can fail: mutants, each the reference store with one small fault. `killedBy` is the
 * case that is about the fault; other cases may fail as well.
 */
import { add, type Decimal, isZero, subtract, wholeDigitsOf } from '../../src/money.js'
import type { Account, AddedCredit, Bet, CommitResult, Transaction, WalletChanges } from '../../src/store.js'
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

/**
 * The methods that replace those of a correct store.
 *
 * @param correct the methods that they replace, bound to the store
 */
type Patch = (correct: ReferenceStore, store: ReferenceStore) => Partial<ReferenceStore>

export function patched(patch: Patch): new (database: Database) => ReferenceStore {
  return class extends ReferenceStore {
    constructor(database: Database) {
      super(database)
      const { prototype } = ReferenceStore
      const correct = new Proxy(this, {
        get: (store, name) => Reflect.get(prototype, name, store).bind(store),
      })
      Object.defineProperties(this, Object.getOwnPropertyDescriptors(patch(correct, this)))
    }
  }
}

/** @param text the case that kills it, and the fault */
function mutant(text: `WS-${number} ${string}`, patch: Patch, timeoutMs?: number): Omit<Mutant, 'name'> {
  return {
    killedBy: text.split(' ', 1)[0] as Mutant['killedBy'],
    fault: text.slice(text.indexOf(' ') + 1),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    make: () => referenceHarness(patched(patch)),
  }
}

/** Records are returned otherwise than they were stored. */
const ofShape = {
  'undefined-for-none': mutant('WS-01 a missing bet is undefined instead of null', (_, store) => ({
    readBet: keys => store.storedBet(keys) as Bet,
  })),
  'player-created-by-load': mutant('WS-01 load creates an unknown player with a balance of 0', correct => ({
    readPlayer: keys =>
      correct.readPlayer(keys) ?? { playerId: keys.playerId, currency: 'EUR', balance: '0' },
  })),
  'one-currency': mutant(
    'WS-02 every player has the same currency',
    returning('readPlayer', player => ({ ...player, currency: 'EUR' })),
  ),
  'balance-as-number': mutant(
    'WS-02 the balance is a JavaScript number',
    returning('readPlayer', player => ({ ...player, balance: Number(player.balance) as unknown as Decimal })),
  ),
  'id-by-load': mutant('WS-03 every load invents a new walletTransactionId', correct => {
    let loads = 0
    return {
      readTransaction(keys) {
        const transaction = correct.readTransaction(keys)
        loads += 1
        return transaction && { ...transaction, walletTransactionId: `L${loads}` }
      },
    }
  }),
  'delta-not-stored': mutant(
    'WS-03 the delta of the transaction is not stored',
    returning('transactionRow', transaction => ({ ...transaction, delta: '0' })),
  ),
  'refusal-dropped': mutant(
    'WS-04 a refusal is stored as a transaction with delta 0, and so as a success',
    returning('transactionRow', transaction => ({ ...transaction, refusal: null })),
  ),
  'description-in-latin-1': mutant(
    'WS-04 the description of a refusal is stored in Latin 1',
    returning('transactionRow', ({ refusal, ...row }) => ({
      ...row,
      refusal: refusal && { ...refusal, description: refusal.description.replace(/[^\0-\xff]/g, '?') },
    })),
  ),
  'one-credit-column': mutant(
    'WS-05 there is one credit column per bet: only the last credit is stored',
    returning('betRow', (row, { credits }) => ({
      ...row,
      credits: Object.fromEntries(Object.entries(credits).slice(-1)),
    })),
  ),
  'cash-out-unknown': mutant(
    'WS-05 the list of settlement types is incomplete: a cash-out is dropped',
    returning('betRow', ({ credits: { CASHOUT: _, ...credits }, ...bet }) => ({ ...bet, credits })),
  ),
  'credits-from-the-start': mutant(
    'WS-05 every new bet has a live credit of 0 of every type',
    returning('readBet', bet => ({
      ...bet,
      credits: { BET_PAID: noCredit, VOIDED: noCredit, CASHOUT: noCredit, ...bet.credits },
    })),
  ),
  'null-as-zero': mutant(
    'WS-06 a reversed credit has a live amount of 0: the column is NOT NULL DEFAULT 0',
    withCredits(credit => ({ ...credit, live: credit.live ?? '0' })),
  ),
  'owed-not-stored': mutant(
    'WS-06 the owed amount is not stored',
    withCredits(credit => ({ ...credit, owed: '0' })),
  ),
  'reversed-not-stored': mutant(
    'WS-06 the reversed amount is not stored',
    withCredits(credit => ({ ...credit, reversed: '0' })),
  ),
  'tombstone-as-placed': mutant(
    'WS-07 every new bet is stored with the status PLACED',
    returning('betRow', bet => ({ ...bet, status: bet.revision === 1 ? 'PLACED' : bet.status })),
  ),
  'tombstone-not-loaded': mutant(
    'WS-07 load omits rolled-back bets with a stake of 0',
    returning('readBet', bet => (bet.status === 'ROLLED_BACK' && isZero(bet.stake) ? null : bet)),
  ),
  'two-decimals': mutant('WS-08 amounts are rounded to two decimals', () => ({
    column: amount => rounded(amount, 2),
  })),
  'credits-as-json-numbers': mutant(
    'WS-08 credits are stored as a JSON document with numbers',
    withCredits(credit => ({ ...credit, live: credit.live && asFloat(credit.live) })),
  ),
  'float-sums': mutant('WS-09 balances are added as floats', () => ({
    sum: (a, b) => asFloat(a, b),
    column: amount => amount,
  })),
  'rounds-beyond-its-scale': mutant(
    'WS-10 an amount with too many decimals is rounded silently',
    correct => ({ column: amount => correct.column(rounded(amount, 18)) }),
  ),
  'clamps-beyond-its-digits': mutant(
    'WS-10 an amount that is too large becomes the largest possible one',
    correct => ({
      column: amount =>
        wholeDigitsOf(amount) > 15 ? '999999999999999.999999999999999999' : correct.column(amount),
    }),
  ),
  'error-swallowed': mutant(
    'WS-10 a database error is logged, and answered as committed',
    swallowing(OutOfRange),
  ),
  'ids-of-64': mutant(
    'WS-11 ids are truncated to 64 characters',
    returning('id', text => text.slice(0, 64)),
  ),
  'ids-of-254': mutant(
    'WS-11 ids are truncated to 254 characters',
    returning('id', text => text.slice(0, 254)),
  ),
  'ids-case-insensitive': mutant(
    'WS-12 ids are compared case-insensitively',
    returning('id', text => text.toLowerCase()),
  ),
  'ids-trimmed': mutant(
    'WS-13 ids are trimmed',
    returning('id', text => text.trim()),
  ),
  'ids-padded': mutant(
    'WS-13 trailing spaces of an id are ignored, as in a CHAR column',
    returning('id', text => text.trimEnd()),
  ),
  'ids-composed': mutant(
    'WS-14 ids are normalised to composed characters',
    returning('id', text => text.normalize('NFC')),
  ),
  'ids-without-accents': mutant(
    'WS-14 the collation of ids ignores accents',
    returning('id', text => text.normalize('NFD').replace(/\p{M}/gu, '')),
  ),
  'ids-as-numbers': mutant(
    'WS-15 ids that look like numbers are stored as numbers',
    returning('id', text => (/^[+]?[0-9.e]+$/.test(text) ? String(Number(text)) : text)),
  ),
  'keeps-the-callers-objects': mutant(
    'WS-16 the store keeps the objects passed to commit instead of copies',
    () => ({ copied: changes => changes, betRow: bet => bet }),
  ),
  'returns-its-own-objects': mutant(
    'WS-16 load returns the stored objects instead of copies',
    (_, store) => ({
      readBet: keys => store.storedBet(keys) ?? null,
      readPlayer: ({ playerId }) => store.storedPlayer(playerId) ?? null,
    }),
  ),
  'joined-from-the-player': mutant(
    'WS-17 load joins from the player, and returns no bet or transaction for an unknown player',
    correct => ({
      load: async keys => {
        const snapshot = await correct.load(keys)
        return snapshot.accounts.length === 0 ? { ...snapshot, bet: null, transaction: null } : snapshot
      },
    }),
  ),
  'bets-of-the-player-only': mutant(
    'WS-17 load returns only bets of the requested player',
    returning('readBet', (bet, keys) => (bet.playerId === keys.playerId ? bet : null)),
  ),
  'transactions-of-the-bet-only': mutant(
    'WS-17 load returns only transactions of the requested bet',
    returning('readTransaction', (transaction, keys) =>
      transaction.betId === keys.betId ? transaction : null,
    ),
  ),
  'ids-of-255-utf-16-units': mutant(
    'WS-18 ids are truncated to 255 UTF-16 code units',
    returning('id', text => text.slice(0, 255)),
  ),
  'short-descriptions': mutant(
    'WS-18 descriptions are truncated to 255 characters',
    returning('readTransaction', ({ refusal, ...transaction }) => ({
      ...transaction,
      refusal: refusal && { ...refusal, description: refusal.description.slice(0, 255) },
    })),
  ),
  'currencies-of-3': mutant(
    'WS-18 the currency of a transaction is truncated to 3 characters',
    returning('transactionRow', row => ({ ...row, currency: row.currency?.slice(0, 3) ?? null })),
  ),
  'dates-in-seconds': mutant(
    'WS-19 dates are stored in whole seconds',
    returning('readTransaction', transaction => ({
      ...transaction,
      transactionDate: transaction.transactionDate.replace(/\.\d+Z$/, '.000Z'),
    })),
  ),
  'reason-guessed': mutant(
    'WS-99 the reason is not stored: load returns what it guesses from the error code',
    returning('readTransaction', transaction => ({
      ...transaction,
      reason: transaction.refusal?.errorCode ?? 'ACCEPTED',
    })),
  ),
  'known-reasons-only': mutant(
    'WS-99 the reason is stored in an enum: one that it does not have becomes REFUSED_BY_OPERATOR',
    returning('transactionRow', row => ({
      ...row,
      reason: /^DECIDED/.test(row.reason) ? 'REFUSED_BY_OPERATOR' : row.reason,
    })),
  ),
  'reasons-of-32': mutant(
    'WS-99 the reason is truncated to 32 characters',
    returning('transactionRow', row => ({ ...row, reason: row.reason.slice(0, 32) })),
  ),
}

/** A guard is missing, or checks something else. */
const ofGuards = {
  'no-unique-transaction': mutant('WS-20 guard 1 is missing: a transaction can be recorded twice', () => ({
    guard1: () => true,
  })),
  'unique-per-bet': mutant('WS-20 transactionIds are unique only per bet', (_, store) => ({
    guard1: ({ transaction }) => store.storedTransaction(transaction)?.betId !== transaction.betId,
  })),
  'unique-per-player': mutant('WS-21 transactionIds are unique only per player', correct => ({
    transactionKey: keys => `${keys.playerId} ${correct.transactionKey(keys)}`,
  })),
  'unique-per-player-except-placebets': mutant(
    'WS-37 transactionIds of placebets are unique, those of other operations only per player',
    correct => ({
      transactionKey(keys) {
        const key = correct.transactionKey(keys)
        return keys.operation === 'placebet' ? key : `${keys.playerId} ${key}`
      },
    }),
  ),
  'operation-not-in-key': mutant(
    'WS-22 transactionIds are unique across operations: a rollback cannot reuse the id of its placebet',
    () => ({ transactionKey: ({ transactionId }) => transactionId }),
  ),
  'refusals-not-unique': mutant('WS-23 the unique index excludes refusals', (correct, store) => ({
    guard1: ({ transaction }) =>
      (store.storedTransaction(transaction)?.refusal ?? null) !== null ||
      correct.guard1({ transaction } as WalletChanges),
  })),
  'refusals-in-their-own-table': mutant(
    'WS-23 refusals have their own table, keys ids are unique only among refusals',
    (correct, store) => {
      let kind = ''
      const refused = <T>(refused: boolean, within: () => T) => {
        kind = refused ? 'refused ' : ''
        try {
          return within()
        } finally {
          kind = ''
        }
      }
      return {
        transactionKey: keys => `${kind}${correct.transactionKey(keys)}`,
        storedTransaction(keys) {
          const success = correct.storedTransaction(keys)
          return success ?? refused(true, () => correct.storedTransaction(keys))
        },
        guard1: ({ transaction }) =>
          refused(
            transaction.refusal !== null,
            () => !store.database.transactions.has(store.transactionKey(transaction)),
          ),
        putTransaction(rows) {
          refused(rows.transaction.refusal !== null, () => correct.putTransaction(rows))
        },
      }
    },
  ),
  'bets-upserted': mutant(
    'WS-24 a new bet replaces an existing bet with the same id',
    withRevision((bet, fits) => fits || bet.revision === 1),
  ),
  'bets-unique-per-player': mutant('WS-25 betIds are unique only per player', () => ({
    betKey: ({ betId, playerId }) => `${playerId} ${betId}`,
  })),
  'tombstone-overwritten': mutant(
    'WS-26 a new bet replaces a tombstone',
    withRevision((bet, fits, stored) => fits || (bet.revision === 1 && isZero(stored?.stake ?? '1'))),
  ),
  'tombstone-not-stored': mutant('WS-26 a tombstone is not stored', correct => ({
    putBet(rows) {
      const { bet } = rows
      if (bet?.status !== 'ROLLED_BACK' || bet.revision !== 1) correct.putBet(rows)
    },
  })),
  'revision-not-compared': mutant(
    'WS-27 the revision is increased but not compared',
    withRevision((bet, fits) => fits || bet.revision > 1),
  ),
  'missing-bet-inserted': mutant(
    'WS-28 a change of a missing bet inserts it',
    withRevision((_bet, fits, stored) => fits || stored === undefined),
  ),
  'revision-skipped': mutant(
    'WS-28 any revision above the stored one is accepted',
    withRevision((bet, fits, stored) => fits || bet.revision - 1 > (stored?.revision ?? bet.revision)),
  ),
  'no-revision': mutant(
    'WS-29 there is no revision column: load always returns 1',
    returning('betRow', bet => ({ ...bet, revision: 1 })),
  ),
  'revision-of-settlements-only': mutant(
    'WS-29 only settlements increase the revision; an unsettlement or a rollback does not',
    (correct, store) => ({
      betRow(bet) {
        const stored = store.storedBet(bet)
        const credited = Object.values(bet.credits).some(({ live }) => live !== null)
        return { ...correct.betRow(bet), revision: stored && !credited ? stored.revision : bet.revision }
      },
    }),
  ),
  'no-floor': mutant('WS-30 the floor is not checked', () => ({ fundsSuffice: () => true })),
  'last-cent-kept': mutant(
    'WS-30 the new balance must be above the floor: a stake of exactly the balance is always a conflict',
    (_, store) => ({
      fundsSuffice(player, { account }) {
        if (account.floor === null) return true
        return store.isLess(account.floor, store.sum(player.balance, account.delta))
      },
    }),
  ),
  'hard-coded-floor': mutant(
    'WS-31 the floor is a CHECK (balance >= 0), and the floor passed to commit is ignored',
    withFloor(() => '0'),
  ),
  'compared-as-text': mutant('WS-32 balance and floor are compared as text', () => ({
    fundsSuffice: (player, { account }) => account.floor === null || player.balance >= account.delta.slice(1),
  })),
  'currency-not-compared': mutant('WS-33 the currency is not compared', () => ({
    currencyMatches: () => true,
  })),
  'currency-compared-for-debits': mutant('WS-33 the currency is compared only for debits', correct => ({
    currencyMatches: (player, changes) =>
      correct.currencyMatches(player, changes) || !changes.account.delta.startsWith('-'),
  })),
  'floor-for-credits': mutant(
    'WS-34 a floor of 0 is checked even if the floor is null',
    withFloor(floor => floor ?? '0'),
  ),
  'floor-without-change': mutant(
    'WS-35 a player with a balance of 0 cannot place a bet, not even a bet of 0',
    correct => ({
      fundsSuffice: (player, changes) =>
        correct.fundsSuffice(player, changes) && (changes.account.delta !== '0' || !isZero(player.balance)),
    }),
  ),
  'no-rows-changed': mutant(
    'WS-35 an UPDATE that does not change the balance counts no rows, and is treated as a failed guard',
    correct => ({ guard3: changes => changes.account.delta !== '0' && correct.guard3(changes) }),
  ),
  'balance-without-where': mutant('WS-36 the UPDATE of the balance has no WHERE', (correct, store) => ({
    putPlayer(rows) {
      correct.putPlayer(rows)
      if (!rows.balanceChanges) return
      for (const [key, player] of store.database.players) {
        store.database.players.set(key, { ...player, balance: rows.player.balance })
      }
    },
  })),
  'credit-without-where': mutant('WS-36 a credit is written to every bet', (correct, store) => ({
    putBet(rows) {
      correct.putBet(rows)
      for (const [key, bet] of store.database.bets) {
        store.database.bets.set(key, { ...bet, credits: rows.bet?.credits ?? bet.credits })
      }
    },
  })),
  'unique-for-placebets': mutant('WS-37 only placebets have unique transactionIds', correct => ({
    guard1: changes => changes.transaction.operation !== 'placebet' || correct.guard1(changes),
  })),
  'refusal-upserted': mutant('WS-37 a refusal replaces a recorded transaction with its id', correct => ({
    guard1: changes => changes.transaction.refusal !== null || correct.guard1(changes),
  })),
  'unsettlement-without-revision': mutant(
    'WS-38 an unsettlement does not compare the revision',
    withRevision((_bet, fits, _stored, { operation }) => fits || operation === 'unsettlement'),
  ),
  'tombstone-upserted': mutant(
    'WS-38 a tombstone replaces a bet that has arrived in the meantime',
    withRevision((bet, fits) => fits || (bet.revision === 1 && bet.status === 'ROLLED_BACK')),
  ),
  'lost-bets-unguarded': mutant(
    'WS-38 a settlement of 0 does not compare the revision',
    withRevision(
      (_bet, fits, _stored, { operation, delta }) => fits || (operation === 'settlement' && isZero(delta)),
    ),
  ),
  'voids-unguarded': mutant(
    'WS-38 a VOIDED settlement does not compare the revision',
    withRevision((_bet, fits, _stored, { type }) => fits || type === 'VOIDED'),
  ),
  'clawback-without-floor': mutant('WS-39 a clawback can debit the balance below its floor', correct => ({
    fundsSuffice: (player, changes) =>
      changes.transaction.operation === 'unsettlement' || correct.fundsSuffice(player, changes),
  })),
  'total-loaded': mutant(
    'WS-39 load returns the total balance with open stakes, and the guard checks the available balance',
    (correct, store) => ({
      readPlayer(keys) {
        const player = correct.readPlayer(keys)
        const open = [...store.database.bets.values()].filter(({ status }) => status === 'PLACED')
        const total = (balance: Decimal) => open.reduce((sum, { stake }) => add(sum, stake), balance)
        return player && { ...player, balance: total(player.balance) }
      },
    }),
  ),
}

type Part = 'transaction' | 'bet' | 'player'

/** Only a part of a commit is written. */
const ofPartialCommits = {
  'bet-before-guard-1': mutant(
    'WS-40 the bet is written before guard 1 is checked',
    writingBefore('guard1', 'bet'),
  ),
  'balance-before-guard-1': mutant(
    'WS-40 the balance is written before guard 1 is checked',
    writingBefore('guard1', 'player'),
  ),
  'transaction-before-guard-2': mutant(
    'WS-41 the transaction is written before guard 2 is checked',
    writingBefore('guard2', 'transaction'),
  ),
  'balance-before-guard-2': mutant(
    'WS-41 the balance is written before guard 2 is checked',
    writingBefore('guard2', 'player'),
  ),
  'transaction-before-guard-3': mutant(
    'WS-42 the transaction is written before guard 3 is checked',
    writingBefore('guard3', 'transaction'),
  ),
  'bet-before-guard-3': mutant(
    'WS-42 the bet is written before guard 3 is checked',
    writingBefore('guard3', 'bet'),
  ),
  'conflict-that-wrote': mutant(
    'WS-42 everything is written, and a conflict is answered',
    writingBefore('guard3', 'transaction', 'bet', 'player'),
  ),
  'conflicts-written-later': mutant(
    'WS-42 rejected changes are queued, and written with the next commit',
    (correct, store) => {
      const queue: WalletChanges[] = []
      return {
        guardsHold(changes) {
          for (const queued of queue.splice(0))
            putParts(store, store.rowsOf(queued), ['transaction', 'bet', 'player'])
          const holds = correct.guardsHold(changes)
          if (!holds) queue.push(changes)
          return holds
        },
      }
    },
  ),
  ...Object.fromEntries(
    orders('transaction', 'bet', 'player').map(([first, ...rest]) => [
      [first, ...rest].join('-then-'),
      mutant(
        `WS-46 ${first}, ${rest.join(' and ')} are three commits in this order, with a crash after the first`,
        inPieces([first], rest),
      ),
    ]),
  ),
  'transaction-and-bet-then-player': mutant(
    'WS-46 the balance has its own commit, after transaction and bet',
    inPieces(['transaction', 'bet'], ['player']),
  ),
  'player-and-transaction-then-bet': mutant(
    'WS-46 the bet has its own commit, after transaction and balance',
    inPieces(['player', 'transaction'], ['bet']),
  ),
}

/** Connections, crashes and time. */
const ofDurability = {
  'connection-with-a-cache': mutant(
    'WS-43 every connection caches players, and misses the writes of other connections',
    correct => {
      const cache = new Map<string, Account>()
      return {
        readPlayer(keys) {
          const player = cache.get(keys.playerId) ?? correct.readPlayer(keys)
          if (player !== null) cache.set(keys.playerId, player)
          return player
        },
        putPlayer(rows) {
          correct.putPlayer(rows)
          cache.delete(rows.player.playerId)
        },
      }
    },
  ),
  'one-load-in-fifteen-is-stale': mutant(
    'WS-43 one load in fifteen misses the last commit of the other connection, as on a replica that lags',
    staleReads(1),
  ),
  'locks-per-connection': mutant(
    'WS-44 rows are locked by a mutex in the process, which other processes do not see',
    () => {
      const own = new Locks()
      return {
        get locks() {
          return own
        },
      }
    },
  ),
  'answered-before-durable': mutant(
    'WS-45 committed is answered before the commit is durable',
    unsynced(() => true),
  ),
  'refusals-in-memory': mutant(
    'WS-45 refusals are stored only in the memory of the process',
    unsynced(({ transaction }) => transaction.refusal !== null),
  ),
  'tombstones-in-memory': mutant(
    'WS-45 tombstones are stored only in the memory of the process',
    unsynced(({ bet }) => bet?.status === 'ROLLED_BACK' && bet.revision === 1),
  ),
  'lost-connection-swallowed': mutant(
    'WS-46 a connection that is lost during a commit is answered as committed',
    swallowing(ConnectionLost, '99'),
  ),
  'transactions-expire': mutant(
    'WS-47 transactions expire after 30 days',
    expiring(
      ({ transaction }) => transaction.refusal === null && transaction.operation === 'placebet',
      'transactions',
    ),
  ),
  'refusals-expire': mutant(
    'WS-47 refusals expire after 30 days',
    expiring(({ transaction }) => transaction.refusal !== null, 'transactions'),
  ),
  'tombstones-expire': mutant(
    'WS-47 tombstones expire after 30 days',
    expiring(({ bet }) => bet?.status === 'ROLLED_BACK', 'bets'),
  ),
  'one-lock-for-all': mutant(
    'WS-48 every commit takes the same lock, so players wait for each other',
    () => ({ locksOf: () => ['everything'] }),
    50,
  ),
  'load-waits-for-commits': mutant(
    'WS-48 load takes the lock of the player’s row, and waits for commits in progress',
    (correct, store) => ({
      async load(keys) {
        const owner = {}
        await store.locks.take(owner, store.accountLock(keys.playerId, 'EUR'))
        const snapshot = await correct.load(keys)
        store.locks.releaseAll(owner)
        return snapshot
      },
    }),
    50,
  ),
  'lock-timeout-without-rollback': mutant(
    'WS-49 a lock timeout is answered as a conflict, and the connection goes back to its pool without ROLLBACK',
    leftOpen(error => error instanceof LockTimeout, ['transaction', 'bet']),
  ),
  'lock-timeout-after-the-transaction': mutant(
    'WS-49 a lock timeout after the first insert leaves the transaction for the next commit on the connection',
    leftOpen(error => error instanceof LockTimeout, ['transaction']),
  ),
  'lock-timeout-and-written-later': mutant(
    'WS-49 a timeout of the client is answered as a conflict, and the statement on the server is executed later',
    (correct, store) => {
      const running: WalletChanges[] = []
      return {
        answerError(error, changes) {
          if (error instanceof LockTimeout) running.push(changes)
          return correct.answerError(error, changes)
        },
        async begin(changes) {
          for (const late of running.splice(0)) {
            if (store.guardsHold(late)) putParts(store, store.rowsOf(late), ['transaction', 'bet', 'player'])
          }
          await correct.begin(changes)
        },
      }
    },
  ),
  'lock-timeout-as-committed': mutant(
    'WS-49 a lock timeout is logged, and answered as committed',
    swallowing(LockTimeout, '99'),
  ),
}

/** Closed players, changed currencies, refused stakes. */
const ofPamRules = {
  'closed-players-hidden': mutant('WS-56 load returns null for a closed player', (correct, store) => ({
    readPlayer: keys => (store.database.closed.has(keys.playerId) ? null : correct.readPlayer(keys)),
  })),
  'closed-players-refused': mutant(
    'WS-56 every commit of a closed player is refused, also a rollback',
    refusing(({ database }, { transaction }) => database.closed.has(transaction.playerId)),
  ),
  'closed-players-not-updated': mutant(
    'WS-56 the balance of a closed player is not updated: the statement asks for open accounts',
    (correct, store) => ({
      putPlayer(rows) {
        if (!store.database.closed.has(rows.player.playerId)) correct.putPlayer(rows)
      },
    }),
  ),
  'closed-players-record-nothing': mutant(
    'WS-56 a refusal or a tombstone of a closed player is not recorded',
    refusing(
      ({ database }, { transaction, account }) =>
        database.closed.has(transaction.playerId) && account.delta === '0',
    ),
  ),
  'bet-currency-of-the-player': mutant(
    'WS-57 a bet has no currency of its own: load joins it from the player',
    (correct, store) => ({
      readBet: keys => {
        const bet = correct.readBet(keys)
        return bet && { ...bet, currency: store.storedPlayer(bet.playerId)?.currency ?? bet.currency }
      },
    }),
  ),
  'transaction-currency-of-the-player': mutant(
    'WS-57 a transaction has no currency of its own: load joins it from the player',
    (correct, store) => ({
      readTransaction(keys) {
        const transaction = correct.readTransaction(keys)
        if (transaction === null || transaction.currency === null) return transaction
        const player = store.storedPlayer(transaction.playerId)
        return { ...transaction, currency: player?.currency ?? transaction.currency }
      },
    }),
  ),
  'currency-cached': mutant('WS-57 a connection never reads the currency of a player again', () => {
    const currencies = new Map<string, string>()
    return {
      currencyMatches(player, { account }) {
        const currency = currencies.get(player.playerId) ?? player.currency
        currencies.set(player.playerId, currency)
        return account.delta === '0' || account.currency === currency
      },
    }
  }),
  'currency-guarded-by-the-bet': mutant(
    'WS-57 guard 3 compares the currency of the bet, and not that of the player',
    correct => ({
      currencyMatches(player, changes) {
        const { bet, account } = changes
        if (bet === null || bet.revision === 1) return correct.currencyMatches(player, changes)
        return account.delta === '0' || account.currency === bet.currency
      },
    }),
  ),
  'refused-with-a-transaction': mutant(
    'WS-58 a refused stake has its transaction recorded, as a success',
    (correct, store) => ({
      refusalOf(changes) {
        const refusal = correct.refusalOf(changes)
        if (refusal !== null) putParts(store, store.rowsOf(changes), ['transaction'])
        return refusal
      },
    }),
  ),
  'refused-with-a-bet': mutant('WS-58 a refused stake has its bet recorded', (correct, store) => ({
    refusalOf(changes) {
      const refusal = correct.refusalOf(changes)
      if (refusal !== null) putParts(store, store.rowsOf(changes), ['bet'])
      return refusal
    },
  })),
  'refused-without-rollback': mutant(
    'WS-58 a stake is refused after the inserts, and the connection goes back to its pool without ROLLBACK',
    leftOpen('refused', ['transaction', 'bet']),
  ),
  'refused-as-conflict': mutant(
    'WS-58 a refused stake is answered as a conflict, so the platform sends it again',
    correct => ({
      async commit(changes) {
        const result = await correct.commit(changes)
        return result.status === 'refused' ? { status: 'conflict' as const } : result
      },
    }),
  ),
  'refuses-credits': mutant(
    'WS-59 the rule of a limit is checked for credits too',
    refusing(
      ({ database }, { transaction, account }) =>
        account.delta !== '0' && !account.delta.startsWith('-') && database.limited.has(transaction.playerId),
    ),
  ),
  'refuses-recorded-refusals': mutant(
    'WS-59 the rule of a limit is checked for commits that record a refusal',
    refusing(
      ({ database }, { transaction }) =>
        transaction.refusal !== null && database.limited.has(transaction.playerId),
    ),
  ),
}

/** `load` consists of several reads. */
const ofReads = {
  'three-reads': mutant(
    'WS-50 load is three reads in the permitted order: bet, transaction, player (fails only a SHOULD)',
    reading('bet', 'transaction', 'player'),
  ),
  'transaction-read-first': mutant(
    'WS-51 load is three reads, the transaction before the bet',
    reading('transaction', 'bet', 'player'),
  ),
  'player-read-first': mutant(
    'WS-52 load is three reads, the player first',
    reading('player', 'bet', 'transaction'),
  ),
  'player-read-second': mutant(
    'WS-52 load is three reads, the player between bet and transaction',
    reading('bet', 'player', 'transaction'),
  ),
}

/** `loadConfirmed`, and commits without a load before them. */
const ofCommitsWithoutLoad = {
  'confirmed-by-a-replica': mutant('WS-53 loadConfirmed reads a replica that never replays', (_, store) => ({
    async loadConfirmed(keys) {
      await store.roundTrip()
      return { bet: null, transaction: null, accounts: store.readAccounts(keys) }
    },
  })),
  'conflict-of-a-replica': mutant('WS-115 a conflict returns the records of a replica', correct => ({
    async commit(changes) {
      const result = await correct.commit(changes)
      if (result.status !== 'conflict') return result
      const { accounts } = await correct.load(changes.transaction)
      return { ...result, snapshot: { accounts, bet: null, transaction: null } }
    },
  })),
  'confirmed-without-commit': mutant('WS-54 loadConfirmed is load', (_, store) => ({
    loadConfirmed: keys => store.load(keys),
  })),
  'confirmed-by-asking': mutant(
    'WS-54 loadConfirmed asks the server whether it is a primary, and does not wait for a commit',
    (_, store) => ({
      async loadConfirmed(keys) {
        const snapshot = await store.load(keys)
        await store.roundTrip()
        return snapshot
      },
    }),
  ),
  'unknown-player-throws': mutant('WS-55 the commit for an unknown player throws', (correct, store) => ({
    guard3(changes) {
      if (store.storedPlayer(changes.transaction.playerId) === undefined) throw new Error('unknown player')
      return correct.guard3(changes)
    },
  })),
  'unknown-player-created': mutant('WS-55 the commit creates an unknown player', (correct, store) => ({
    storedPlayer: playerId => correct.storedPlayer(playerId) ?? { playerId, currency: 'EUR', balance: '0' },
    readPlayer: keys =>
      [...store.database.players.values()].some(({ playerId }) => playerId === keys.playerId)
        ? correct.readPlayer(keys)
        : null,
    fundsSuffice: () => true,
  })),
}

/** Correct for sequential requests, and wrong for concurrent ones. */
const ofRaces = {
  'checked-then-written': mutant(
    'WS-60 guards 1 and 2 are checked before the locks are taken, and not again',
    checkedEarly(['guard1', 'guard2']),
  ),
  'lock-as-error': mutant(
    'WS-60 a commit that meets a lock throws instead of answering conflict',
    correct => {
      const busy = new Set<string>()
      return {
        async begin(changes) {
          const { betId } = changes.transaction
          if (busy.has(betId)) throw new Error('could not obtain lock on row')
          busy.add(betId)
          await correct.begin(changes)
        },
        async commit(changes) {
          try {
            return await correct.commit(changes)
          } finally {
            busy.delete(changes.transaction.betId)
          }
        },
      }
    },
  ),
  'transaction-checked-early': mutant(
    'WS-61 guard 1 is checked before the lock is taken, and not again',
    checkedEarly(['guard1']),
  ),
  'ids-locked-by-player': mutant(
    'WS-61 new transactions are protected only by the lock of the player’s row',
    (_, store) => ({
      locksOf: ({ transaction }) => [
        store.accountLock(transaction.playerId, 'EUR'),
        `bet ${store.betKey(transaction)}`,
      ],
    }),
  ),
  'bets-locked-by-player': mutant(
    'WS-62 new bets are protected only by the lock of the player’s row',
    (_, store) => ({
      locksOf: ({ transaction }) => [
        `transaction ${store.transactionKey(transaction)}`,
        store.accountLock(transaction.playerId, 'EUR'),
      ],
    }),
  ),
  'floor-checked-early': mutant(
    'WS-63 guard 3 is checked before the lock is taken, and not again',
    checkedEarly(['guard3']),
  ),
  'tombstone-checked-early': mutant(
    'WS-64 a rollback checks guard 2 before it takes the lock, and not again',
    checkedEarly(['guard2'], ({ transaction }) => transaction.operation === 'rollbackbet'),
  ),
  'settlement-checked-early': mutant(
    'WS-65 a settlement checks guard 2 before it takes the lock, and not again',
    loadingFirst(checkedEarly(['guard2'], ({ transaction }) => transaction.operation === 'settlement')),
  ),
  'unsettlement-checked-early': mutant(
    'WS-66 an unsettlement checks guard 2 before it takes the lock, and not again',
    checkedEarly(['guard2'], ({ transaction }) => transaction.operation === 'unsettlement'),
  ),
  'clawback-checked-early': mutant(
    'WS-67 an unsettlement checks guard 3 before it takes the lock, and not again',
    checkedEarly(['guard3'], ({ transaction }) => transaction.operation === 'unsettlement'),
  ),
  'shared-variable': mutant(
    'WS-68 concurrent commits share one field for the rows that they write',
    correct => {
      let rows: Rows | null = null
      return {
        rowsOf(changes) {
          rows = correct.rowsOf(changes)
          return rows
        },
        putPlayer() {
          correct.putPlayer(rows as Rows)
        },
      }
    },
  ),
  'deadlock-as-success': mutant(
    'WS-113 settlements lock bet and player, rollbacks player and bet, and the deadlock is answered as committed',
    (correct, store) => ({
      ...swallowing(Deadlock)(correct, store),
      locksOf(changes) {
        const names = correct.locksOf(changes)
        return changes.transaction.operation === 'rollbackbet' ? names.reverse() : names
      },
    }),
  ),
  'rollback-by-status': mutant(
    'WS-69 a rollback compares the status of the bet instead of its revision',
    withRevision(
      (_bet, fits, stored, { operation }) =>
        fits || (operation === 'rollbackbet' && stored?.status === 'PLACED'),
    ),
  ),
  'rollback-checked-early': mutant(
    'WS-70 a rollback of a placed bet checks guard 2 before it takes the lock, and not again',
    checkedEarly(
      ['guard2'],
      ({ transaction, bet }) => transaction.operation === 'rollbackbet' && bet?.revision !== 1,
    ),
  ),
  'balance-from-before': mutant(
    'WS-71 the answered balance is the one from before the commit',
    returning(
      'answer',
      (answer, { player }, { account }) =>
        ({ ...answer, balance: subtract(player.balance, account.delta) }) as CommitResult,
    ),
  ),
  'zero-balance-without-change': mutant(
    'WS-71 the answered balance is 0 if the commit does not change it',
    returning(
      'answer',
      (answer, _, { account }) =>
        (account.delta === '0' ? { ...answer, balance: '0' } : answer) as CommitResult,
    ),
  ),
  'balance-computed-early': mutant(
    'WS-72 the answered balance is computed from the balance at the start of the commit',
    (correct, store) => {
      const before = new WeakMap<WalletChanges, Decimal>()
      return {
        async begin(changes) {
          before.set(changes, store.storedPlayer(changes.transaction.playerId)?.balance ?? '0')
          await correct.begin(changes)
        },
        answer(rows, changes) {
          const balance = add(before.get(changes) ?? '0', changes.account.delta ?? '0')
          return { ...correct.answer(rows, changes), balance } as CommitResult
        },
      }
    },
  ),
}

/** External writers change the data beside the library. */
const ofOtherWriters = {
  'separate-ledger': mutant(
    'WS-75 external deposits go to another ledger than the one that load reads',
    () => ({ async deposit() {} }),
  ),
  'balances-cached': mutant('WS-75 load caches balances, and only commits invalidate the cache', correct => {
    const cache = new Map<string, Account>()
    return {
      readPlayer(keys) {
        const player = cache.get(keys.playerId) ?? correct.readPlayer(keys)
        if (player !== null) cache.set(keys.playerId, player)
        return player
      },
      async commit(changes) {
        const result = await correct.commit(changes)
        cache.clear()
        return result
      },
    }
  }),
  'balance-written-as-loaded': mutant(
    'WS-76 commit writes the loaded balance plus the delta',
    remembering((loaded, correct) => ({
      playerRow: (player, changes) =>
        correct.playerRow({ ...player, balance: loaded(changes) ?? player.balance }, changes),
    })),
  ),
  'balance-with-a-version': mutant(
    'WS-76 the balance has a version: a deposit since the load is a conflict',
    remembering((loaded, correct) => ({
      fundsSuffice: (player, changes) =>
        correct.fundsSuffice(player, changes) && (loaded(changes) ?? player.balance) === player.balance,
    })),
  ),
  'floor-checked-as-loaded': mutant(
    'WS-77 the floor is checked against the loaded balance',
    remembering((loaded, correct) => ({
      fundsSuffice: (player, changes) =>
        correct.fundsSuffice({ ...player, balance: loaded(changes) ?? player.balance }, changes),
    })),
  ),
  'deposits-without-lock': mutant(
    'WS-78 commit reads, adds and writes under a lock that external deposits do not take',
    (_, store) => ({
      async deposit(playerId, amount) {
        for (let step = 0; step < 3; step += 1) await store.roundTrip()
        store.addExternally(playerId, amount, 'EUR')
      },
    }),
  ),
  'balance-read-before-the-round-trip': mutant(
    'WS-79 an external deposit takes no lock, and commit adds to the balance that it read a round trip before',
    (_, store) => ({
      async deposit(playerId, amount) {
        store.addExternally(playerId, amount, 'EUR')
      },
    }),
  ),
  'credits-written-back': mutant(
    'WS-73 debits lock the player, but credits write back a balance that they read before',
    correct => ({
      locksOf(changes) {
        const isCredit = !/^(-|0$)/.test(changes.account.delta)
        return correct.locksOf(changes).filter(name => !isCredit || !name.startsWith('player '))
      },
    }),
  ),
  'refusals-checked-early': mutant(
    'WS-74 a refusal checks guard 1 before it takes the lock, and not again',
    checkedEarly(['guard1'], ({ transaction }) => transaction.refusal !== null),
  ),
  'settlements-not-loaded': mutant(
    'WS-80 external settlements are in the balance, but not in the credits of the bet',
    () => ({ settled: bet => ({ ...bet, revision: bet.revision + 1 }) }),
  ),
  'settlements-without-revision': mutant(
    'WS-81 external settlements do not increase the revision',
    withSettled((_before, settled) => ({ ...settled, revision: settled.revision - 1 })),
  ),
  'settlements-without-lock': mutant(
    'WS-83 external settlements take no lock, and commit writes the bet as it read it a round trip before',
    (_, store) => ({
      async settle({ playerId, betId, type, amount }) {
        const bet = store.storedBet({ playerId, betId }) as Bet
        store.database.bets.set(store.betKey(bet), store.settled(bet, type, amount))
        store.addExternally(playerId, amount, 'EUR')
      },
    }),
  ),
  'settlement-drops-owed': mutant(
    'WS-82 an external settlement overwrites the credit, and drops the owed amount',
    withSettled((_before, settled) => ({
      ...settled,
      credits: { BET_PAID: { live: settled.credits.BET_PAID?.live ?? '0', reversed: '0', owed: '0' } },
    })),
  ),
  'settlements-summed': mutant(
    'WS-82 the live amount is the sum of external settlements less the reversed amount, uncollected ones included',
    withSettled((before, settled) => {
      const credit = settled.credits.BET_PAID ?? { live: '0', reversed: '0', owed: '0' }
      const live = add(credit.live ?? '0', before.credits.BET_PAID?.owed ?? '0')
      return { ...settled, credits: { ...settled.credits, BET_PAID: { ...credit, live } } }
    }),
  ),
}

/** Requests and answers get lost. */
const ofLostAnswers = {
  'rollback-updates-only': mutant(
    'WS-85 a rollback is an UPDATE: for a bet that never arrived it counts no rows, always a conflict',
    withRevision((bet, fits) => fits && !(bet.revision === 1 && bet.status === 'ROLLED_BACK')),
  ),
  'stale-replica': mutant(
    'WS-86 load reads transactions from a replica, which misses a new one on the first read',
    (_, store) => {
      const arrived = new Set<Transaction>()
      return {
        readTransaction(keys) {
          const stored = store.storedTransaction(keys)
          if (stored === undefined || arrived.has(stored)) return structuredClone(stored ?? null)
          arrived.add(stored)
          return null
        },
      }
    },
  ),
  'guards-of-the-load': mutant('WS-87 commit checks guard 2 against the loaded bet', (correct, store) => {
    const read = new Map<string, Bet | null>()
    return {
      readBet(keys) {
        const bet = correct.readBet(keys)
        read.set(store.transactionKey(keys), bet)
        return bet
      },
      guard2({ transaction, bet }) {
        const loaded = read.get(store.transactionKey(transaction))
        const stored = loaded === undefined && bet ? store.storedBet(bet) : loaded
        return bet === null || store.revisionMatches(bet, stored ?? undefined)
      },
    }
  }),
  'retries-upserted': mutant(
    'WS-88 an upsert writes a recorded transaction again, and changes the balance again',
    upserting(operation => operation !== 'placebet'),
  ),
  'refusals-until-a-credit': mutant(
    'WS-89 a credit deletes the refusals for insufficient funds',
    (correct, store) => ({
      putPlayer(rows) {
        correct.putPlayer(rows)
        const { playerId, delta } = rows.transaction
        for (const [key, { playerId: of, refusal }] of store.database.transactions) {
          const short = of === playerId && refusal?.errorCode === 'INSUFFICIENT_FUNDS'
          if (short && !isZero(delta) && !delta.startsWith('-')) store.database.transactions.delete(key)
        }
      },
    }),
  ),
}

/** The hook of the PAM writes its rows beside the database transaction, or not once per commit. */
const ofOwnRows = {
  'own-rows-per-attempt': mutant(
    'WS-91 the hook writes over another connection: the row of a commit that conflicts stays',
    (correct, store) => ({
      guardsHold(changes) {
        const holds = correct.guardsHold(changes)
        if (!holds) store.putOwnRow(changes.transaction)
        return holds
      },
    }),
  ),
  'own-rows-of-new-bets-only': mutant('WS-91 the hook writes no row for credits', correct => ({
    putOwnRow(transaction) {
      if (transaction.operation === 'placebet') correct.putOwnRow(transaction)
    },
  })),
  'own-rows-in-cents': mutant('WS-91 the hook writes amounts in another unit', correct => ({
    putOwnRow: transaction => correct.putOwnRow({ ...transaction, delta: `${transaction.delta}00` }),
  })),
  'own-rows-of-refused-stakes': mutant(
    'WS-92 the hook writes over another connection, and then refuses: its row stays',
    (correct, store) => ({
      refusalOf(changes) {
        const refusal = correct.refusalOf(changes)
        if (refusal !== null) store.putOwnRow(changes.transaction)
        return refusal
      },
    }),
  ),
  'own-rows-of-batches-taken-apart': mutant(
    'WS-92 the hook is called for a whole batch over another connection, and again for each when one is refused',
    (correct, store) => {
      let batch: WalletChanges[] = []
      return {
        async commit(changes) {
          const own = batch
          own.push(changes)
          await undefined // all commits of this turn are in the batch
          batch = []
          const isTakenApart = own.some(each => store.refusalOf(each) !== null)
          const result = await correct.commit(changes)
          if (isTakenApart && result.status === 'committed') store.putOwnRow(changes.transaction)
          return result
        },
      }
    },
  ),
  'own-rows-of-lock-timeouts': mutant(
    'WS-93 the hook writes over another connection before the commit waits for its player',
    (correct, store) => ({
      answerError(error, changes) {
        if (error instanceof LockTimeout) store.putOwnRow(changes.transaction)
        return correct.answerError(error, changes)
      },
    }),
  ),
  'own-rows-before-the-commit': mutant(
    'WS-94 the hook commits its row over another connection before the commit',
    (_, store) => ({
      async write(rows) {
        store.putOwnRow(rows.transaction)
        await store.database.stopIfHeld()
        await store.roundTrip()
        putParts(store, rows, ['transaction', 'bet', 'player'])
      },
    }),
  ),
  'own-rows-lost': mutant('WS-97 the hook loses one row in fifty', correct => {
    let calls = 0
    return {
      putOwnRow(transaction) {
        calls += 1
        if (calls % 50 !== 0) correct.putOwnRow(transaction)
      },
    }
  }),
}

/** Faults that only long histories reach. */
const ofHistories = {
  'other-credits-dropped': mutant(
    'WS-95 an unsettlement stores only the credit that it reverses, and drops those of other types',
    correct => ({
      async write(rows, changes) {
        const { transaction, bet } = rows
        if (transaction.operation === 'unsettlement' && bet !== null) {
          const type = transaction.type === 'UNSCORED' ? 'BET_PAID' : 'VOIDED'
          bet.credits = Object.fromEntries(Object.entries(bet.credits).filter(([of]) => of === type))
        }
        await correct.write(rows, changes)
      },
    }),
  ),
  'rollbacks-in-memory': mutant(
    'WS-96 a rollback is stored only in the memory of the process, until the next change of the bet',
    unsynced(
      ({ transaction, bet }) => transaction.operation === 'rollbackbet' && bet !== null && bet.revision > 1,
    ),
  ),
  'refusals-replaced': mutant(
    'WS-97 a refusal replaces another refusal with the same id',
    (correct, store) => ({
      guard1(changes) {
        const recorded = store.storedTransaction(changes.transaction)?.refusal ?? null
        return (recorded !== null && changes.transaction.refusal !== null) || correct.guard1(changes)
      },
    }),
  ),
  'settlements-upserted': mutant(
    'WS-98 an upsert writes a recorded settlement again, and credits again',
    upserting(operation => operation === 'settlement'),
  ),
}

/** Accounts per currency. */
const ofAccounts = {
  'unmoved-in-any-currency': mutant(
    'WS-100 guard 3 does not compare the currency of a commit that moves nothing',
    correct => ({
      currencyMatches: (player, changes) =>
        changes.account.delta === '0' || correct.currencyMatches(player, changes),
    }),
  ),
  'one-account-loaded': mutant('WS-101 load returns the first account of a player only', correct => ({
    readAccounts: keys => correct.readAccounts(keys).slice(0, 1),
  })),
  'account-of-the-call': mutant(
    'WS-101 the currency of the account is that of the call, where the call has one',
    correct => ({
      transactionRow: transaction =>
        correct.transactionRow({
          ...transaction,
          accountCurrency: transaction.currency ?? transaction.accountCurrency,
        }),
    }),
  ),
  'currency-ignored': mutant(
    'WS-102 a commit takes the first account of the player, whatever currency it names',
    (_, store) => ({
      accountOf: ({ transaction }) => store.storedPlayer(transaction.playerId),
      currencyMatches: () => true,
    }),
  ),
  'other-account-debited': mutant(
    'WS-102 guard 3 is tested on the named account, and another one is written',
    (correct, store) => ({
      putPlayer(rows) {
        const [other = rows.player] = store
          .storedAccounts(rows.player.playerId)
          .filter(({ currency }) => currency !== rows.player.currency)
        correct.putPlayer({ ...rows, player: { ...other, balance: rows.player.balance } })
      },
    }),
  ),
  'currencies-added': mutant(
    'WS-102 the change is written to every account of the player',
    (correct, store) => ({
      putPlayer(rows) {
        for (const account of store.storedAccounts(rows.player.playerId)) {
          const balance = add(account.balance, rows.transaction.delta)
          correct.putPlayer({ ...rows, player: { ...account, balance } })
        }
      },
    }),
  ),
  'other-balance-answered': mutant(
    'WS-102 the answer has the balance of the first account of the player',
    (correct, store) => ({
      answer: (rows, changes) =>
        correct.answer({ ...rows, player: store.storedPlayer(rows.player.playerId) ?? rows.player }, changes),
    }),
  ),
  'funds-of-all-accounts': mutant(
    'WS-103 guard 3 adds up the funds of all accounts of the player',
    (correct, store) => ({
      fundsSuffice(player, changes) {
        const balances = store.storedAccounts(player.playerId).map(({ balance }) => balance)
        return correct.fundsSuffice({ ...player, balance: balances.reduce(add, '0') }, changes)
      },
    }),
  ),
  'other-account-locked': mutant(
    'WS-104 a commit locks another account than the one that it names',
    (correct, store) => ({
      locksOf(changes) {
        const { playerId } = changes.transaction
        const [other] = store
          .storedAccounts(playerId)
          .filter(({ currency }) => currency !== changes.account.currency)
        return correct
          .locksOf(changes)
          .map(name =>
            other !== undefined && name.startsWith('player ')
              ? store.accountLock(playerId, other.currency)
              : name,
          )
      },
    }),
  ),
  'bet-protected-by-the-account': mutant(
    'WS-105 no lock and no unique index protects a new bet: the lock of the account did, while a player had one',
    correct => ({
      locksOf: changes => correct.locksOf(changes).filter(name => !name.startsWith('bet ')),
    }),
  ),
  'wins-in-the-first-account': mutant(
    'WS-106 settlements are credited to the first account of the player',
    (correct, store) => ({
      accountOf: changes =>
        changes.transaction.operation === 'settlement'
          ? store.storedPlayer(changes.transaction.playerId)
          : correct.accountOf(changes),
      currencyMatches: () => true,
    }),
  ),
  'second-account-cached': mutant(
    'WS-107 load shows the second account of a player as it was first read',
    correct => {
      const cache = new Map<string, Account>()
      return {
        readAccounts(keys) {
          const [first, ...others] = correct.readAccounts(keys)
          const known = others.map(account => cache.get(account.playerId) ?? account)
          for (const account of known) cache.set(account.playerId, account)
          return first === undefined ? [] : [first, ...known]
        },
      }
    },
  ),
}

/** Settlements without a load. */
const ofAddedCredits = {
  'credit-of-a-rolled-back-bet': mutant('WS-110 a credit is added to a bet of any status', correct => ({
    takesCredit: (stored, credit) =>
      correct.takesCredit(stored && { ...stored, status: credit.status }, credit),
  })),
  'credit-of-another-player': mutant('WS-110 a credit is added to the bet of any player', correct => ({
    takesCredit: (stored, credit) =>
      correct.takesCredit(stored && { ...stored, playerId: credit.playerId }, credit),
  })),
  'credit-in-another-currency': mutant('WS-110 a credit is added to a bet in any currency', correct => ({
    takesCredit: (stored, credit) =>
      correct.takesCredit(stored && { ...stored, currency: credit.currency }, credit),
  })),
  'credit-in-the-currency-of-the-player': mutant(
    'WS-57 guard 2 of a credit compares the currency of the player, and not that of the bet',
    (correct, store) => ({
      takesCredit(stored, credit) {
        const currency = store.storedPlayer(credit.playerId)?.currency
        return correct.takesCredit(stored && { ...stored, currency: currency ?? '' }, credit)
      },
    }),
  ),
  'credit-as-float': mutant(
    'WS-08 what is live after a credit is a float, rounded to two decimals',
    creditedTo((live, amount) => rounded(asFloat(live ?? '0', amount), 2)),
  ),
  'credit-sums-as-floats': mutant(
    'WS-09 a credit is added to what is live in floats',
    creditedTo((live, amount) => (live === null ? amount : asFloat(live, amount))),
  ),
  'credit-beyond-its-column': mutant(
    'WS-09 a credit whose sum a column cannot hold is answered as unavailable, and is no conflict',
    correct => ({
      holdsCredit: () => true,
      answerError(error, changes) {
        const isBeyond = error instanceof OutOfRange && changes.credit !== null
        return isBeyond ? { status: 'unavailable' } : correct.answerError(error, changes)
      },
    }),
  ),
  'credit-clamped': mutant(
    'WS-09 a credit whose sum is too large leaves the largest amount live',
    creditedTo((live, amount) => {
      const sum = add(live ?? '0', amount)
      return wholeDigitsOf(sum) > 15 ? '999999999999999.999999999999999999' : sum
    }),
  ),
  'credit-replaced': mutant('WS-111 a credit replaces what is live', correct => ({
    creditedBet: (stored, credit) =>
      correct.creditedBet(stored && withLive(stored, credit.type, null), credit),
  })),
  'credit-forgets-what-is-owed': mutant('WS-111 a credit resets what is reversed and owed', correct => ({
    creditedBet(stored, credit) {
      const live = stored?.credits[credit.type]?.live ?? null
      return correct.creditedBet(stored && withLive({ ...stored, credits: {} }, credit.type, live), credit)
    },
  })),
  'credit-without-a-revision': mutant('WS-111 a credit leaves the revision of its bet', correct => ({
    creditedBet(stored, credit) {
      const bet = correct.creditedBet(stored, credit)
      return bet && { ...bet, revision: bet.revision - 1 }
    },
  })),
  'credit-recorded-twice': mutant('WS-112 guard 1 is missing for credits', correct => ({
    guard1: changes => changes.credit !== null || correct.guard1(changes),
  })),
  'credit-checked-early': mutant(
    'WS-113 guard 2 of a credit is checked before the locks are taken, and not again',
    checkedEarly(['guard2'], ({ credit }) => credit !== null),
  ),
  'credit-added-to-an-old-bet': mutant(
    'WS-114 a credit is added to the bet as it was before the locks',
    correct => {
      const old = new WeakMap<AddedCredit, Bet | undefined>()
      return {
        async begin(changes) {
          if (changes.credit !== null) old.set(changes.credit, correct.storedBet(changes.transaction))
          await correct.begin(changes)
        },
        creditedBet: (_stored, credit) => correct.creditedBet(old.get(credit), credit),
      }
    },
  ),
} satisfies Record<string, Omit<Mutant, 'name'>>

/** What is live after a credit is another sum. */
function creditedTo(sum: (live: Decimal | null, amount: Decimal) => Decimal): Patch {
  return correct => ({
    creditedBet(stored, credit) {
      const bet = correct.creditedBet(stored, credit)
      const live = stored?.credits[credit.type]?.live ?? null
      return bet && withLive(bet, credit.type, sum(live, credit.amount))
    },
  })
}

const withLive = (bet: Bet, type: AddedCredit['type'], live: Decimal | null): Bet => {
  const { reversed, owed } = bet.credits[type] ?? { reversed: '0', owed: '0' }
  return { ...bet, credits: { ...bet.credits, [type]: { live, reversed, owed } } }
}

export const mutants: readonly Mutant[] = [
  ofShape,
  ofGuards,
  ofPartialCommits,
  ofDurability,
  ofReads,
  ofCommitsWithoutLoad,
  ofPamRules,
  ofRaces,
  ofOtherWriters,
  ofLostAnswers,
  ofOwnRows,
  ofHistories,
  ofAccounts,
  ofAddedCredits,
].flatMap(group => Object.entries(group).map(([name, row]) => ({ name, ...row })))

// Faults that several mutants share.

/** A method that returns a record, an id or an answer returns something else; `null` stays `null`. */
function returning<
  Name extends 'id' | 'readBet' | 'readPlayer' | 'readTransaction' | 'betRow' | 'transactionRow' | 'answer',
>(
  name: Name,
  change: (
    result: NonNullable<ReturnType<ReferenceStore[Name]>>,
    ...args: Parameters<ReferenceStore[Name]>
  ) => ReturnType<ReferenceStore[Name]>,
): Patch {
  return correct => ({
    [name](...args: Parameters<ReferenceStore[Name]>) {
      const method = correct[name] as (...args: unknown[]) => ReturnType<ReferenceStore[Name]>
      const result = method(...args)
      return result && change(result, ...args)
    },
  })
}

/** An error of the database is answered as committed. */
function swallowing(fault: new () => Error, balance?: Decimal): Patch {
  return (correct, store) => ({
    answerError(error, changes) {
      if (!(error instanceof fault)) return correct.answerError(error, changes)
      const player = store.storedPlayer(changes.transaction.playerId) as Account
      return { status: 'committed', balance: balance ?? player.balance, walletTransactionId: null }
    },
  })
}

const noCredit = { live: '0', reversed: '0', owed: '0' }

type Credit = NonNullable<Bet['credits']['BET_PAID']>

function withCredits(kept: (credit: Credit) => Credit): Patch {
  return correct => ({
    betRow(bet) {
      const row = correct.betRow(bet)
      for (const type of ['BET_PAID', 'VOIDED', 'CASHOUT'] as const) {
        const credit = row.credits[type]
        if (credit !== undefined) row.credits[type] = kept(credit)
      }
      return row
    },
  })
}

function withRevision(
  fits: (bet: Bet, fits: boolean, stored: Bet | undefined, transaction: Transaction) => boolean,
): Patch {
  return (correct, store) => ({
    guard2(changes) {
      const { bet, transaction } = changes
      return bet === null || fits(bet, correct.guard2(changes), store.storedBet(bet), transaction)
    },
  })
}

function withFloor(floorOf: (floor: Decimal | null) => Decimal): Patch {
  return correct => ({
    fundsSuffice(player, changes) {
      const { account } = changes
      if (account.delta === '0') return true
      return correct.fundsSuffice(player, {
        ...changes,
        account: { ...account, floor: floorOf(account.floor) },
      })
    },
  })
}

function withSettled(kept: (before: Bet, settled: Bet) => Bet): Patch {
  return correct => ({ settled: (...[bet, type, amount]) => kept(bet, correct.settled(bet, type, amount)) })
}

/** The store remembers the balance of every load. */
function remembering(
  patch: (
    loaded: (changes: WalletChanges) => Decimal | undefined,
    correct: ReferenceStore,
  ) => ReturnType<Patch>,
): Patch {
  return (correct, store) => {
    const balances = new Map<string, Decimal>()
    return {
      readPlayer(keys) {
        const player = correct.readPlayer(keys)
        if (player !== null) balances.set(store.transactionKey(keys), player.balance)
        return player
      },
      ...patch(({ transaction }) => balances.get(store.transactionKey(transaction)), correct),
    }
  }
}

/** These parts are written before the guard is checked, and after the other guards. */
function writingBefore(guard: (typeof guards)[number], ...parts: Part[]): Patch {
  return (_, store) => ({
    guardsHold(changes) {
      const others = guards.filter(other => other !== guard)
      if (!others.every(other => store[other](changes))) return false
      const holds = store[guard](changes)
      if (!holds) putParts(store, store.rowsOf(changes), parts)
      return holds
    },
  })
}

/** A recorded transaction of the same bet is written again, without a guard. */
function upserting(which: (operation: Transaction['operation']) => boolean): Patch {
  return (correct, store) => ({
    guardsHold(changes) {
      const { operation, betId } = changes.transaction
      const recorded = store.storedTransaction(changes.transaction)
      return (which(operation) && recorded?.betId === betId) || correct.guardsHold(changes)
    },
  })
}

/** The first parts have a commit of their own, so that they can be stored without the rest. */
function inPieces(first: Part[], rest: Part[]): Patch {
  return (_, store) => ({
    async write(rows) {
      putParts(store, rows, first)
      await store.database.stopIfHeld()
      await store.roundTrip()
      putParts(store, rows, rest)
    },
  })
}

function putParts(store: ReferenceStore, rows: Rows, parts: Part[]): void {
  if (parts.includes('transaction')) store.putTransaction(rows)
  if (parts.includes('bet')) store.putBet(rows)
  if (parts.includes('player')) store.putPlayer(rows)
}

function orders(a: Part, b: Part, c: Part): [Part, ...Part[]][] {
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
function unsynced(which: (rows: Rows) => boolean | undefined): Patch {
  return (correct, store) => ({
    async write(rows, changes) {
      const { transaction, bet } = rows
      const before = bet && store.storedBet(bet)
      const player = store.storedPlayer(transaction.playerId)
      await correct.write(rows, changes)
      if (!which(rows)) return
      store.database.unsynced.push(() => {
        store.database.transactions.delete(store.transactionKey(transaction))
        if (bet !== null) store.database.bets.delete(store.betKey(bet))
        if (before) store.database.bets.set(store.betKey(before), before)
        if (player && rows.balanceChanges) store.database.players.set(store.accountKey(player), player)
      })
    },
  })
}

/** Rows are deleted 30 days after their commit. */
function expiring(which: (rows: Rows) => boolean, table: 'transactions' | 'bets'): Patch {
  return (correct, store) => {
    const expiries: { key: string; atMs: number }[] = []
    return {
      putPlayer(rows) {
        correct.putPlayer(rows)
        const key = table === 'bets' ? store.betKey(rows.transaction) : store.transactionKey(rows.transaction)
        if (which(rows)) expiries.push({ key, atMs: store.database.nowMs + 30 * 24 * 60 * 60 * 1000 })
      },
      async roundTrip() {
        await correct.roundTrip()
        for (const { key, atMs } of expiries) {
          if (atMs <= store.database.nowMs) store.database[table].delete(key)
        }
      },
    }
  }
}

/**
 * A pool of connections in the order of their return. Some commits end without COMMIT or ROLLBACK: their
 * first parts are written with the next commit on the same connection.
 *
 * @param which the error that leaves the database transaction open, or the status
 */
function leftOpen(which: 'refused' | ((error: unknown) => boolean), parts: Part[]): Patch {
  const connections = 10
  return (correct, store) => {
    const pool = Array.from({ length: connections }, () => ({ open: [] as WalletChanges[] }))
    const failed = new Set<string>()
    return {
      answerError(error, changes) {
        if (typeof which === 'function' && which(error)) failed.add(changes.transaction.transactionId)
        return correct.answerError(error, changes)
      },
      async commit(changes) {
        const connection = pool.shift() ?? { open: [] }
        for (const open of connection.open.splice(0)) putParts(store, store.rowsOf(open), parts)
        try {
          const result = await correct.commit(changes)
          const isLeftOpen = failed.delete(changes.transaction.transactionId) || result.status === which
          if (isLeftOpen) connection.open.push(structuredClone(changes))
          return result
        } finally {
          pool.push(connection)
        }
      },
    }
  }
}

/** The PAM has a rule that refuses more than debits. */
function refusing(which: (store: ReferenceStore, changes: WalletChanges) => boolean): Patch {
  return (correct, store) => ({
    refusalOf(changes) {
      if (which(store, changes)) return { errorCode: 'NOT_ALLOWED', description: 'not allowed' }
      return correct.refusalOf(changes)
    },
  })
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
export function staleReads(seed: number): Patch {
  let state = seed
  const isStale = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0 // the generator of Numerical Recipes
    return state / 2 ** 32 < 1 / 15
  }
  return (correct, store) => ({
    async write(rows, changes) {
      const { players, bets, transactions } = store.database
      const before = { players: new Map(players), bets: new Map(bets), transactions: new Map(transactions) }
      await correct.write(rows, changes)
      lastCommits.set(store.database, { by: store, before })
    },
    async load(keys) {
      const last = lastCommits.get(store.database)
      if (last === undefined || last.by === store || !isStale()) return correct.load(keys)
      return structuredClone({
        accounts: [...last.before.players.values()].filter(({ playerId }) => playerId === keys.playerId),
        bet: last.before.bets.get(store.betKey(keys)) ?? null,
        transaction: last.before.transactions.get(store.transactionKey(keys)) ?? null,
      })
    },
  })
}

/** The parts are read one after the other, with a round trip between any two. */
function reading(...parts: Part[]): Patch {
  return (_, store) => ({
    async load(keys) {
      const snapshot = {
        bet: null as Bet | null,
        transaction: null as Transaction | null,
        accounts: [] as Account[],
      }
      for (const part of parts) {
        await store.roundTrip()
        if (part === 'bet') snapshot.bet = store.readBet(keys)
        if (part === 'transaction') snapshot.transaction = store.readTransaction(keys)
        if (part === 'player') snapshot.accounts = store.readAccounts(keys)
      }
      await store.roundTrip()
      return snapshot
    },
  })
}

/** Of a store to which no settlement comes without a load. */
function loadingFirst(patch: Patch): Patch {
  return (correct, store) => ({ ...patch(correct, store), addsCredits: false })
}

/** Guards are checked before the locks are taken, and not again. */
function checkedEarly(
  early: readonly (typeof guards)[number][],
  which: (changes: WalletChanges) => boolean = () => true,
): Patch {
  return (correct, store) => {
    const held = new WeakMap<WalletChanges, boolean>()
    return {
      async begin(changes) {
        held.set(
          changes,
          early.every(guard => store[guard](changes)),
        )
        await correct.begin(changes)
      },
      guardsHold(changes) {
        if (!which(changes)) return correct.guardsHold(changes)
        const late = guards.filter(guard => !early.includes(guard))
        return held.get(changes) === true && late.every(guard => store[guard](changes))
      },
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
