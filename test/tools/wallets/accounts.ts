/** Wallets with one account per player and currency (D28), with one defect each. */
import type { HttpResponse } from '../../../src/http/index.js'
import type { WalletStore } from '../../../src/index.js'
import type { MemoryStore } from '../../../src/stores/memory.js'
import { answer, roundTrip, storeWith } from './broken-wallet.js'
import type { Breakage, Call } from './library.js'

/** Balances and minor units differ; the home account is not the first by code. */
export const accountsOf = (playerId: string) => [
  { playerId, currency: 'EUR', balance: '9000.00' },
  { playerId, currency: 'JPY', balance: '50000' },
]
/** The cases that need the option `accounts`. */
export const isOfAccounts = (id: string) => /^AU-9(?:5\d|60)$/.test(id)
export const home = 'JPY'
export const withHome = { defaultCurrency: home }

type Commit = WalletStore['commit']
type Changes = Parameters<Commit>[0]
type Load = WalletStore['load']

const otherThan = (currency: string) => (currency === home ? 'EUR' : home)
const inAccount = (changes: Changes, currency: string): Changes => ({
  ...changes,
  account: { ...changes.account, currency },
})
const balanceOf = (memory: MemoryStore, { transaction }: Changes, currency: string) =>
  memory.account(transaction.playerId, currency)?.balance ?? '0'
const isDebit = ({ account }: Changes) => account.delta.startsWith('-')

const broken = (commit: (memory: MemoryStore) => Commit, load?: (memory: MemoryStore) => Load): Breakage => ({
  store: memory => storeWith(memory, commit(memory), load?.(memory)),
})

/** Commits of these operations change the home account. */
const atHome = (...operations: string[]): Breakage =>
  broken(
    memory => async changes =>
      memory.commit(
        operations.includes(changes.transaction.operation) && changes.account.delta !== '0'
          ? inAccount(changes, home)
          : changes,
      ),
  )

const calling = (call: (call: Call) => Promise<HttpResponse>): Breakage => ({ call })
const replaced = ({ text, body }: Call, field: string, value: string) =>
  text.replace(`"${field}":"${body[field]}"`, `"${field}":"${value}"`)

const isOf = ({ operation, body }: Call, ...operations: string[]) =>
  operations.includes(operation) && /^(?:EUR|JPY)$/.test(body.currency ?? '')

/** Writes to the account of the first of the commits that meet. */
function addsConcurrent(): Breakage {
  const writing: string[] = []
  return broken(memory => async changes => {
    writing.push(changes.account.currency)
    await roundTrip()
    const result = await memory.commit(inAccount(changes, writing[0] as string))
    if (writing.length > 0) writing.pop()
    return result
  })
}

function coversClawbacks(): Breakage {
  return broken(
    memory => async changes => {
      const { account, transaction } = changes
      const lacks = -Number(account.delta) - Number(balanceOf(memory, changes, account.currency))
      if (transaction.operation === 'unsettlement' && lacks > 0) {
        memory.withdraw(transaction.playerId, String(Math.ceil(lacks)), otherThan(account.currency))
        memory.deposit(transaction.playerId, String(Math.ceil(lacks)), account.currency)
      }
      return memory.commit(changes)
    },
    memory => async keys => {
      const snapshot = await memory.load(keys)
      if (keys.operation !== 'unsettlement') return snapshot
      return { ...snapshot, accounts: snapshot.accounts.map(each => ({ ...each, balance: '1000000' })) }
    },
  )
}

/** By the currency of the first placebet of a bet. */
function idsPerAccount(): Breakage {
  const currencies = new Map<string, string>()
  return calling(async call => {
    const { betId = '', currency = '' } = call.body
    if (!isOf(call, 'placebet')) return call.next()
    const first = currencies.get(betId) ?? currency
    currencies.set(betId, first)
    if (first === currency) return call.next()
    const text = replaced(call, 'betId', `${betId}-${currency}`)
    return call.next(replaced({ ...call, text }, 'transactionId', `${call.body.transactionId}-${currency}`))
  })
}

export interface AccountsWallet {
  breakage(): Breakage
  /** The cases that find it, by number; the first one is that of the first finding. */
  found: readonly number[]
}

export const brokenAccounts: Record<string, AccountsWallet> = {
  'ignores the currency': {
    breakage: () =>
      calling(async call =>
        call.next(isOf(call, 'placebet', 'settlement') ? replaced(call, 'currency', home) : call.text),
      ),
    found: [951],
  },
  'debits the wrong account, and answers as if it were the right one': {
    breakage: () =>
      broken(memory => async changes => {
        const { currency } = changes.account
        const result = await memory.commit(
          isDebit(changes) ? inAccount(changes, otherThan(currency)) : changes,
        )
        if (result.status !== 'committed' || !isDebit(changes)) return result
        const balance = Number(balanceOf(memory, changes, currency)) + Number(changes.account.delta)
        return { ...result, balance: balance.toFixed(currency === 'EUR' ? 2 : 0) }
      }),
    found: [951],
  },
  'answers the balance of another account': {
    breakage: () =>
      broken(memory => async changes => {
        const result = await memory.commit(changes)
        if (result.status !== 'committed' || changes.transaction.operation !== 'placebet') return result
        return { ...result, balance: balanceOf(memory, changes, otherThan(changes.account.currency)) }
      }),
    found: [951],
  },
  'records INVALID_CURRENCY for a player with funds': {
    breakage: () =>
      broken(
        memory => async changes =>
          changes.account.currency === home ? memory.commit(changes) : { status: 'conflict' },
        memory => async keys => {
          const snapshot = await memory.load(keys)
          return {
            ...snapshot,
            accounts: snapshot.accounts.filter(({ currency }) => currency === home),
          }
        },
      ),
    found: [951],
  },
  'credits rollbacks to the home account': { breakage: () => atHome('rollbackbet'), found: [952] },
  'adds euros to yen': {
    breakage: () =>
      broken(memory => async changes => {
        const { account } = changes
        const sum = memory
          .accounts(changes.transaction.playerId)
          .reduce((total, { balance }) => total + Number(balance), Number(account.delta))
        const floor = changes.transaction.operation === 'placebet' && sum >= 0 ? null : account.floor
        return memory.commit({ ...changes, account: { ...account, floor } })
      }),
    found: [953],
  },
  'takes a currency without account for that of the home account': {
    breakage: () =>
      calling(async call =>
        call.next(
          call.operation === 'placebet' &&
            /^[A-Z]{3}$/.test(call.body.currency ?? '') &&
            !isOf(call, 'placebet')
            ? replaced(call, 'currency', 'EUR')
            : call.text,
        ),
      ),
    found: [954],
  },
  'keeps tombstones in the currency of the home account': {
    breakage: () =>
      calling(async call => {
        const { betId = '', currency } = call.body
        const isBlocked =
          call.memory.bet(betId)?.revision === 1 && call.memory.bet(betId)?.status === 'ROLLED_BACK'
        if (!isOf(call, 'placebet') || !isBlocked || currency === home) return call.next()
        return call.next(replaced(call, 'betId', `${betId}-${currency}`))
      }),
    found: [955],
  },
  'keeps ids per account': { breakage: idsPerAccount, found: [956] },
  'credits settlements to the home account': { breakage: () => atHome('settlement'), found: [957] },
  'credits a settlement in its own currency, whatever that of the bet': {
    breakage: () =>
      calling(async call => {
        const { betId = '', playerId = '', amount = '0', currency } = call.body
        const bet = call.memory.bet(betId)
        if (!isOf(call, 'settlement') || bet === null || bet.currency === currency) return call.next()
        call.memory.deposit(playerId, amount, currency)
        return answer(200, {})
      }),
    found: [958],
  },
  'covers a clawback from another account': { breakage: coversClawbacks, found: [959] },
  'writes concurrent changes of two accounts to one': { breakage: addsConcurrent, found: [960] },
}
