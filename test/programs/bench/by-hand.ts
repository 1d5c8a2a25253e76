/**
 * The opponent of the stores: a wallet as an engineer writes it by hand. One database transaction per request,
 * the player's row locked, an idempotency table. It checks less than the library: a retry is not compared with
 * the first request.
 */

export interface HandWrittenRequest {
  transactionId: string
  betId: string
  playerId: string
  transactionDate: string
  amount?: number
  currency?: string
  type?: string
}

export type HandWrittenAnswer =
  | { balance: string; currency: string; walletTransactionId: string }
  | { errorCode: string }

export interface Account {
  balance: string
  currency: string
}

export interface StoredBet {
  status: string
  stake: string
  /** The live credit; `null`: there is none. */
  credit: string | null
  owed: string | null
}

export type Operation = 'placebet' | 'settlement' | 'unsettlement' | 'rollbackbet'

/** What is recorded of a request. */
export interface Recorded {
  operation: Operation
  request: HandWrittenRequest
  delta: number
  errorCode: string | null
}

/** The prepared statements of one database transaction. */
export interface Statements {
  find(operation: Operation, transactionId: string): Promise<{ id: string; errorCode: string | null } | null>
  account(playerId: string): Promise<Account | null>
  lock(playerId: string): Promise<Account | null>
  bet(betId: string): Promise<StoredBet | null>
  /** @returns `false`: there is such a bet */
  insertBet(request: HandWrittenRequest, currency: string, status: string): Promise<boolean>
  changeBet(betId: string, changed: Omit<StoredBet, 'stake'>): Promise<void>
  /** @returns the id */
  record(recorded: Recorded): Promise<string>
  /** @returns the new balance */
  changeBalance(playerId: string, delta: number): Promise<string>
  /** A write that changes nothing: the COMMIT proves that the server is the primary. */
  prove(): Promise<void>
}

/** Between BEGIN and COMMIT; ROLLBACK when it throws. */
export type InTransaction = <T>(work: (statements: Statements) => Promise<T>) => Promise<T>

/** What a request does once its player is locked. */
type Rule = (
  statements: Statements,
  request: HandWrittenRequest,
  account: Account,
) => Promise<{ delta: number; errorCode: string | null; isRecorded: boolean }>

const changed = (delta: number) => ({ delta, errorCode: null, isRecorded: true })
const refused = (errorCode: string, isRecorded: boolean) => ({ delta: 0, errorCode, isRecorded })

const rules: Record<Operation, Rule> = {
  async placebet(statements, request, account) {
    const { amount = 0, currency } = request
    if (account.currency !== currency) return refused('INVALID_CURRENCY', true)
    if (Number(account.balance) < amount) return refused('INSUFFICIENT_FUNDS', true)
    const isNew = await statements.insertBet(request, currency, 'PLACED')
    return isNew ? changed(-amount) : refused('INVALID_BET', true)
  },

  async settlement(statements, { betId, amount = 0 }) {
    const bet = await statements.bet(betId)
    if (bet?.status !== 'PLACED') return refused('INVALID_BET', false)
    await statements.changeBet(betId, { ...bet, credit: String(Number(bet.credit) + amount) })
    return changed(amount)
  },

  async unsettlement(statements, { betId }, account) {
    const bet = await statements.bet(betId)
    if (bet?.status !== 'PLACED') return refused('INVALID_BET', false)
    if (bet.credit === null) return refused('SETTLEMENT_NOT_FOUND', false)
    const isCovered = Number(account.balance) >= Number(bet.credit)
    await statements.changeBet(betId, { ...bet, credit: null, owed: isCovered ? bet.owed : bet.credit })
    return isCovered ? changed(-bet.credit) : refused('INSUFFICIENT_FUNDS', true)
  },

  async rollbackbet(statements, request, account) {
    const { betId } = request
    const bet = await statements.bet(betId)
    if (bet === null) {
      await statements.insertBet({ ...request, amount: 0 }, account.currency, 'ROLLED_BACK')
      return changed(0)
    }
    if (bet.status === 'ROLLED_BACK') return changed(0)
    if (bet.credit !== null || bet.owed !== null) return refused('INVALID_BET', false)
    await statements.changeBet(betId, { ...bet, status: 'ROLLED_BACK' })
    return changed(Number(bet.stake))
  },
}

export function answerByHand(
  inTransaction: InTransaction,
  operation: Operation,
  request: HandWrittenRequest,
): Promise<HandWrittenAnswer> {
  const { transactionId, playerId } = request
  return inTransaction(async (statements): Promise<HandWrittenAnswer> => {
    const known = await statements.find(operation, transactionId)
    if (known !== null) {
      const account = await statements.account(playerId)
      await statements.prove()
      if (known.errorCode !== null) return { errorCode: known.errorCode }
      return account === null
        ? { errorCode: 'INVALID_PLAYER' }
        : { ...account, walletTransactionId: known.id }
    }
    const account = await statements.lock(playerId)
    const { delta, errorCode, isRecorded } =
      account === null
        ? refused('INVALID_PLAYER', false)
        : await rules[operation](statements, request, account)
    if (!isRecorded || account === null) {
      await statements.prove()
      return { errorCode: errorCode ?? '' }
    }
    const walletTransactionId = await statements.record({ operation, request, delta, errorCode })
    if (errorCode !== null) return { errorCode }
    const balance = delta === 0 ? account.balance : await statements.changeBalance(playerId, delta)
    return { balance, currency: account.currency, walletTransactionId }
  })
}
