/** The loop: load, decide, commit; again on conflict, never for ever. */
import { type Decision, type Refusal, type Rule, transactionOf } from './decide/decision.js'
import { decideReplay } from './decide/replay.js'
import { isWalletRefusal, WalletError } from './errors.js'
import type { Settings } from './options.js'
import type { PlaceBetRequest, Requests } from './requests.js'
import type {
  CommitResult,
  Operation,
  Player,
  WalletChanges,
  WalletKeys,
  WalletSnapshot,
  WalletStore,
} from './store.js'
import { checkResult, checkSnapshot } from './store-checks.js'

/** What happened on the way, known also when it ends in a fault. */
export interface AttemptLog {
  attempts: number
  /** What `commit` threw; `null` where it did not. */
  commitError: unknown
  /** Of the last attempt. */
  storeRefusal: Refusal | null
  /** In milliseconds of `performance.now()`: from then on no commit is begun. */
  readonly deadline: number
}

/**
 * Answers one request.
 *
 * @throws {WalletError} for every fault
 */
export async function runAttempts<O extends Operation>(
  rule: Rule<O>,
  store: WalletStore,
  request: Requests[O],
  settings: Settings,
  journey: AttemptLog,
): Promise<Decision> {
  const { transactionId, playerId, betId } = request
  const keys: WalletKeys = { operation: rule.operation, transactionId, playerId, betId }
  const authorize = rule.operation === 'placebet' ? settings.authorizeBet : undefined
  let authorization: 'to be asked' | 'given' | Refusal = authorize === undefined ? 'given' : 'to be asked'

  for (;;) {
    journey.attempts += 1
    journey.storeRefusal = null

    // 1. Load what is known of this player, bet and transaction.
    const snapshot = await load(store, keys)

    // 2. Decide by the rules, then by the operator's say: asked once, and kept.
    let decision = decideOn(rule, request, snapshot, settings)
    if (
      authorize !== undefined &&
      authorization !== 'given' &&
      isAccepted(decision) &&
      snapshot.player !== null
    ) {
      if (authorization === 'to be asked') {
        // Copies: what the hook makes of them must not decide over money.
        const asked = { ...(request as PlaceBetRequest) }
        const player: Player = { ...snapshot.player }
        authorization = await askAuthorizeBet(() => authorize(asked, player))
      }
      if (authorization !== 'given') {
        decision = refusedBy('REFUSED_BY_OPERATOR', rule, request, snapshot, authorization)
      }
    }
    if (decision.changes === null) return decision

    // 3. Commit: all of the changes if all of their guards hold.
    let result = await commit(store, decision.changes, journey)

    // 4. What the store refuses by a rule of its own is recorded as refused, by a commit that moves nothing.
    if (result.status === 'refused') {
      const { errorCode, description } = result
      journey.storeRefusal = { errorCode, description }
      decision = refusedBy('REFUSED_BY_STORE', rule, request, snapshot, journey.storeRefusal)
      result = await commit(store, decision.changes as WalletChanges, journey)
    }

    switch (result.status) {
      case 'committed':
        return { ...decision, outcome: withCommitResult(decision, result) }
      case 'unavailable':
        throw new WalletError('UNAVAILABLE', 'The store is unavailable; nothing was done')
      case 'unknown':
        journey.commitError = result.cause
        return recoverUnknownCommit(store, keys, transactionOf(rule.operation, request), result.cause)
      default:
    }

    // 5. Conflict: somebody was faster. Look again.
    if (journey.attempts >= settings.attemptsMax) {
      throw new WalletError(
        'CONFLICT',
        `Every one of ${journey.attempts} attempts met a conflict; nothing was done`,
      )
    }
    await settings.backOff(journey.attempts).catch((cause: unknown) => {
      throw new WalletError('HOOK_FAILED', 'backOff threw; nothing was done', { cause })
    })
  }
}

function decideOn<O extends Operation>(
  rule: Rule<O>,
  request: Requests[O],
  snapshot: WalletSnapshot,
  settings: Settings,
): Decision {
  try {
    return rule.decide(request, snapshot, settings)
  } catch (cause) {
    // Only by a store that holds nearly 40 digits.
    throw new WalletError('STORE_CONTRACT', 'The amounts of load() cannot be added', { cause })
  }
}

function isAccepted({ outcome, changes }: Decision): boolean {
  return outcome.ok && changes !== null
}

function refusedBy<O extends Operation>(
  reason: 'REFUSED_BY_OPERATOR' | 'REFUSED_BY_STORE',
  rule: Rule<O>,
  request: Requests[O],
  snapshot: WalletSnapshot,
  refusal: Refusal,
): Decision {
  if (rule.refuse !== undefined) return rule.refuse(request, snapshot, reason, refusal)
  throw new WalletError('STORE_CONTRACT', `A ${rule.operation} cannot be refused (${refusal.errorCode})`)
}

/** The commit knows the balance and the reference; a refusal stays as it was decided. */
function withCommitResult(
  { outcome }: Decision,
  { balance, walletTransactionId }: CommitResult & { status: 'committed' },
) {
  return outcome.ok ? { ...outcome, balance, walletTransactionId } : outcome
}

async function load(store: WalletStore, keys: WalletKeys): Promise<WalletSnapshot> {
  let snapshot: WalletSnapshot
  try {
    snapshot = await store.load({ ...keys }) // a copy: they are what the answer is checked against
  } catch (cause) {
    const unavailable =
      typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'UNAVAILABLE'
    throw new WalletError(unavailable ? 'UNAVAILABLE' : 'LOAD_FAILED', 'load threw; nothing was done', {
      cause,
    })
  }
  return checkSnapshot(snapshot, keys)
}

async function commit(
  store: WalletStore,
  changes: WalletChanges,
  { deadline }: AttemptLog,
): Promise<CommitResult | { status: 'unknown'; cause: unknown }> {
  if (performance.now() >= deadline) {
    throw new WalletError('DEADLINE_PASSED', 'The deadline passed before the commit; nothing was done')
  }
  let result: CommitResult
  try {
    result = await store.commit(changes)
  } catch (cause) {
    return { status: 'unknown', cause }
  }
  return checkResult(result, changes)
}

async function askAuthorizeBet(ask: () => void | Promise<void>): Promise<'given' | Refusal> {
  try {
    const answer: unknown = await ask()
    if (answer === undefined) return 'given'
  } catch (cause) {
    if (!isWalletRefusal(cause))
      throw new WalletError('HOOK_FAILED', 'authorizeBet threw; nothing was done', { cause })
    const { errorCode, description } = cause
    return { errorCode, description }
  }
  // A forgotten throw, or a boolean of somebody's habit: nobody is let in by it.
  throw new WalletError(
    'HOOK_FAILED',
    'authorizeBet must refuse by throwing, and give nothing; nothing was done',
  )
}

/**
 * After a lost answer: what is recorded is answered by D2 to D4, never by the decision that was attempted,
 * since a duplicate may have recorded another one. Not found, it may still land later: 500, and the
 * platform's retry or rollback meets the same guards.
 */
async function recoverUnknownCommit(
  store: WalletStore,
  keys: WalletKeys,
  transaction: WalletChanges['transaction'],
  cause: unknown,
): Promise<Decision> {
  let found: Decision | null
  try {
    found = decideReplay(transaction, await load(store, keys))
  } catch (lookError) {
    throw new WalletError('COMMIT_UNKNOWN', 'commit threw, and so did the look for its transaction', {
      cause: new AggregateError([cause, lookError]),
    })
  }
  // A recorded success without its player has no balance to answer, and INVALID_PLAYER would say that nothing happened.
  if (found !== null && found.reason !== 'UNKNOWN_PLAYER') return found
  throw new WalletError('COMMIT_UNKNOWN', 'commit threw, and its transaction is not recorded', { cause })
}
