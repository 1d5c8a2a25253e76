/**
 * The library over its memory store, with a simulated PAM around it: removed players, a debit limit, injected
 * faults.
 */
import {
  type OutcomeEvent,
  type Transaction,
  WalletError,
  type WalletOptions,
  type WalletOutcome,
  type WalletStore,
} from 'bet-wallet'
import { createMemoryStore, type MemoryStore } from 'bet-wallet/memory'
import type {
  AmountFormat,
  BodyDefect,
  Cents,
  HistoryStep,
  InitialPlayer,
  InjectedFault,
  ModelAnswer,
  ModelRequest,
  SessionHook,
  WalletPolicy,
} from '../../src/testing/model.js'
import {
  fromCents,
  handlers,
  type Observed,
  observe,
  platformOptions,
  requestBody,
  toCents,
} from '../../src/testing/platform.js'

/** Formats an amount with four decimals, as a column does: the same value (D3). */
function withFourDecimals(text: string): string {
  const [whole, fraction = ''] = text.split('.')
  return `${whole}.${fraction.padEnd(4, '0')}`
}

/** Listeners for every outcome. */
export const listeners = new Set<(event: OutcomeEvent) => void>()

const optionsOf = (hook: SessionHook, clawbacks: boolean): WalletOptions => ({
  ...platformOptions(hook),
  backOff: async () => {}, // nothing here depends on time
  onOutcome(event) {
    for (const listener of listeners) listener(event)
  },
  ...(clawbacks ? {} : { clawbacks }),
})
const bothWays = (clawbacks: boolean): Record<SessionHook, WalletOptions> => ({
  none: optionsOf('none', clawbacks),
  authorizeRequest: optionsOf('authorizeRequest', clawbacks),
  authorizeBet: optionsOf('authorizeBet', clawbacks),
})
// Not per call: the library reads the options of the same object once.
const options = { true: bothWays(true), false: bothWays(false) }

/** Sends one request. Faults are thrown. */
export function send(
  store: WalletStore,
  request: ModelRequest,
  policy: WalletPolicy,
  of: { defect?: BodyDefect; format?: AmountFormat; hook?: SessionHook } = {},
): Promise<WalletOutcome> {
  return handlers[request.operation](
    store,
    requestBody(request, of.defect, of.format),
    options[`${policy.clawbacks}`][of.hook ?? 'authorizeBet'],
  )
}

export interface Wallet {
  memory: MemoryStore
  store: WalletStore
  perform(step: HistoryStep): Promise<Observed>
  /** Returns external deposits less external withdrawals. */
  external(playerId: string): Cents
  /** Transactions that changed the balance in a currency other than the player's at that moment. */
  wrongCurrency: Transaction[]
}

export function openMemory(players: readonly InitialPlayer[]): MemoryStore {
  return createMemoryStore(
    players.map(({ playerId, currency, balance }) => ({ playerId, currency, balance: fromCents(balance) })),
  )
}

/** @param wrap wraps the store between the library and the PAM */
export function openWallet(
  players: readonly InitialPlayer[],
  policy: WalletPolicy,
  wrap: (store: WalletStore) => WalletStore = store => store,
): Wallet {
  const memory = openMemory(players)
  const removed = new Set(players.filter(({ known }) => !known).map(({ playerId }) => playerId))
  const currencies = new Map<string, string>()
  const external = new Map<string, Cents>()
  const wrongCurrency: Transaction[] = []
  let fault: InjectedFault = 'none'

  const currencyOf = (playerId: string) =>
    currencies.get(playerId) ?? memory.account(playerId)?.currency ?? ''

  const store = wrap({
    contractVersion: 2,
    async load(keys) {
      if (fault === 'load-throws') throw new Error('Injected fault')
      const known = !removed.has(keys.playerId)
      const currency = currencyOf(keys.playerId)
      const { accounts, bet, transaction } = await memory.load(keys)
      return {
        accounts: known
          ? accounts.map(account => ({ ...account, currency, balance: withFourDecimals(account.balance) }))
          : [],
        bet: bet && { ...bet, stake: withFourDecimals(bet.stake) },
        transaction: transaction && {
          ...transaction,
          amount: transaction.amount === null ? null : withFourDecimals(transaction.amount),
        },
      }
    },
    async commit(changes) {
      if (fault === 'commit-unavailable') return { status: 'unavailable' }
      if (fault === 'lost-before-commit') throw new Error('Injected fault')
      const { transaction, account } = changes
      if (toCents(account.delta) < -policy.debitMax) {
        return {
          status: 'refused',
          errorCode: 'DEBIT_LIMIT_EXCEEDED',
          description: 'amount: above the limit',
        }
      }
      if (removed.has(transaction.playerId)) return { status: 'conflict' }
      // The memory store keeps a player's initial currency: translate, so that its own guard decides.
      const own = memory.account(transaction.playerId)?.currency ?? ''
      const same = account.currency === currencyOf(transaction.playerId)
      const result = await memory.commit({
        ...changes,
        account: { ...account, currency: same ? own : 'another currency' },
      })
      if (result.status === 'committed' && account.delta !== '0' && !same) wrongCurrency.push(transaction)
      if (fault === 'lost-after-commit' && result.status === 'committed') throw new Error('Injected fault')
      return result
    },
  })

  async function perform(step: HistoryStep): Promise<Observed> {
    switch (step.step) {
      case 'call':
        fault = step.fault
        try {
          return observe(await send(store, step.request, policy, step))
        } catch (error) {
          if (error instanceof WalletError && error.code !== 'STORE_CONTRACT') return observed('fault')
          throw error
        }
      case 'deposit':
      case 'withdraw': {
        const done = moveExternally(memory, step)
        const amount = step.step === 'deposit' ? step.amount : -step.amount
        if (done) external.set(step.playerId, (external.get(step.playerId) ?? 0n) + amount)
        return observed(done ? 'done' : 'not-done')
      }
      case 'change-currency':
        currencies.set(step.playerId, step.currency)
        return observed('done')
      case 'remove-player':
        removed.add(step.playerId)
        return observed('done')
      case 'restore-player':
        removed.delete(step.playerId)
        return observed('done')
    }
  }

  return { memory, store, perform, external: playerId => external.get(playerId) ?? 0n, wrongCurrency }
}

/** An external deposit or withdrawal. `false`: the funds do not cover it. */
export function moveExternally(
  memory: MemoryStore,
  { step, playerId, amount, currency }: HistoryStep & { step: 'deposit' | 'withdraw' },
): boolean {
  try {
    memory[step](playerId, fromCents(amount), currency)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

const observed = (answer: ModelAnswer): Observed => ({ answer, walletTransactionId: null })
