/** The loop: load, decide, commit. A conflict leads to the next attempt, up to the maximum. */
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

/** The progress of one call, available also if the call ends in a fault. */
export interface AttemptLog {
  attempts: number
  /** The error that `commit` threw; `null` if it threw none. */
  commitError: unknown
  /** The store's refusal in the last attempt. */
  storeRefusal: Refusal | null
  /** A time of `performance.now()`. No commit is started after it. */
  readonly deadline: number
}

/**
 * Decides one request and commits the decision.
 *
 * @param log is updated while the call proceeds
 * @returns the committed decision, or one that changes nothing
 *
 * @throws {WalletError} for every fault
 */
export async function runAttempts<O extends Operation>(
  rule: Rule<O>,
  store: WalletStore,
  request: Requests[O],
  settings: Settings,
  log: AttemptLog,
): Promise<Decision> {
  const { transactionId, playerId, betId } = request
  const keys: WalletKeys = { operation: rule.operation, transactionId, playerId, betId }
  const authorize = rule.operation === 'placebet' ? settings.authorizeBet : undefined
  let authorization: 'pending' | 'granted' | Refusal = authorize === undefined ? 'granted' : 'pending'

  for (;;) {
    log.attempts += 1
    log.storeRefusal = null

    // 1. Load this player, bet and transaction.
    const snapshot = await load(store, keys)

    // 2. Apply the rules, then authorizeBet: it is called once per request, and later attempts reuse its
    // answer.
    let decision = decideOn(rule, request, snapshot, settings)
    if (
      authorize !== undefined &&
      authorization !== 'granted' &&
      isAccepted(decision) &&
      snapshot.player !== null
    ) {
      if (authorization === 'pending') {
        // Copies: changes by the hook must not reach the decision.
        const asked = { ...(request as PlaceBetRequest) }
        const player: Player = { ...snapshot.player }
        authorization = await askAuthorizeBet(() => authorize(asked, player))
      }
      if (authorization !== 'granted') {
        decision = refusedBy('REFUSED_BY_OPERATOR', rule, request, snapshot, authorization)
      }
    }
    if (decision.changes === null) return decision

    // 3. Commit all of the changes if all of their guards hold.
    let result = await commit(store, decision.changes, log)

    // 4. Record a refusal by the store, with a commit that changes no balance.
    if (result.status === 'refused') {
      const { errorCode, description } = result
      log.storeRefusal = { errorCode, description }
      decision = refusedBy('REFUSED_BY_STORE', rule, request, snapshot, log.storeRefusal)
      result = await commit(store, decision.changes as WalletChanges, log)
    }

    switch (result.status) {
      case 'committed':
        return { ...decision, outcome: withCommitResult(decision, result) }
      case 'unavailable':
        throw new WalletError('UNAVAILABLE', 'The store is unavailable; no changes were made')
      case 'unknown':
        log.commitError = result.cause
        return recoverUnknownCommit(store, keys, transactionOf(rule.operation, request), result.cause)
      case 'conflict':
        break
    }

    // 5. Conflict: another writer won the race. Reload and retry.
    if (log.attempts >= settings.attemptsMax) {
      throw new WalletError(
        'CONFLICT',
        `Gave up after ${log.attempts} conflicting attempts; no changes were made`,
      )
    }
    await settings.backOff(log.attempts).catch((cause: unknown) => {
      throw new WalletError('HOOK_FAILED', 'backOff threw; no changes were made', { cause })
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
    // Reached only if a stored amount has nearly 40 digits.
    throw new WalletError('STORE_CONTRACT', 'load() returned amounts whose sum exceeds 40 digits', { cause })
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

/** Adds the committed balance and reference to a success; a refusal stays as it was decided. */
function withCommitResult(
  { outcome }: Decision,
  { balance, walletTransactionId }: CommitResult & { status: 'committed' },
) {
  return outcome.ok ? { ...outcome, balance, walletTransactionId } : outcome
}

async function load(store: WalletStore, keys: WalletKeys): Promise<WalletSnapshot> {
  let snapshot: WalletSnapshot
  try {
    snapshot = await store.load({ ...keys }) // a copy: the result is checked against them
  } catch (cause) {
    const unavailable =
      typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'UNAVAILABLE'
    throw new WalletError(unavailable ? 'UNAVAILABLE' : 'LOAD_FAILED', 'load threw; no changes were made', {
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
    throw new WalletError('DEADLINE_PASSED', 'The deadline passed before the commit; no changes were made')
  }
  let result: CommitResult
  try {
    result = await store.commit(changes)
  } catch (cause) {
    return { status: 'unknown', cause }
  }
  return checkResult(result, changes)
}

async function askAuthorizeBet(call: () => void | Promise<void>): Promise<'granted' | Refusal> {
  try {
    const answer: unknown = await call()
    if (answer === undefined) return 'granted'
  } catch (cause) {
    if (!isWalletRefusal(cause))
      throw new WalletError('HOOK_FAILED', 'authorizeBet threw; no changes were made', { cause })
    const { errorCode, description } = cause
    return { errorCode, description }
  }
  // The hook returned an error or a boolean, perhaps instead of throwing: that must not authorise the bet.
  throw new WalletError(
    'HOOK_FAILED',
    'authorizeBet must return undefined, or throw WalletRefusal to refuse; no changes were made',
  )
}

/**
 * The follow-up read after a commit of unknown outcome. A recorded transaction is answered by D2 to D4, never
 * by the attempted decision, since a duplicate may have recorded another one. A missing transaction may still
 * be committed later: the answer is 500, and the platform's retry or rollback meets the same guards.
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
  } catch (readError) {
    throw new WalletError('COMMIT_UNKNOWN', 'commit failed and the follow-up read failed too', {
      cause: new AggregateError([cause, readError]),
    })
  }
  // A recorded success whose player is missing has no balance to return; INVALID_PLAYER would deny its debit.
  if (found !== null && found.reason !== 'UNKNOWN_PLAYER') return found
  throw new WalletError('COMMIT_UNKNOWN', 'commit failed and its transaction is not recorded', { cause })
}
