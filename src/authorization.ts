/** The operator's hooks that may refuse a bet: each is called at most once per request. */
import type { Refusal } from './decide/decision.js'
import { isWalletRefusal, WalletError } from './errors.js'
import type { CallMessage, PlaceBetCall, Settings } from './options.js'
import type { PlaceBetRequest, Requests } from './requests.js'
import type { Account, Operation } from './store.js'

type Answer = 'granted' | Refusal

export interface Authorization {
  /**
   * Whether the bet may be committed without a load: no hook needs the account, and the others have granted
   * it. `false` after a refusal or a fault of a hook too: the other rules come first, and they need a load.
   */
  isGrantedBeforeLoad(): boolean | Promise<boolean>
  /** Asks the hooks that were not asked yet. @throws {WalletError} `HOOK_FAILED` */
  ask(account: Account): Promise<Answer>
}

export interface CallSource {
  /** The platform's message, for the hooks; `null`: the handler was called without it. */
  message: CallMessage | null
  /** A time of `performance.now()`. No commit is started after it. */
  deadline: number
}

const withoutHooks: Authorization = {
  isGrantedBeforeLoad: () => true,
  ask: async () => 'granted',
}

export function createAuthorization<O extends Operation>(
  operation: O,
  request: Requests[O],
  settings: Settings,
  source: CallSource,
): Authorization {
  const { authorizeRequest, authorizeBet } = settings
  if (operation !== 'placebet' || (authorizeRequest === undefined && authorizeBet === undefined)) {
    return withoutHooks
  }
  // Copies: changes by a hook must not reach the decision.
  const copy = () => ({ ...(request as PlaceBetRequest) })
  let ofRequest: Promise<Answer> | null = null
  let ofBet: Promise<Answer> | null = null
  const askRequest = () => {
    ofRequest ??= answerOf('authorizeRequest', () => authorizeRequest?.(copy(), callOf(source)))
    return ofRequest
  }
  return {
    isGrantedBeforeLoad() {
      if (authorizeBet !== undefined) return false
      return askRequest().then(
        answer => answer === 'granted',
        () => false, // thrown again by `ask`, unless another rule refuses the bet
      )
    },
    async ask(account) {
      const answer = await askRequest()
      if (answer !== 'granted' || authorizeBet === undefined) return answer
      ofBet ??= answerOf('authorizeBet', () => authorizeBet(copy(), { ...account }, callOf(source)))
      return await ofBet
    },
  }
}

function callOf({ message, deadline }: CallSource): PlaceBetCall {
  return {
    method: message?.method ?? null,
    path: message?.originalPath ?? message?.path ?? null,
    headers: { ...message?.headers },
    address: message?.address ?? null,
    remainingMs: Math.max(0, Math.floor(deadline - performance.now())),
  }
}

async function answerOf(name: string, call: () => void | Promise<void>): Promise<Answer> {
  try {
    const answer: unknown = await call()
    if (answer === undefined) return 'granted'
  } catch (cause) {
    if (!isWalletRefusal(cause))
      throw new WalletError('HOOK_FAILED', `${name} threw; no changes were made`, { cause })
    const { errorCode, description } = cause
    return { errorCode, description }
  }
  // The hook returned an error or a boolean, perhaps instead of throwing: that must not authorise the bet.
  throw new WalletError(
    'HOOK_FAILED',
    `${name} must return undefined, or throw WalletRefusal to refuse; no changes were made`,
  )
}
