/** The library over its memory store, with a PAM around it: players who come and go, a rule of the house, a line that breaks. */
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
  WalletPolicy,
} from '../../src/testing/model.js'
import {
  fromCents,
  type Heard,
  handlers,
  heardOf,
  platformOptions,
  requestBody,
  toCents,
} from '../../src/testing/platform.js'

/** As a column with four decimals shows it: the same amount by value (D3). */
function asColumn(text: string): string {
  const [whole, fraction = ''] = text.split('.')
  return `${whole}.${fraction.padEnd(4, '0')}`
}

/** Who wants to hear of every outcome. */
export const listeners = new Set<(event: OutcomeEvent) => void>()

const base: WalletOptions = {
  ...platformOptions,
  backOff: async () => {}, // nothing here depends on time
  onOutcome(event) {
    for (const listener of listeners) listener(event)
  },
}
const optionsOf = { true: { ...base }, false: { ...base, clawbacks: false } }

/** Sends one request. Faults are thrown. */
export function send(
  store: WalletStore,
  request: ModelRequest,
  house: WalletPolicy,
  sent: { flaw?: BodyDefect; writing?: AmountFormat } = {},
): Promise<WalletOutcome> {
  return handlers[request.operation](
    store,
    requestBody(request, sent.flaw, sent.writing),
    optionsOf[`${house.clawbacks}`],
  )
}

export interface Wallet {
  memory: MemoryStore
  store: WalletStore
  perform(step: HistoryStep): Promise<Heard>
  /** What other writers have put in and taken out. */
  external(playerId: string): Cents
  /** What was moved in a currency that was not the player's at that moment. */
  strays: Transaction[]
}

export function openMemory(openings: readonly InitialPlayer[]): MemoryStore {
  return createMemoryStore(
    openings.map(({ playerId, currency, balance }) => ({ playerId, currency, balance: fromCents(balance) })),
  )
}

/** @param around what stands between the library and the PAM's store */
export function openWallet(
  openings: readonly InitialPlayer[],
  house: WalletPolicy,
  around: (store: WalletStore) => WalletStore = store => store,
): Wallet {
  const memory = openMemory(openings)
  const gone = new Set(openings.filter(({ known }) => !known).map(({ playerId }) => playerId))
  const currencies = new Map<string, string>()
  const external = new Map<string, Cents>()
  const strays: Transaction[] = []
  let line: InjectedFault = 'up'

  const currencyOf = (playerId: string) => currencies.get(playerId) ?? memory.player(playerId)?.currency ?? ''

  const store = around({
    contractVersion: 1,
    async load(keys) {
      if (line === 'load throws') throw new Error('the line broke')
      const known = !gone.has(keys.playerId)
      const currency = currencyOf(keys.playerId)
      const { player, bet, transaction } = await memory.load(keys)
      return {
        player: known && player ? { ...player, currency, balance: asColumn(player.balance) } : null,
        bet: bet && { ...bet, stake: asColumn(bet.stake) },
        transaction: transaction && {
          ...transaction,
          amount: transaction.amount === null ? null : asColumn(transaction.amount),
        },
      }
    },
    async commit(changes) {
      if (line === 'commit unavailable') return { status: 'unavailable' }
      if (line === 'breaks before commit') throw new Error('the line broke')
      const { transaction, balance } = changes
      if (balance !== null && toCents(balance.delta) < -house.takenAtOnceMax) {
        return { status: 'refused', errorCode: 'LIMIT_OF_THE_HOUSE', description: 'too much at once' }
      }
      if (gone.has(transaction.playerId)) return { status: 'conflict' }
      // The memory store keeps the currency that a player was opened with: told in its words, it tests its guard.
      const own = memory.player(transaction.playerId)?.currency ?? ''
      const same = balance?.currency === currencyOf(transaction.playerId)
      const result = await memory.commit({
        ...changes,
        balance: balance && { ...balance, currency: same ? own : 'another currency' },
      })
      if (result.status === 'committed' && balance !== null && !same) strays.push(transaction)
      if (line === 'breaks after commit' && result.status === 'committed') throw new Error('the line broke')
      return result
    },
  })

  async function perform(step: HistoryStep): Promise<Heard> {
    switch (step.step) {
      case 'call':
        line = step.line
        try {
          return heardOf(await send(store, step.request, house, step))
        } catch (error) {
          if (error instanceof WalletError && error.code !== 'STORE_CONTRACT') return heard('fault')
          throw error
        }
      case 'deposit':
      case 'withdraw': {
        const done = moveExternally(memory, step)
        const amount = step.step === 'deposit' ? step.amount : -step.amount
        if (done) external.set(step.playerId, (external.get(step.playerId) ?? 0n) + amount)
        return heard(done ? 'done' : 'not done')
      }
      case 'change currency':
        currencies.set(step.playerId, step.currency)
        return heard('done')
      case 'leave':
        gone.add(step.playerId)
        return heard('done')
      case 'come':
        gone.delete(step.playerId)
        return heard('done')
    }
  }

  return { memory, store, perform, external: playerId => external.get(playerId) ?? 0n, strays }
}

/** A deposit or a withdrawal by another writer; `false`: the funds do not cover it. */
export function moveExternally(
  memory: MemoryStore,
  { step, playerId, amount }: HistoryStep & { step: 'deposit' | 'withdraw' },
): boolean {
  try {
    memory[step](playerId, fromCents(amount))
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

const heard = (answer: ModelAnswer): Heard => ({ answer, reference: null })
