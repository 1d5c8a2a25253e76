/**
 * The loop: load, decide, commit. A conflict leads to the next attempt, up to the maximum. Before it, a
 * placebet or a settlement is committed without a load.
 */
import { type Authorization, type CallSource, createAuthorization } from './authorization.js'
import { type Decision, type Refusal, type Rule, transactionOf } from './decide/decision.js'
import { decideReplay } from './decide/replay.js'
import { channels, type DecideMessage, isTraced, type OutcomeEvent, traceSync } from './diagnostics.js'
import { isNotRepresentable, WalletError } from './errors.js'
import type { Settings } from './options.js'
import type { Requests } from './requests.js'
import type { CommitResult, Operation, WalletKeys, WalletSnapshot, WalletStore } from './store.js'
import { commit, load } from './store-calls.js'

/** A call with a valid body. */
export interface ParsedCall<O extends Operation> extends CallSource {
  rule: Rule<O>
  store: WalletStore
  request: Requests[O]
  settings: Settings
  /** Its ids, attempts, errors and refusals are filled in while the call proceeds: a fault has them too. */
  event: OutcomeEvent
}

interface Call<O extends Operation> extends ParsedCall<O> {
  keys: WalletKeys
  authorization: Authorization
}

/**
 * Decides one request and commits the decision.
 *
 * @returns the committed decision, or one that changes nothing
 *
 * @throws {WalletError} for every fault
 */
export async function runAttempts<O extends Operation>(parsed: ParsedCall<O>): Promise<Decision> {
  const { rule, store, request, settings, message, deadline, event } = parsed
  const { operation } = rule
  const { transactionId, playerId, betId } = request
  event.transactionId = transactionId
  event.betId = betId
  event.playerId = playerId
  const keys: WalletKeys = { operation, transactionId, playerId, betId }
  const authorization = createAuthorization(operation, request, settings, parsed)
  // Not a spread, which is slow: this is done in every call.
  const call: Call<O> = { rule, store, request, settings, message, deadline, event, keys, authorization }

  for (let attempt = 1; ; attempt += 1) {
    event.attempts = attempt
    const assumed = attempt === 1 ? await assumedDecision(call) : null
    let current: WalletSnapshot | null = null
    if (assumed !== null) {
      const decided = await commitDecision(call, assumed)
      if (isDecision(decided)) return decided
      if ('snapshot' in decided) current = decided.snapshot
    }

    event.storeRefusal = null
    // The guards that did not hold most likely mean a duplicate or a refusal: it needs a confirmed snapshot.
    const { snapshot, decision } = await loadAndDecide(call, current, assumed !== null)
    const decided = await commitOrRefuse(call, snapshot, await authorized(call, snapshot, decision))
    if (isDecision(decided)) return decided

    // Another writer won the race. Reload and retry: after the wait, a snapshot of the conflict would be old.
    if (attempt >= settings.attemptsMax) {
      throw new WalletError('CONFLICT', `Gave up after ${attempt} conflicting attempts; no changes were made`)
    }
    await settings.backOff(attempt).catch((cause: unknown) => {
      throw new WalletError('HOOK_FAILED', 'backOff threw; no changes were made', { cause })
    })
  }
}

/**
 * The decision that the guards of its commit prove without a load: a bet is new and the player can pay it, or
 * the bet of a settlement is placed. `null`: load first.
 */
async function assumedDecision<O extends Operation>(call: Call<O>): Promise<Decision | null> {
  const { rule, store, request, deadline, authorization } = call
  const snapshot = rule.assume?.(request)
  if (snapshot === undefined || (snapshot.bet !== null && store.addsCredits !== true)) return null
  const granted = authorization.isGrantedBeforeLoad()
  if (granted !== true && !(await granted)) return null
  // A retry is answered after the deadline too: by a load, since no commit is started any more.
  if (performance.now() >= deadline) return null
  const decision = decideOn(call, snapshot, true)
  const { changes, credit } = decision
  // The assumed bet is none to write.
  if (changes === null || credit === undefined) return decision
  return { ...decision, changes: { ...changes, bet: null, credit } }
}

/**
 * A decision that the guards of its commit do not prove is decided again on a confirmed snapshot, if the
 * store has one: a standby or a former primary may have answered `load`.
 *
 * @param current of a conflict: confirmed already
 */
async function loadAndDecide<O extends Operation>(
  call: Call<O>,
  current: WalletSnapshot | null,
  confirmed: boolean,
): Promise<{ snapshot: WalletSnapshot; decision: Decision }> {
  const { store, keys } = call
  if (current !== null) return { snapshot: current, decision: decideOn(call, current) }
  const snapshot = await load(store, keys, confirmed)
  const decision = decideOn(call, snapshot)
  if (confirmed || store.loadConfirmed === undefined || isProvenByGuards(decision)) {
    return { snapshot, decision }
  }
  const confirmedSnapshot = await load(store, keys, true)
  return { snapshot: confirmedSnapshot, decision: decideOn(call, confirmedSnapshot) }
}

/** An acceptance that writes the bet: guard 2 holds only if the bet is still the one of the snapshot. */
function isProvenByGuards({ outcome, changes }: Decision): boolean {
  return outcome.ok && changes !== null && changes.bet !== null
}

/** Asks the hooks about a bet that the rules accept. */
async function authorized<O extends Operation>(
  call: Call<O>,
  snapshot: WalletSnapshot,
  decision: Decision,
): Promise<Decision> {
  const { outcome, changes } = decision
  if (!outcome.ok || changes === null) return decision
  const account = snapshot.accounts.find(({ currency }) => currency === outcome.currency)
  if (account === undefined) return decision
  const answer = await call.authorization.ask(account)
  return answer === 'granted' ? decision : refusedBy(call, snapshot, 'REFUSED_BY_OPERATOR', answer)
}

/** Commits all of the changes if all of their guards hold. Records a refusal by the store. */
async function commitOrRefuse<O extends Operation>(
  call: Call<O>,
  snapshot: WalletSnapshot,
  decision: Decision,
): Promise<Decision | Conflict> {
  const decided = await commitDecision(call, decision)
  if (!('errorCode' in decided)) return decided
  // The refusal is recorded by a commit that changes no balance, and such a commit cannot be refused.
  return await commitOrRefuse(call, snapshot, refusedBy(call, snapshot, 'REFUSED_BY_STORE', decided))
}

interface Conflict {
  snapshot: WalletSnapshot | null
}

/** What a commit led to. A conflict, and the store's refusal: nothing is written. */
type Committed = Decision | Refusal | Conflict

const isDecision = (committed: Committed): committed is Decision => 'outcome' in committed

/** @returns the decision with the result of its commit, or at once if it changes nothing */
async function commitDecision<O extends Operation>(call: Call<O>, decision: Decision): Promise<Committed> {
  const { store, keys, deadline, event } = call
  if (decision.changes === null) return decision
  const result = await commit(store, keys, decision.changes, deadline)
  switch (result.status) {
    case 'committed':
      return { ...decision, outcome: withCommitResult(decision, result) }
    case 'unavailable':
      throw new WalletError('UNAVAILABLE', 'The store is unavailable; no changes were made', {
        cause: result.cause,
      })
    case 'unknown':
      event.commitError = result.cause
      return await recoverUnknownCommit(call, result.cause)
    case 'refused':
      event.storeRefusal = { errorCode: result.errorCode, description: result.description }
      return { ...event.storeRefusal }
    case 'conflict':
      return { snapshot: result.snapshot ?? null }
  }
}

function decideOn<O extends Operation>(call: Call<O>, snapshot: WalletSnapshot, assumed = false): Decision {
  if (!isTraced(channels.decide)) return decide(call, snapshot)
  const message: DecideMessage = { ...call.keys, assumed, reason: null, error: null, durationMs: 0 }
  return traceSync(channels.decide, message, () => {
    const decision = decide(call, snapshot)
    message.reason = decision.reason
    return decision
  })
}

function decide<O extends Operation>(
  { rule, request, settings }: Call<O>,
  snapshot: WalletSnapshot,
): Decision {
  try {
    return rule.decide(request, snapshot, settings)
  } catch (cause) {
    // Reached only if a stored amount has nearly 40 digits.
    throw new WalletError('STORE_CONTRACT', 'load() returned amounts whose sum exceeds 40 digits', { cause })
  }
}

function refusedBy<O extends Operation>(
  { rule, request, settings }: Call<O>,
  snapshot: WalletSnapshot,
  reason: 'REFUSED_BY_OPERATOR' | 'REFUSED_BY_STORE',
  refusal: Refusal,
): Decision {
  if (rule.refuse !== undefined) return rule.refuse(request, snapshot, settings, reason, refusal)
  throw new WalletError('STORE_CONTRACT', `A ${rule.operation} cannot be refused (${refusal.errorCode})`)
}

/** Adds the committed balance and reference to a success; a refusal stays as it was decided. */
function withCommitResult(
  { outcome }: Decision,
  { balance, walletTransactionId }: CommitResult & { status: 'committed' },
) {
  return outcome.ok ? { ...outcome, balance, walletTransactionId } : outcome
}

/**
 * The follow-up read after a commit of unknown outcome. A recorded transaction is answered by D2 to D4, never
 * by the attempted decision, since a duplicate may have recorded another one. A missing transaction may still
 * be committed later: the answer is 500, and the platform's retry or rollback meets the same guards. An
 * amount that is not representable was not written; only a duplicate of another process may have recorded it.
 */
async function recoverUnknownCommit<O extends Operation>(call: Call<O>, cause: unknown): Promise<Decision> {
  const { rule, store, request, keys, settings } = call
  let found: Decision | null
  try {
    const snapshot = await load(store, keys, true)
    found = decideReplay(transactionOf(rule.operation, request), snapshot, settings.defaultCurrency)
  } catch (readError) {
    throw new WalletError('COMMIT_UNKNOWN', 'commit failed and the follow-up read failed too', {
      cause: new AggregateError([cause, readError]),
    })
  }
  if (found === null && isNotRepresentable(cause)) {
    const message = 'The store cannot hold this amount; no changes were made'
    throw new WalletError('AMOUNT_NOT_REPRESENTABLE', message, { cause })
  }
  // A recorded success whose player is missing has no balance to return; INVALID_PLAYER would deny its debit.
  if (found !== null && found.reason !== 'UNKNOWN_PLAYER') return found
  throw new WalletError('COMMIT_UNKNOWN', 'commit failed and its transaction is not recorded', { cause })
}
