/** Rules of limits with one fault each, as operators write them. The case that is about the fault must find it. */
import { type WalletOptions, WalletRefusal, type WalletStore } from 'bet-wallet'
import type { PendingCommit, Query } from 'bet-wallet/postgres'
import { createLimits } from '../../examples/limits/limits.js'
import type { Accounts, Rule } from './accounts.js'
import { exclusionCases, type LimitCases, lossCases, stakeCases } from './limit-cases.js'

/** What the operator's code consists of. */
export interface Operator {
  rule: Rule
  /** The store as the handlers are given it. */
  wrap?(store: WalletStore, accounts: Accounts): WalletStore
  walletOptions?(accounts: Accounts): WalletOptions
  /** Waits for what it has not awaited. */
  settled?(): Promise<unknown>
}

export type Now = () => Date

const timeZone = 'Europe/Berlin'

export const correct = (now: Now): Operator => ({ rule: createLimits({ timeZone, now }) })

interface BrokenRule {
  fault: string
  /** The case that is about it. */
  foundBy: string
  /** In the report. */
  says: RegExp
  make(now: Now): Operator
}

/** The correct rule, with other pending commits or another connection. */
function adapted(
  adapt: (query: Query, pending: readonly PendingCommit[]) => [Query, readonly PendingCommit[]],
) {
  return (now: Now): Operator => {
    const { rule } = correct(now)
    return { rule: (query, pending) => rule(...adapt(query, pending)) }
  }
}

/** The correct rule does not know of these commits. */
const without = (isForgotten: (changes: PendingCommit['changes']) => boolean) =>
  adapted((query, pending) => [query, pending.filter(({ changes }) => !isForgotten(changes))])

/** The correct rule with another text of its statements. */
const withText = (change: (text: string) => string) =>
  adapted((query, pending) => [(text, values) => query(change(text), values), pending])

/** The correct rule, and more statements after it. */
const withMore =
  (more: Rule) =>
  (now: Now): Operator => {
    const { rule } = correct(now)
    return {
      async rule(query, pending) {
        await rule(query, pending)
        await more(query, pending)
      },
    }
  }

/** Counts every accepted bet, and checks nothing. */
const countOnly: Rule = async (query, pending) => {
  for (const {
    changes: { transaction },
  } of pending)
    if (transaction.operation === 'placebet' && transaction.refusal === null)
      await count(query, transaction.betId, transaction.playerId, transaction.amount ?? '0')
}

const count = (query: Query, betId: string, playerId: string, amount: string) =>
  query("INSERT INTO limited_bets (bet_id, player_id, day, staked, lost) VALUES (?, ?, '2026-01-01', ?, ?)", [
    betId,
    playerId,
    amount,
    amount,
  ])

/** Whether the bet does not fit, by the sum of all bets: what the broken rules ask. */
async function exceeds(query: Query, playerId: string, amount: string): Promise<boolean> {
  const { rows } = await query(
    `SELECT stake_per_day AS stake, (SELECT COALESCE(SUM(staked), 0) FROM limited_bets WHERE player_id = ?) AS sum
      FROM accounts WHERE player_id = ?`,
    [playerId, playerId],
  )
  const [{ stake, sum }] = rows as [{ stake: string | null; sum: string }]
  return stake !== null && Number(sum) + Number(amount) > Number(stake)
}

const refused = {
  status: 'refused',
  errorCode: 'STAKE_LIMIT',
  description: 'amount: above the limit',
} as const
const refusal = () => new WalletRefusal(refused.errorCode, refused.description)

const isNewBet = ({ transaction }: PendingCommit['changes']) =>
  transaction.operation === 'placebet' && transaction.refusal === null

const ofStakes: BrokenRule[] = [
  {
    fault: 'checks in authorizeBet, outside of the database transaction',
    foundBy: 'concurrent bets of one player, also in one list, never exceed the limit; other players can bet',
    says: /limit exceeded: anna had staked 10.00 of 100.00, and bets of 20.00, .* were all accepted/,
    make: () => ({
      rule: countOnly,
      walletOptions: ({ query }) => ({
        async authorizeBet({ playerId, amount }) {
          if (await exceeds(query, playerId, amount)) throw refusal()
        },
      }),
    }),
  },
  {
    fault: 'checks before the store locks the player',
    foundBy: 'concurrent bets of one player, also in one list, never exceed the limit; other players can bet',
    says: /limit exceeded/,
    make: () => ({
      rule: countOnly,
      wrap(store, { query }) {
        // All checks of one turn of the event loop come before the first commit.
        let checks: Promise<unknown>[] = []
        return {
          ...store,
          async commit(changes) {
            const { playerId, amount } = changes.transaction
            const check = exceeds(query, playerId, amount ?? '0')
            checks.push(check)
            await new Promise(setImmediate)
            await Promise.all(checks)
            checks = []
            return isNewBet(changes) && (await check) ? refused : store.commit(changes)
          },
        }
      },
    }),
  },
  {
    fault: 'counts after the commit, in onOutcome',
    foundBy: 'a bet counts as soon as it is committed, before it is answered',
    says: /limit exceeded: anna had staked 0.00 of 100.00, and bets of 60.00 and 60.00 were both accepted/,
    make() {
      const counted: Promise<unknown>[] = []
      return {
        async rule(query, pending) {
          for (const { changes, refuse } of pending) {
            const { playerId, amount } = changes.transaction
            if (isNewBet(changes) && (await exceeds(query, playerId, amount ?? '0')))
              refuse(refused.errorCode, refused.description)
          }
        },
        walletOptions: ({ query }) => ({
          onOutcome({ outcome, betId, playerId }) {
            if (outcome?.ok) counted.push(count(query, betId ?? '', playerId ?? '', '60'))
          },
        }),
        settled: () => Promise.all(counted),
      }
    },
  },
  {
    fault: 'refuses the whole list when all of it does not fit',
    foundBy: 'concurrent bets of one player, also in one list, never exceed the limit; other players can bet',
    says: /too strict: ben had staked 0.00 of 1000.00,.* and a bet of .* was refused: STAKE_LIMIT/,
    make: now => {
      const { rule } = correct(now)
      return {
        async rule(query, pending) {
          let isRefused = false
          const watched = pending.map(commit => ({
            ...commit,
            refuse: () => {
              isRefused = true
            },
          }))
          await rule(query, watched)
          if (isRefused)
            for (const { changes, refuse } of pending) if (isNewBet(changes)) refuse(refused.errorCode, 'all')
        },
      }
    },
  },
  {
    fault: 'counts in the memory of the process',
    foundBy: 'the limit holds over two connections',
    says: /limit exceeded/,
    make: () => {
      const sums = new Map<string, number>()
      return {
        async rule(_query, pending) {
          for (const { changes, refuse } of pending) {
            if (!isNewBet(changes)) continue
            const { playerId, amount } = changes.transaction
            const sum = (sums.get(playerId) ?? 0) + Number(amount)
            if (sum > 100) refuse(refused.errorCode, refused.description)
            else sums.set(playerId, sum)
          }
        },
      }
    },
  },
  {
    fault: 'counts every call in authorizeRequest, so a retry counts twice',
    foundBy: 'copies and retries of a bet count once',
    says: /too strict: anna had staked 30.00 of 100.00, and a bet of 70.00 was refused/,
    make: () => {
      let calls = 0
      return {
        rule: async () => {},
        walletOptions: ({ query }) => ({
          async authorizeRequest({ playerId, amount }) {
            if (await exceeds(query, playerId, amount)) throw refusal()
            await count(query, `call-${++calls}`, playerId, amount)
          },
        }),
      }
    },
  },
  {
    fault: 'counts before the commit, also when the commit is a conflict',
    foundBy:
      'a bet whose answer was lost, or whose commit came late, counts once; one that never came does not',
    says: /too strict: anna had staked 60.00 of 100.00, and a bet of 40.00 was refused/,
    make() {
      let commits = 0
      return {
        rule: async () => {},
        wrap: (store, { query }) => ({
          ...store,
          async commit(changes) {
            const { playerId, amount } = changes.transaction
            if (!isNewBet(changes)) return store.commit(changes)
            if (await exceeds(query, playerId, amount ?? '0')) return refused
            commits += 1
            await count(query, `commit-${commits}`, playerId, amount ?? '0')
            return store.commit(changes)
          },
        }),
      }
    },
  },
  {
    fault: 'counts a refused bet',
    foundBy: 'bets up to exactly the limit are accepted; a refused bet is final and does not count',
    says: /too strict: anna had staked 60.00 of 100.00, and a bet of 40.00 was refused/,
    make: withMore(async (query, pending) => {
      for (const {
        changes: { transaction },
      } of pending)
        if (transaction.operation === 'placebet' && transaction.refusal !== null)
          await query('UPDATE limited_bets SET staked = staked + ? WHERE player_id = ?', [
            transaction.amount,
            transaction.playerId,
          ])
    }),
  },
  {
    fault: 'counts a bet that was refused for another reason',
    foundBy: 'a bet that another rule refuses does not count',
    says: /too strict: anna had staked 10.00 of 100.00, and a bet of 90.00 was refused/,
    make: withMore(async (query, pending) => {
      for (const {
        changes: { transaction },
      } of pending)
        if (transaction.refusal?.errorCode === 'INVALID_CURRENCY')
          await query('UPDATE limited_bets SET staked = staked + 60 WHERE player_id = ?', [
            transaction.playerId,
          ])
    }),
  },
  {
    fault: 'refuses the bet that reaches the limit exactly',
    foundBy: 'bets up to exactly the limit are accepted; a refused bet is final and does not count',
    says: /too strict: anna had staked 60.00 of 100.00, and a bet of 40.00 was refused/,
    make: withText(text => text.replace('account.stake_per_day', 'account.stake_per_day - 0.01')),
  },
  {
    fault: 'lets one cent too much pass',
    foundBy: 'bets up to exactly the limit are accepted; a refused bet is final and does not count',
    says: /limit exceeded: anna had staked 60.00 of 100.00, and a bet of 40.01 was accepted/,
    make: withText(text => text.replace('account.stake_per_day', 'account.stake_per_day + 0.01')),
  },
  {
    fault: 'forgets rollbacks',
    foundBy: 'a rollback makes room again, once',
    says: /too strict: anna had staked 40.00 of 100.00, and a bet of 60.00 was refused/,
    make: without(({ transaction }) => transaction.operation === 'rollbackbet'),
  },
  {
    fault: 'gives back the stake of a bet for every rollback of it',
    foundBy: 'a rollback makes room again, once',
    says: /limit exceeded: anna had staked 40.00 of 100.00, and a bet of 60.01 was accepted/,
    make: withMore(async (query, pending) => {
      for (const {
        changes: { transaction, bet },
      } of pending)
        if (transaction.operation === 'rollbackbet' && bet === null)
          await query('UPDATE limited_bets SET staked = staked - 60 WHERE bet_id = ?', [transaction.betId])
    }),
  },
  {
    fault: 'forgets voids',
    foundBy: 'a void makes room again, once, and its clawback takes it',
    says: /too strict: anna had staked 0.00 of 100.00, and a bet of 90.00 was refused/,
    make: without(({ transaction }) => transaction.type === 'VOIDED'),
  },
  {
    fault: 'forgets voids',
    foundBy: 'random bets, retries, rollbacks, voids, wins and clawbacks',
    says: /too strict/,
    make: without(({ transaction }) => transaction.type === 'VOIDED'),
  },
  {
    fault: 'forgets the clawback of a void',
    foundBy: 'a void makes room again, once, and its clawback takes it',
    says: /limit exceeded: anna had staked 150.00 of 100.00, and a bet of 0.01 was accepted/,
    make: without(({ transaction }) => transaction.type === 'UNVOIDED'),
  },
  {
    fault: 'reads the limit once per process',
    foundBy: 'a lower limit holds at once',
    says: /limit exceeded/,
    make: () => {
      let limit: number | null = null
      return {
        async rule(query, pending) {
          for (const { changes, refuse } of pending) {
            if (!isNewBet(changes)) continue
            const { betId, playerId, amount } = changes.transaction
            const { rows } = await query(
              `SELECT stake_per_day AS stake, (SELECT COALESCE(SUM(staked), 0) FROM limited_bets WHERE player_id = ?) AS sum
                FROM accounts WHERE player_id = ?`,
              [playerId, playerId],
            )
            const [{ stake, sum }] = rows as [{ stake: string; sum: string }]
            limit ??= Number(stake) + 20
            if (Number(sum) + Number(amount) > limit) refuse(refused.errorCode, refused.description)
            else await count(query, betId, playerId, amount ?? '0')
          }
        },
      }
    },
  },
  {
    fault: 'takes the day from the transactionDate of the platform',
    foundBy: 'the transactionDate of the platform does not decide when a bet counts (D25)',
    says: /limit exceeded: anna had staked 80.00 of 100.00, and a bet of 40.00 was accepted/,
    make: () => ({
      async rule(query, pending) {
        for (const commit of pending)
          await createLimits({ timeZone, now: () => new Date(commit.changes.transaction.transactionDate) })(
            query,
            [commit],
          )
      },
    }),
  },
  {
    fault: 'never begins a new day',
    foundBy: 'the next period has the whole limit, and a rollback of an earlier bet adds nothing',
    says: /too strict: anna had staked 0.00 of 100.00, and a bet of 100.00 was refused/,
    make: () => correct(() => new Date(0)),
  },
  {
    fault: 'adds the rollback of a bet of yesterday to the room of today',
    foundBy: 'the next period has the whole limit, and a rollback of an earlier bet adds nothing',
    says: /limit exceeded: anna had staked 100.00 of 100.00, and a bet of 0.01 was accepted/,
    make: withMore(async (query, pending) => {
      for (const {
        changes: { transaction, account },
      } of pending)
        if (transaction.operation === 'rollbackbet' && account.delta !== '0')
          await query('UPDATE limited_bets SET staked = staked - ? WHERE player_id = ? AND bet_id <> ?', [
            transaction.delta,
            transaction.playerId,
            transaction.betId,
          ])
    }),
  },
  {
    fault: 'lets a win make room for stakes',
    foundBy: 'a win makes no room, and its clawback takes none',
    says: /limit exceeded: anna had staked 60.00 of 100.00, and a bet of 40.01 was accepted/,
    make: withText(text =>
      text.replace(
        'SUM(CASE WHEN bet.day >= ? THEN bet.staked ELSE 0 END)',
        'SUM(CASE WHEN bet.day >= ? THEN bet.lost ELSE 0 END)',
      ),
    ),
  },
]

const ofLosses: BrokenRule[] = [
  {
    fault: 'counts a bet as lost when it is settled',
    foundBy: 'concurrent bets of one player, also in one list, never exceed the limit; other players can bet',
    says: /limit exceeded: anna had lost, open bets included, 10.00 of 100.00/,
    make: withMore(async (query, pending) => {
      for (const { changes } of pending)
        if (isNewBet(changes))
          await query('UPDATE limited_bets SET lost = 0 WHERE bet_id = ?', [changes.transaction.betId])
    }),
  },
  {
    fault: 'forgets wins',
    foundBy: 'a win makes room for what it credits, once, and its clawback takes it',
    says: /too strict: anna had lost, open bets included, 40.00 of 100.00, and a bet of 50.00 was refused: LOSS_LIMIT/,
    make: without(({ transaction }) => transaction.type === 'BET_PAID'),
  },
  {
    fault: 'forgets the clawback of a win',
    foundBy: 'a win makes room for what it credits, once, and its clawback takes it',
    says: /limit exceeded: anna had lost, open bets included, 150.00 of 100.00, and a bet of 0.01 was accepted/,
    make: without(({ transaction }) => transaction.type === 'UNSCORED'),
  },
  {
    fault: 'counts a clawback that the funds did not cover',
    foundBy: 'a clawback that the funds do not cover changes nothing (D7)',
    says: /too strict: anna had lost, open bets included, 60.00 of 150.00, and a bet of 40.00 was refused/,
    make: withMore(async (query, pending) => {
      for (const {
        changes: { transaction },
      } of pending)
        if (transaction.operation === 'unsettlement' && transaction.refusal !== null)
          await query('UPDATE limited_bets SET lost = lost + 60 WHERE bet_id = ?', [transaction.betId])
    }),
  },
]

const ofExclusions: BrokenRule[] = [
  {
    fault: 'looks at debits only, so a free bet of an excluded player is accepted',
    foundBy: 'no bet is accepted, not even with a stake of 0; money still returns; other players can bet',
    says: /exclusion passed: anna is excluded, and a free bet \(stake 0\) was accepted/,
    make: without(changes => isNewBet(changes) && changes.account.delta === '0'),
  },
  {
    fault: 'refuses the clawback of an excluded player',
    foundBy: 'no bet is accepted, not even with a stake of 0; money still returns; other players can bet',
    says: /the unsettlement of anna to succeed/,
    make: withMore(async (query, pending) => {
      const { rows } = await query('SELECT player_id FROM accounts WHERE no_bets_until IS NOT NULL')
      for (const { changes, refuse } of pending)
        if (
          changes.transaction.operation === 'unsettlement' &&
          changes.transaction.refusal === null &&
          rows.length > 0
        )
          refuse('PLAYER_EXCLUDED', 'playerId: may not bet now')
    }),
  },
  {
    fault: 'throws instead of refusing',
    foundBy: 'no bet is accepted, not even with a stake of 0; money still returns; other players can bet',
    says: /a refusal of a bet of 1: anna is excluded[\s\S]*fault/,
    make: adapted((query, pending) => [
      query,
      pending.map(commit => ({
        ...commit,
        refuse() {
          throw new Error('excluded')
        },
      })),
    ]),
  },
  {
    fault: 'checks the exclusion in authorizeBet',
    foundBy: 'it holds from its moment, also for bets that are about to be committed',
    says: /exclusion passed: anna is excluded, and a bet of 30 was accepted/,
    make: () => ({
      rule: async () => {},
      walletOptions: ({ query }) => ({
        async authorizeBet({ playerId }) {
          const { rows } = await query(
            'SELECT 1 FROM accounts WHERE player_id = ? AND no_bets_until IS NOT NULL',
            [playerId],
          )
          if (rows.length > 0) throw new WalletRefusal('PLAYER_EXCLUDED', 'playerId: may not bet now')
        },
      }),
    }),
  },
  {
    fault: 'keeps the exclusions in a cache',
    foundBy: 'it holds on a second connection too',
    says: /exclusion passed/,
    make: () => {
      const cache = new Map<string, boolean>()
      return {
        async rule(query, pending) {
          for (const { changes, refuse } of pending) {
            const { playerId } = changes.transaction
            const { rows } = await query(
              'SELECT 1 FROM accounts WHERE player_id = ? AND no_bets_until IS NOT NULL',
              [playerId],
            )
            cache.set(playerId, cache.get(playerId) ?? rows.length > 0)
            if (isNewBet(changes) && cache.get(playerId))
              refuse('PLAYER_EXCLUDED', 'playerId: may not bet now')
          }
        },
      }
    },
  },
  {
    fault: 'never ends a cool-off',
    foundBy: 'a cool-off ends at its time',
    says: /the placebet of anna to succeed/,
    make: () => correct(() => new Date(0)),
  },
]

export const brokenRules: readonly (BrokenRule & { cases: LimitCases })[] = [
  ...ofStakes.map(rule => ({ ...rule, cases: stakeCases })),
  ...ofLosses.map(rule => ({ ...rule, cases: lossCases })),
  ...ofExclusions.map(rule => ({ ...rule, cases: exclusionCases })),
]
