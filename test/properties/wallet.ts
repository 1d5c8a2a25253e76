/** The library over its memory store, with a PAM around it: players who come and go, a rule of the house, a line that breaks. */
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  type OutcomeEvent,
  recordSettlement,
  WalletError,
  type WalletOptions,
  type WalletOutcome,
  WalletRefusal,
  type WalletStore,
} from 'bet-wallet'
import { createMemoryStore, type MemoryStore } from 'bet-wallet/memory'
import type { Answer, Cents, Flaw, House, Line, Opening, Request, Step, Writing } from './model.js'

/** Reads decimal text as whole cents. What is no multiple of a cent has no business in these wallets. */
export function centsOf(text: string): Cents {
  const [, sign, whole, fraction = ''] = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? []
  if (whole === undefined || /[1-9]/.test(fraction.slice(2)))
    throw new Error(`"${text}" is not an amount of whole cents`)
  const cents = BigInt(whole) * 100n + BigInt(fraction.slice(0, 2).padEnd(2, '0'))
  return sign === '-' ? -cents : cents
}

/** Writes whole cents as decimal text, without zeros that mean nothing. */
export function decimalOf(cents: Cents): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  const text = `${digits.slice(0, -2)}.${digits.slice(-2)}`.replace(/\.?0+$/, '')
  return cents < 0n ? `-${text}` : text
}

function written(cents: Cents, writing: Writing): string | number {
  const text = decimalOf(cents)
  const fewDigits = text.replace('.', '').length <= 15
  if (writing === 'number' && fewDigits) return Number(text)
  if (writing === 'exponent') return `${cents}e-2`
  if (writing === 'with zeros') return text.includes('.') ? `${text}000` : `${text}.0000`
  return text
}

/** The body as the platform sends it. */
export function bodyOf(request: Request, flaw: Flaw = 'none', writing: Writing = 'text'): unknown {
  const { operation, ...fields } = request
  const body: Record<string, unknown> = { ...fields, transactionDate: '2026-11-21T10:00:00Z' }
  if ('amount' in request) body.amount = written(request.amount, writing)
  if (operation === 'placebet') {
    delete body.sessionEnded
    body.sessionId = request.sessionEnded ? 'ended' : 'session'
    body.betType = 'SINGLE'
  }
  if (flaw === 'transactionId missing') delete body.transactionId
  if (flaw === 'playerId with a NUL') body.playerId = `${request.playerId}\u0000`
  if (flaw === 'date without a day') body.transactionDate = '2026-11'
  return body
}

const handlers = {
  placebet: handlePlaceBet,
  unsettlement: handleUnsettlement,
  rollbackbet: handleRollbackBet,
  settlement: recordSettlement,
}

/** Who wants to hear of every outcome. */
export const listeners = new Set<(event: OutcomeEvent) => void>()

const base: WalletOptions = {
  rollbackTypes: ['TECHNICAL_ERROR', 'MANUAL'],
  authorizeBet({ sessionId }) {
    if (sessionId === 'ended') throw new WalletRefusal('INVALID_SESSION_TOKEN', 'sessionId: it has ended')
  },
  attemptsMax: 100,
  backOff: async () => {}, // nothing here depends on time
  onOutcome(event) {
    for (const listener of listeners) listener(event)
  },
}
const optionsOf = { true: { ...base }, false: { ...base, deductions: false } }

/** Sends one request. Faults are thrown. */
export function send(
  store: WalletStore,
  request: Request,
  house: House,
  sent: { flaw?: Flaw; writing?: Writing } = {},
): Promise<WalletOutcome> {
  return handlers[request.operation](
    store,
    bodyOf(request, sent.flaw, sent.writing),
    optionsOf[`${house.deductions}`],
  )
}

export interface Wallet {
  memory: MemoryStore
  store: WalletStore
  perform(step: Step): Promise<Heard>
  /** What other writers have put in and taken out. */
  external(playerId: string): Cents
}

/** What was answered: as the model sees it, and the wallet's reference of a success. */
export interface Heard {
  answer: Answer
  reference: string | null
}

export function openMemory(openings: readonly Opening[]): MemoryStore {
  return createMemoryStore(
    openings.map(({ playerId, currency, balance }) => ({ playerId, currency, balance: decimalOf(balance) })),
  )
}

/** @param around what stands between the library and the PAM's store */
export function openWallet(
  openings: readonly Opening[],
  house: House,
  around: (store: WalletStore) => WalletStore = store => store,
): Wallet {
  const memory = openMemory(openings)
  const gone = new Set(openings.filter(({ known }) => !known).map(({ playerId }) => playerId))
  const currencies = new Map<string, string>()
  const external = new Map<string, Cents>()
  let line: Line = 'up'

  const currencyOf = (playerId: string) => currencies.get(playerId) ?? memory.player(playerId)?.currency ?? ''

  const store = around({
    contract: 1,
    async load(keys) {
      if (line === 'load throws') throw new Error('the line broke')
      const known = !gone.has(keys.playerId)
      const currency = currencyOf(keys.playerId)
      const { player, bet, transaction } = await memory.load(keys)
      return { player: known && player ? { ...player, currency } : null, bet, transaction }
    },
    async commit(changes) {
      if (line === 'commit unavailable') return { status: 'unavailable' }
      if (line === 'breaks before commit') throw new Error('the line broke')
      const { transaction, balance } = changes
      if (balance !== null && centsOf(balance.delta) < -house.takenAtOnceMax) {
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
      if (line === 'breaks after commit' && result.status === 'committed') throw new Error('the line broke')
      return result
    },
  })

  async function perform(step: Step): Promise<Heard> {
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

  return { memory, store, perform, external: playerId => external.get(playerId) ?? 0n }
}

/** A deposit or a withdrawal by another writer; `false`: the funds do not cover it. */
export function moveExternally(
  memory: MemoryStore,
  { step, playerId, amount }: Step & { step: 'deposit' | 'withdraw' },
): boolean {
  try {
    memory[step](playerId, decimalOf(amount))
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

const heard = (answer: Answer): Heard => ({ answer, reference: null })

export function heardOf(outcome: WalletOutcome): Heard {
  if (!outcome.ok) {
    const { replayed, errorCode } = outcome
    return heard({ ok: false, replayed, errorCode })
  }
  const { replayed, balance, currency, walletTransactionId } = outcome
  return {
    answer: { ok: true, replayed, balance: centsOf(balance), currency },
    reference: walletTransactionId,
  }
}
