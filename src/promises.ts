/**
 * Checks what a store gives back against the contract, before it decides over money: a float, an
 * `undefined` or somebody else's record is a fault that names the field and the promise, never an answer.
 */
import { flawOfRefusal, WalletError } from './errors.js'
import { isDecimal, isNegative } from './money.js'
import type {
  CommitResult,
  Operation,
  SettlementType,
  WalletChanges,
  WalletKeys,
  WalletSnapshot,
  WalletStore,
} from './store.js'

type Fields = Record<string, unknown>

function broken(where: string, promise: string, found: unknown): never {
  const shown =
    typeof found === 'string'
      ? `the text ${JSON.stringify(found.slice(0, 60))}`
      : typeof found === 'number' || typeof found === 'bigint' || typeof found === 'boolean'
        ? `the ${typeof found} ${found}`
        : found === null || found === undefined
          ? String(found)
          : Array.isArray(found)
            ? 'an array'
            : `a value of type ${typeof found}`
  throw new WalletError(
    'STORE_CONTRACT',
    `The store breaks its contract: ${where} must be ${promise}, and is ${shown}`,
  )
}

function fields(where: string, value: unknown, promise: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  return broken(where, promise, value)
}

const record = (where: string, value: unknown) =>
  value === null ? null : fields(where, value, 'a record, or null where there is none')

function decimal(where: string, value: unknown): void {
  if (!isDecimal(value))
    broken(where, 'decimal text such as "100.50" (never a float, an exponent or "-0")', value)
}

/** What was staked, credited, reversed or is owed: below 0, it would turn what takes into what gives. */
function amount(where: string, value: unknown): void {
  decimal(where, value)
  if (isNegative(value as string)) broken(where, 'at least 0', value)
}

function decimalOrNull(where: string, value: unknown): void {
  if (value !== null && !isDecimal(value)) broken(where, 'decimal text such as "100.50", or null', value)
}

function text(where: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') broken(where, 'text that is not empty', value)
}

function textOrNull(where: string, value: unknown): void {
  if (value !== null && typeof value !== 'string') broken(where, 'text or null', value)
}

/** What a transaction of each operation has to compare (D3). */
const comparedOf: Record<Operation, { money: boolean; type: boolean }> = {
  placebet: { money: true, type: false },
  unsettlement: { money: false, type: true },
  rollbackbet: { money: false, type: true },
  settlement: { money: true, type: true },
}

function presence(where: string, value: unknown, has: boolean, operation: Operation): void {
  if ((value !== null) !== has) broken(where, `${has ? 'there' : 'null'} for a ${operation}`, value)
}

function theSame(where: string, value: unknown, asked: string): void {
  if (value !== asked) broken(where, `the very one that was asked for (${JSON.stringify(asked)})`, value)
}

/** @throws {WalletError} `STORE_CONTRACT` */
export function checkStore(store: WalletStore): void {
  const version = fields('the store', store, 'an object with load and commit').contract
  for (const method of ['load', 'commit'] as const) {
    if (typeof store[method] !== 'function') broken(method, 'a function', store[method])
  }
  if (version !== 1) broken('contract', '1, the version of the contract that this library speaks', version)
}

/** What `load` answered, once it is known to be what the contract says. @throws {WalletError} `STORE_CONTRACT` */
export function checkSnapshot(snapshot: WalletSnapshot, keys: WalletKeys): WalletSnapshot {
  const found = fields('load()', snapshot, 'a snapshot { player, bet, transaction }')

  const player = record('load().player', found.player)
  if (player !== null) {
    theSame('load().player.playerId', player.playerId, keys.playerId)
    text('load().player.currency', player.currency)
    decimal('load().player.balance', player.balance)
  }

  const bet = record('load().bet', found.bet)
  if (bet !== null) {
    theSame('load().bet.betId', bet.betId, keys.betId)
    text('load().bet.playerId', bet.playerId)
    text('load().bet.currency', bet.currency)
    amount('load().bet.stake', bet.stake)
    if (bet.status !== 'PLACED' && bet.status !== 'ROLLED_BACK') {
      broken('load().bet.status', 'PLACED or ROLLED_BACK', bet.status)
    }
    if (!Number.isSafeInteger(bet.revision) || (bet.revision as number) < 1) {
      broken('load().bet.revision', 'a whole number of at least 1', bet.revision)
    }
    checkCredits(bet.credits)
  }

  const transaction = record('load().transaction', found.transaction)
  if (transaction !== null) {
    theSame('load().transaction.operation', transaction.operation, keys.operation)
    theSame('load().transaction.transactionId', transaction.transactionId, keys.transactionId)
    text('load().transaction.playerId', transaction.playerId)
    text('load().transaction.betId', transaction.betId)
    // D3 compares them: one that its operation does not have would make every repeat a TRANSACTION_CONFLICT.
    const { money, type } = comparedOf[keys.operation]
    decimalOrNull('load().transaction.amount', transaction.amount)
    textOrNull('load().transaction.currency', transaction.currency)
    textOrNull('load().transaction.type', transaction.type)
    presence('load().transaction.amount', transaction.amount, money, keys.operation)
    presence('load().transaction.currency', transaction.currency, money, keys.operation)
    presence('load().transaction.type', transaction.type, type, keys.operation)
    decimal('load().transaction.delta', transaction.delta)
    textOrNull('load().transaction.walletTransactionId', transaction.walletTransactionId)
    const refusal = record('load().transaction.refusal', transaction.refusal)
    if (refusal !== null) {
      text('load().transaction.refusal.errorCode', refusal.errorCode)
      text('load().transaction.refusal.description', refusal.description)
    }
  }
  return snapshot
}

function checkCredits(value: unknown): void {
  const credits = fields('load().bet.credits', value, 'an object, empty where nothing was ever credited')
  for (const [type, value] of Object.entries(credits)) {
    const where = `load().bet.credits.${type}`
    if (!settlementTypes.includes(type)) broken(where, `of a type among ${settlementTypes.join(', ')}`, type)
    const credit = fields(where, value, 'a credit; the key is absent where nothing was ever credited')
    decimalOrNull(`${where}.live`, credit.live)
    if (credit.live !== null) amount(`${where}.live`, credit.live)
    amount(`${where}.reversed`, credit.reversed)
    amount(`${where}.owed`, credit.owed)
  }
}

const settlementTypes: readonly string[] = ['BET_PAID', 'VOIDED', 'CASHOUT'] satisfies SettlementType[]

/** What `commit` answered, once it is known to be what the contract says. @throws {WalletError} `STORE_CONTRACT` */
export function checkResult(result: CommitResult, changes: WalletChanges): CommitResult {
  const found = fields('commit()', result, 'a result { status, … }')
  switch (found.status) {
    case 'committed':
      decimal('commit().balance', found.balance)
      textOrNull('commit().walletTransactionId', found.walletTransactionId)
      return result
    case 'refused': {
      const flaw = flawOfRefusal(found.errorCode, found.description)
      if (flaw !== null) {
        throw new WalletError('STORE_CONTRACT', `The store breaks its contract: of commit(), ${flaw}`)
      }
      if (changes.balance === null || !changes.balance.delta.startsWith('-')) {
        throw new WalletError(
          'STORE_CONTRACT',
          `The store breaks its contract: commit() answered refused (${found.errorCode}) where no money is taken`,
        )
      }
      return result
    }
    case 'conflict':
    case 'unavailable':
      return result
    default:
      return broken('commit().status', 'committed, conflict, refused or unavailable', found.status)
  }
}
