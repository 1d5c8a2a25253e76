/**
 * Mutation tests of the kit: every mutant fails the case that is about its fault, and correct stores pass.
 */
import { describe, expect, it, vi } from 'vitest'
import type { MemoryStore } from '../../src/stores/memory.js'
import { walletStoreCases } from '../../src/testing/cases.js'
import type { StoreHarness } from '../../src/testing/harness.js'
import { checkWalletStore } from '../../src/testing/report.js'
import { memoryHarness } from './memory.js'
import { mutants as storeMutants } from './mutants.js'
import { partitionMutants } from './partition-mutants.js'
import { referenceHarness } from './reference.js'

const mutants = [...storeMutants, ...partitionMutants]

/** The meaning of each id. It never changes: a case with another meaning gets a new id. */
const meanings = [
  'WS-01 MUST Missing records are null, and an unknown player has no accounts',
  'WS-02 MUST load returns an account with currency, and with balance as decimal text',
  'WS-03 MUST load returns a bet and its transaction as they were committed',
  'WS-04 MUST load returns a recorded refusal with its error code and description (D6, D7)',
  'WS-05 MUST Credits are stored per settlement type; a type that was never credited has no key (D18)',
  'WS-06 MUST Reversed and owed amounts are stored beside the live amount, and a live amount of null is not 0 (D7, D18)',
  'WS-07 MUST A tombstone is stored as a rolled-back bet of the player with a stake of 0 (D11)',
  'WS-08 MUST Stakes, credits, deltas and balances are exact up to the declared digits and scale (D21)',
  'WS-09 MUST Sums are exact: 0.1 + 0.2 is 0.3, and a large balance keeps its smallest unit (D21)',
  'WS-10 MUST An amount just beyond the declared limits is stored exactly, refused or a fault; never rounded or wrapped (D22)',
  'WS-11 MUST Ids of 255 characters that differ only in the last character are different (D24)',
  'WS-12 MUST Ids are case-sensitive (D24)',
  'WS-13 MUST Leading and trailing spaces are part of an id (D24)',
  'WS-14 MUST Ids in any language are stored unchanged; accents and Unicode composition make ids different (D24)',
  'WS-15 MUST Ids that look like numbers are stored as text (D24)',
  'WS-16 MUST Changing objects that were passed to commit or returned by load does not change the stored records',
  'WS-17 MUST load finds a bet by betId alone, and a transaction by operation and transactionId alone (D4, D15, D16)',
  'WS-18 MUST Texts are stored at full length: ids of 255 characters, error codes of 64, descriptions of 500, currencies of 16 (D24)',
  'WS-19 SHOULD transactionDate is stored to the millisecond, as an instant in UTC (D25)',
  'WS-20 MUST Guard 1: a transaction that is already recorded is a conflict, even for another bet (D1)',
  'WS-21 MUST Guard 1: a transactionId is unique across all players (D1)',
  'WS-22 MUST Guard 1: the key is operation and transactionId, so a rollback may reuse the id of its placebet (D1)',
  'WS-23 MUST Guard 1: a recorded refusal reserves its transactionId like any other transaction (D6)',
  'WS-24 MUST Guard 2: a new bet whose betId already exists is a conflict, even under a new transactionId (D10)',
  'WS-25 MUST Guard 2: a betId is unique across all players (D1)',
  'WS-26 MUST Guard 2: a tombstone reserves its betId: a placebet that arrives after its rollback is a conflict (D11)',
  'WS-27 MUST Guard 2: a change based on an older revision of the bet is a conflict',
  'WS-28 MUST Guard 2: a change of a bet that does not exist, or a change that skips a revision, is a conflict',
  'WS-29 MUST Guard 2: every change of a bet increases its revision by one',
  'WS-30 MUST Guard 3: a stake above the balance is a conflict; a stake of exactly the balance is not',
  'WS-31 MUST Guard 3: the floor is the one passed to commit, even if it is not 0',
  'WS-32 MUST Guard 3: amounts are compared as numbers: 9 is less than 10, and 100 is more than 20',
  'WS-33 MUST Guard 3: a currency other than the player’s is a conflict, for debits and for credits (D23)',
  'WS-34 MUST Guard 3: a credit without a floor is committed, even to a negative balance',
  'WS-35 MUST If delta is 0, no floor is checked and the balance does not change',
  'WS-36 MUST A commit changes only the balance of its own player and only its own bet',
  'WS-37 MUST Guard 1 holds for every operation and for refusals: a recorded transaction is never recorded again (D1)',
  'WS-38 MUST Guard 2 holds for every operation: settlements of any type or of 0, unsettlements and tombstones',
  'WS-39 MUST Guard 3 checks the same balance that load returns, for stakes and for clawbacks',
  'WS-40 MUST A commit is atomic: if guard 1 fails, neither bet nor balance is written',
  'WS-41 MUST A commit is atomic: if guard 2 fails, neither transaction nor balance is written',
  'WS-42 MUST A commit is atomic: if guard 3 fails, neither transaction nor bet is written',
  'WS-43 MUST A commit on one connection is visible at once to load on every other connection',
  'WS-44 MUST Guards hold across connections: concurrent bets never debit more than the balance covers',
  'WS-45 MUST After a crash, no commit that was answered as committed is missing',
  'WS-46 MUST A crash during a commit leaves the whole commit or nothing of it',
  'WS-47 MUST Transactions, refusals and tombstones never expire (D5)',
  'WS-48 MUST A commit in progress does not block the commits of other players, or load',
  'WS-49 MUST A commit that gives up waiting for a locked player writes nothing, not even with a later commit on its connection',
  'WS-50 SHOULD load returns one consistent snapshot: all of a concurrent commit, or nothing of it',
  'WS-51 MUST load reads the bet before the transaction: a load that returns a new bet returns its transaction',
  'WS-52 MUST load reads the player last: a load that returns a new bet or transaction returns the balance after it',
  'WS-53 MUST loadConfirmed, if the store has it, returns the same records as load',
  'WS-54 MUST While the database cannot commit durably, loadConfirmed does not answer',
  'WS-55 MUST Guard 3: a debit of an unknown player is a conflict, and creates no player, bet or transaction (D16)',
  'WS-56 MUST A closed player is loaded as before, and credits and recorded refusals of the player are committed',
  'WS-57 MUST After a change of the currency, a bet keeps its own, and guard 3 checks the new one (D23)',
  'WS-58 MUST A stake that the store refuses writes nothing, not even with a later commit on its connection, and the refusal is final (D6)',
  'WS-59 MUST The store refuses debits only: credits and recorded refusals of the same player are committed (D6, D7)',
  'WS-60 MUST Concurrent copies of one placebet all succeed and debit the stake once (P05)',
  'WS-61 MUST Concurrent placebets of two players with one transactionId and different bets: one succeeds, the others are refused as TRANSACTION_CONFLICT (D4)',
  'WS-62 MUST Concurrent placebets of two players with one betId and different transactionIds: one succeeds (D10)',
  'WS-63 MUST Concurrent bets on a small balance: exactly as many succeed as the balance covers (P06)',
  'WS-64 MUST A placebet and its rollback, sent concurrently, net to zero in any order (R06)',
  'WS-65 MUST Two concurrent settlements of one bet are both credited (D17)',
  'WS-66 MUST Concurrent unsettlements of one credit debit it once (D18)',
  'WS-67 MUST A clawback and a placebet on the same funds, sent concurrently: exactly one of them debits the balance (U03)',
  'WS-68 MUST Concurrent bets of many players all succeed, and each debits its own player',
  'WS-69 MUST A settlement and a rollback of one bet, sent concurrently: exactly one of them succeeds (D13)',
  'WS-70 MUST Concurrent copies of a rollback, under two transactionIds, return the stake once (R02)',
  'WS-71 MUST committed.balance includes the commit itself: without other writers it is the new balance',
  'WS-72 MUST committed.balance is a balance that the player had between the commit and its answer, even under concurrency',
  'WS-73 MUST Concurrent settlements, rollbacks and placebets on different bets of one player are all in the balance',
  'WS-74 MUST A refusal and an acceptance of one transactionId, committed concurrently: one is recorded, the others are conflicts (D6)',
  'WS-75 MUST load returns a balance that includes external deposits',
  'WS-76 MUST A deposit between load and commit is kept and causes no conflict',
  'WS-77 MUST A withdrawal between load and commit counts: commit checks the floor against the current balance',
  'WS-78 MUST Concurrent external deposits and bets are all in the balance',
  'WS-79 MUST A commit does not overwrite a deposit that is made while the commit is in progress',
  'WS-80 MUST An external settlement is a live credit of the bet and is in the balance',
  'WS-81 MUST An external settlement increases the revision: a rollback based on the bet before it is a conflict',
  'WS-82 MUST An external settlement does not revive an uncollected clawback: only the new credit is live (D7)',
  'WS-83 MUST A commit does not overwrite an external settlement that is made while the commit is in progress',
  'WS-85 MUST A placebet whose commit never arrived can be rolled back and leaves the balance unchanged',
  'WS-86 MUST A placebet whose commit answer was lost is found by the follow-up read and debited once',
  'WS-87 MUST A placebet commit that is delivered after its rollback was answered debits nothing (D11)',
  'WS-88 MUST A settlement, an unsettlement and a rollback whose commits are delivered after their retries change the balance once',
  'WS-89 MUST A refusal for insufficient funds whose answer was lost is final, even after a deposit (D6, D7)',
  'WS-90 MUST While a partition is unavailable, every request of its players is a fault, and no other partition answers in its place; players of other partitions are served',
  'WS-91 MUST The PAM’s own rows are one per recorded movement, none for conflicts, refusals and lost commits',
  'WS-92 MUST Own rows are one per recorded movement, also if a commit of the same batch is refused',
  'WS-93 MUST A commit that gives up waiting for a locked player leaves no own row',
  'WS-94 MUST A crash during a commit leaves its own row with the whole commit, or none',
  'WS-95 MUST Random histories get the answers and the final state of the model',
  'WS-96 MUST Random histories with a crash at a random step get the answers and the final state of the model',
  'WS-97 MUST Concurrent requests get answers and a final state that some sequential order explains, under any schedule',
  'WS-98 MUST Lost answers and delayed commits neither lose nor duplicate money after the platform’s retries and rollbacks',
  'WS-99 MUST load returns the reason of a transaction as it was committed, also one that no version knows yet',
  'WS-100 MUST Guard 3 of a commit that moves nothing: without an account in its currency it is a conflict (D28)',
  'WS-101 MUST load returns all accounts of a player, and a transaction with the currency of its account (D28)',
  'WS-102 MUST A commit changes the account that it names, no other one of its player, and answers its balance (D28)',
  'WS-103 MUST Guard 3: the funds of another account of the player do not cover a debit (D20, D28)',
  'WS-104 MUST A locked account does not delay the commits for another account of its player (D28)',
  'WS-105 MUST Concurrently, a placebet and the rollback of its bet, which name two accounts, leave the stake where it was (D11, D28)',
  'WS-106 MUST Random histories of a player with two accounts get the answers and the final state of the model (D28)',
  'WS-107 MUST Concurrent requests of a player with two accounts get answers that some sequential order explains (D28)',
  'WS-110 MUST Guard 2 of a credit: its bet exists, has its player and currency, and is not rolled back (D17)',
  'WS-111 MUST A credit is added to what is live; what is reversed and owed stays, and the revision rises by one (D18)',
  'WS-112 MUST Guards 1 and 3 of a credit: the transaction is new, and the player has an account in the currency',
  'WS-113 MUST Of a credit and the rollback of its bet at the same time exactly one is committed (D12, D17)',
  'WS-114 MUST Concurrently, settlements of one bet are all credited, each once (D17)',
  'WS-115 MUST The snapshot of a conflict, if the store returns it, has the records as they are now',
]

const cases = walletStoreCases(referenceHarness())

describe('the cases', () => {
  it('keep the meaning of their ids', () => {
    expect(cases.map(({ id, level, name }) => `${id} ${level} ${name}`)).toEqual(meanings)
  })

  it('have unique ids, in order', () => {
    const ids = cases.map(({ id }) => Number(id.slice('WS-'.length)))
    expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other))
  })
})

describe('a correct store', () => {
  const allPassed = cases.map(({ id }) => `${id} passed`)
  const resultsOf = async <O extends { store: MemoryStore }>(harness: StoreHarness<O>) => {
    const { results } = await checkWalletStore(harness, { print: null })
    return results.map(
      ({ id, result, detail }) => `${id} ${result}${result === 'failed' ? ` ${detail}` : ''}`,
    )
  }

  it('passes every case that applies: the reference store, with every hook', async () => {
    const { results, passed, complete } = await checkWalletStore(referenceHarness(), { print: null })
    expect(results.filter(({ result }) => result !== 'passed')).toMatchObject([
      { id: 'WS-90', applies: false }, // it has no partitions
    ])
    expect(passed).toBe(true)
    expect(complete).toBe(true)
  })

  it('passes every case that its hooks allow: the memory store', async () => {
    const results = await resultsOf(memoryHarness)
    const needsMore =
      'WS-45 WS-46 WS-47 WS-48 WS-49 WS-54 WS-56 WS-57 WS-58 WS-59 WS-79 WS-80 WS-81 WS-82 WS-83 WS-90 WS-91 WS-92 WS-93 WS-94 WS-96 WS-104'.split(
        ' ',
      )
    expect(results).toEqual(
      allPassed.map(line =>
        needsMore.includes(line.split(' ', 1)[0] ?? '') ? line.replace('passed', 'skipped') : line,
      ),
    )
  })
})

describe('the mutants', () => {
  it('are many, with unique names and faults', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(45)
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
    expect(new Set(mutants.map(({ fault }) => fault)).size).toBe(mutants.length)
  })

  it('cover every MUST: each one is the named killer of a mutant', () => {
    const musts = cases.filter(({ level }) => level === 'MUST').map(({ id }) => id)
    const named = new Set<string>(mutants.map(({ killedBy }) => killedBy))
    expect(musts.filter(id => !named.has(id))).toEqual([])
  })

  it.each(mutants.map(mutant => [mutant.killedBy, mutant.name, mutant] as const))(
    '%s kills %s',
    async (id, _, mutant) => {
      const [named] = walletStoreCases(mutant.make(), { only: [id], timeoutMs: mutant.timeoutMs ?? 30_000 })
      expect(named?.skip).toBeNull()
      const failure: unknown = await named?.run().then(
        () => 'survives',
        (error: unknown) => error,
      )
      expect(failure).toMatchObject({
        name: 'StoreCaseFailed',
        message: expect.stringContaining(`${id} (`),
      })
      // A check failed: the case did not end with another error on the way.
      const { cause, message } = failure as Error
      expect(cause).toMatchObject({ name: 'CaseFailed' })
      if (mutant.timeoutMs === undefined) expect(message).not.toContain('nothing after')
    },
  )

  it('leave no timer behind: it would keep a script alive until the timeout', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const mutant = mutants.find(({ name }) => name === 'no-floor')
      const report = await checkWalletStore(mutant?.make() ?? referenceHarness(), {
        print: null,
        only: ['WS-30'],
      })
      expect(report.passed).toBe(false)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('that load in three reads in the permitted order fail no MUST', async () => {
    const threeReads = mutants.find(({ name }) => name === 'three-reads')
    const report = await checkWalletStore(threeReads?.make() ?? { open: () => Promise.reject() }, {
      print: null,
    })
    expect(report.passed).toBe(true)
    expect(report.results.filter(({ result }) => result === 'failed').map(({ id }) => id)).toEqual(['WS-50'])
  })
})
