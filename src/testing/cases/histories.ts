/** Random histories against the model, and schedules of what happens at once; shrunk to the shortest story. */
import fc from 'fast-check'
import { WalletError } from '../../errors.js'
import type { Operation, WalletStore } from '../../store.js'
import { concurrentBurst, history, initialPlayers, permissivePolicy } from '../arbitraries.js'
import { type CommitFault, faultyStore } from '../faulty-store.js'
import type { StoreHarness } from '../harness.js'
import { sameAnswer, sameBetSaid, someOrderGives, tellBet } from '../judge.js'
import { type Cents, type HistoryStep, Model, type ModelAnswer, type ModelRequest } from '../model.js'
import {
  fromCents,
  type Heard,
  handlers,
  heardOf,
  platformOptions,
  requestBody,
  toCents,
} from '../platform.js'
import type { Stage, Wallet } from '../stage.js'
import { CaseFailed, shown } from '../story.js'
import type { CaseDefinition } from './case.js'

export const historyCases: readonly CaseDefinition[] = [
  {
    id: 'WS-95',
    level: 'MUST',
    name: 'Random histories are answered as the model answers them, and leave what it leaves',
    async play(stage: Stage) {
      const tables = new Tables(stage)
      await everyRun(stage, fc.tuple(history), async ([steps]) => {
        await playHistory(stage, await tables.next(), steps)
      })
    },
  },
  {
    id: 'WS-96',
    level: 'MUST',
    name: 'Random histories go on after a crash as if nothing had happened',
    needs: ['crash'],
    async play(stage: Stage) {
      const tables = new Tables(stage)
      await everyRun(stage, fc.tuple(history, fc.nat(12)), async ([steps, crashAt]) => {
        await playHistory(stage, await tables.next(), steps, async (table, index) => {
          if (index === crashAt) await table.crash()
        })
      })
    },
  },
  {
    id: 'WS-97',
    level: 'MUST',
    name: 'Requests at once are answered as in some order one after the other, whatever the schedule',
    async play(stage: Stage) {
      const tables = new Tables(stage)
      await everyRun(
        stage,
        fc.tuple(fc.scheduler(), concurrentBurst),
        async ([scheduler, { before, atOnce }]) => {
          const table = await tables.next()
          const model = new Model(initialPlayers, permissivePolicy)
          for (const step of playable(stage, before)) {
            await table.perform(step)
            model.perform(step)
          }
          const steps = playable(stage, atOnce).map(withoutLine)
          const turns = inTurns(scheduler, table.wallet.store)
          const heard = await scheduler.waitFor(
            Promise.all(steps.map(step => table.perform(step, turns.store, turns.turn))),
          )
          const answered = steps.map((step, index) => ({ step, answer: heard[index]?.answer ?? 'fault' }))
          const end = await table.end()
          stage.check(
            someOrderGives(
              model,
              answered,
              (_step, expected, answer) => sameAnswer(_step, expected, answer),
              one => sameEnd(one, end),
            ),
            'the answers and the end of some order, one after the other',
            answered.map(({ answer }) => shownAnswer(answer)).join('; '),
          )
          await table.expectMoneyToAddUp([...before, ...atOnce])
        },
      )
    },
  },
  {
    id: 'WS-98',
    level: 'MUST',
    name: 'Lost answers and late commits lose and double no money, after the platform’s retries and rollbacks',
    async play(stage: Stage) {
      const tables = new Tables(stage)
      const breaks = fc.array(fc.option(fc.constantFrom<CommitFault>('before', 'after', 'late')), {
        maxLength: 6,
      })
      const runs = fc.tuple(fc.scheduler(), concurrentBurst, breaks, fc.boolean())
      await everyRun(stage, runs, async ([scheduler, { before, atOnce }, breaksOfCommits, landFirst]) => {
        const table = await tables.next()
        for (const step of playable(stage, before)) await table.perform(step)
        const steps = playable(stage, atOnce).map(withoutLine)
        const turns = inTurns(scheduler, table.wallet.store)
        const line = faultyStore(turns.store, breaksOfCommits)
        const heard = await scheduler.waitFor(
          Promise.all(steps.map(step => table.perform(step, line, turns.turn))),
        )

        // The platform rolls back the bets it did not hear of, and tries again what it must; meanwhile commits land.
        line.clearFaults()
        if (landFirst) await scheduler.waitFor(line.deliverDelayed())
        const final: { request: ModelRequest; answer: ModelAnswer }[] = []
        for (const [index, step] of steps.entries()) {
          if (step.step !== 'call') continue
          const { request } = step
          const answer = heard[index]?.answer ?? 'fault'
          if (answer !== 'fault') final.push({ request, answer })
          else if (request.operation === 'placebet') await scheduler.waitFor(table.rollBack(line, request))
          else {
            const again = await scheduler.waitFor(table.perform({ ...step, line: 'up' }, line, turns.turn))
            final.push({ request, answer: again.answer })
          }
        }
        await scheduler.waitFor(line.deliverDelayed())

        for (const { request, answer } of final) await table.expectRecord(request, answer)
        await table.expectMoneyToAddUp([...before, ...atOnce])
      })
    },
  },
]

/** Plays a property, and tells the story of the smallest run that breaks it. */
async function everyRun<T>(
  stage: Stage,
  arbitrary: fc.Arbitrary<T>,
  run: (value: T) => Promise<void>,
): Promise<void> {
  const { seed, runs: numRuns } = stage.options
  const property = fc.asyncProperty(arbitrary, async value => {
    try {
      await run(value)
    } catch (error) {
      if (error instanceof CaseFailed) throw error
      stage.check(false, 'no fault', error) // with the steps that led there
    }
  })
  const { failed, errorInstance } = await fc.check(property, { seed, numRuns })
  if (failed) throw errorInstance
}

/** Every run has players, bets and transactions of its own; many of them share a store, since opening one may be slow. */
class Tables {
  private readonly stage: Stage
  private wallet: Wallet | null = null
  private count = 0

  constructor(stage: Stage) {
    this.stage = stage
  }

  async next(): Promise<Table> {
    const { stage } = this
    if (this.wallet === null || this.count % tablesPerStore === 0) {
      await stage.closeAll()
      const first = this.count
      const players = Array.from({ length: tablesPerStore }, (_, offset) =>
        initialPlayers
          .filter(({ known }) => known)
          .map(({ playerId, currency, balance }) => ({
            playerId: renamed(playerId, first + offset),
            currency,
            balance: fromCents(balance),
          })),
      )
      this.wallet = await stage.open(players.flat())
    }
    this.count += 1
    const { wallet } = this
    const known = initialPlayers.filter(one => one.known)
    stage.story.restart()
    stage.story.tell(
      'kit',
      known
        .map(({ playerId, currency, balance }) => `${playerId} has ${fromCents(balance)} ${currency}`)
        .join(', '),
    )
    return new Table(stage, wallet, this.count - 1, crashed => {
      this.wallet = crashed
    })
  }
}

const tablesPerStore = 50

const renamed = (id: string, table: number) => `${id}~${table}`

type Turn = <T>(label: string, action: () => Promise<T>) => Promise<T>

class Table {
  wallet: Wallet
  private readonly stage: Stage
  private readonly number: number
  private readonly onCrash: (wallet: Wallet) => void
  private readonly moved = new Map<string, Cents>()

  constructor(stage: Stage, wallet: Wallet, number: number, onCrash: (wallet: Wallet) => void) {
    this.stage = stage
    this.wallet = wallet
    this.number = number
    this.onCrash = onCrash
  }

  /** Performs a step with the ids of this table. What the line does, it does to this step alone. */
  async perform(
    step: HistoryStep,
    store: WalletStore = this.wallet.store,
    turn: Turn = atOnce,
  ): Promise<Heard> {
    if (step.step === 'deposit' || step.step === 'withdraw') {
      return turn(`${step.step} ${step.playerId}`, () => this.deposit(step))
    }
    if (step.step !== 'call') return { answer: 'done', reference: null }
    const { line: lineOfStep, request } = step
    const line = faultyStore(store, [breakOf[lineOfStep] ?? null])
    const body = requestBody(this.own(request), step.flaw, step.writing)
    const subject = `${request.operation} ${request.transactionId}, ${request.betId}`
    const ended = this.stage.story.ask('platform', shownRequest(request), subject)
    try {
      const heard = heardOf(await handlers[request.operation](line, body, platformOptions))
      ended(shownAnswer(heard.answer))
      return heard
    } catch (error) {
      ended(`fault ${shown(error)}`)
      if (error instanceof WalletError && error.code !== 'STORE_CONTRACT')
        return { answer: 'fault', reference: null }
      throw error
    }
  }

  async rollBack(store: WalletStore, { transactionId, betId, playerId }: ModelRequest): Promise<void> {
    const ids = { transactionId: `${transactionId}-undone`, betId, playerId }
    const request: ModelRequest = { operation: 'rollbackbet', ...ids, type: 'TECHNICAL_ERROR' }
    await this.perform({ step: 'call', request, flaw: 'none', line: 'up', writing: 'text' }, store)
  }

  async crash(): Promise<void> {
    this.wallet = await this.wallet.through('crash')
    this.onCrash(this.wallet)
  }

  /** Balances and bets, in the words of the model. */
  async end(): Promise<End> {
    const balances = new Map<string, Cents>()
    for (const { playerId, known } of initialPlayers) {
      if (known) balances.set(playerId, toCents(await this.wallet.balance(renamed(playerId, this.number))))
    }
    const bets = new Map<string, ReturnType<typeof tellBet>>()
    for (const betId of betIds) {
      const bet = tellBet(await this.wallet.bet(renamed(betId, this.number)))
      bets.set(betId, bet && { ...bet, playerId: bet.playerId.replace(/~\d+$/, '') })
    }
    return { balances, bets }
  }

  /** What was answered definitely is what is recorded. */
  async expectRecord(request: ModelRequest, answer: ModelAnswer): Promise<void> {
    const record = await this.recorded(request)
    const told = `${shownRequest(request)}, answered ${shownAnswer(answer)}`
    if (typeof answer === 'string') return this.stage.check(false, `a definite answer to ${told}`, answer)
    if (answer.ok) {
      this.stage.check(record !== null && record.refusal === null, `a recorded success of ${told}`, record)
    } else if (sticks(request, answer.errorCode)) {
      this.stage.check(
        record?.refusal?.errorCode === answer.errorCode,
        `a recorded refusal of ${told}`,
        record,
      )
    }
  }

  /** By those who know no rules: nothing below zero, opening + movements = balance, an undone bet nets to zero. */
  async expectMoneyToAddUp(steps: readonly HistoryStep[]): Promise<void> {
    const requests = new Map<string, ModelRequest>()
    for (const step of steps) {
      if (step.step !== 'call') continue
      const { request } = step
      requests.set(`${request.operation} ${request.transactionId}`, request)
      const undone = {
        ...request,
        operation: 'rollbackbet',
        transactionId: `${request.transactionId}-undone`,
      }
      requests.set(`rollbackbet ${undone.transactionId}`, undone as ModelRequest)
    }
    const sums = new Map<string, Cents>()
    const stakes = new Map<string, Cents>()
    for (const request of requests.values()) {
      const record = await this.recorded(request)
      if (record === null) continue
      const delta = toCents(record.delta)
      sums.set(record.playerId, (sums.get(record.playerId) ?? 0n) + delta)
      if (record.operation !== 'placebet' && record.operation !== 'rollbackbet') continue
      stakes.set(record.betId, (stakes.get(record.betId) ?? 0n) + delta)
    }
    const { balances } = await this.end()
    for (const { playerId, balance: opening } of initialPlayers) {
      const balance = balances.get(playerId)
      if (balance === undefined) continue
      const sum =
        opening + (this.moved.get(playerId) ?? 0n) + (sums.get(renamed(playerId, this.number)) ?? 0n)
      this.stage.check(
        balance === sum && balance >= 0n,
        `${playerId} to have ${fromCents(sum)}: the opening balance and every recorded movement`,
        fromCents(balance),
      )
    }
    for (const [betId, sum] of stakes) {
      const bet = await this.wallet.bet(betId)
      if (bet?.status !== 'ROLLED_BACK') continue
      this.stage.check(sum === 0n, `stake and rollback of ${betId} to net to zero`, fromCents(sum))
    }
  }

  private recorded({ operation, transactionId }: { operation: Operation; transactionId: string }) {
    return this.wallet.transaction(operation, renamed(transactionId, this.number))
  }

  private async deposit({
    step,
    playerId,
    amount,
  }: HistoryStep & { step: 'deposit' | 'withdraw' }): Promise<Heard> {
    const id = renamed(playerId, this.number)
    // A PAM does not pay out what is not there; nobody else writes meanwhile.
    if (step === 'withdraw' && toCents(await this.wallet.balance(id)) < amount) {
      return { answer: 'not done', reference: null }
    }
    const delta = step === 'deposit' ? amount : -amount
    this.stage.story.tell(
      'PAM',
      `${step === 'deposit' ? 'deposits' : 'withdraws'} ${fromCents(amount)} for ${playerId}`,
    )
    await this.stage.harness.depositExternally?.(this.wallet.opened, id, fromCents(delta))
    this.moved.set(playerId, (this.moved.get(playerId) ?? 0n) + delta)
    return { answer: 'done', reference: null }
  }

  private own<R extends ModelRequest>(request: R): R {
    const { transactionId, betId, playerId } = request
    return {
      ...request,
      transactionId: renamed(transactionId, this.number),
      betId: renamed(betId, this.number),
      playerId: renamed(playerId, this.number),
    }
  }
}

/** D6, D7: no other refusal is recorded (D8). */
function sticks({ operation }: ModelRequest, errorCode: string): boolean {
  if (operation === 'unsettlement') return errorCode === 'INSUFFICIENT_FUNDS'
  const forgotten = ['INVALID_PLAYER', 'INVALID_REQUEST', 'TRANSACTION_CONFLICT']
  return operation === 'placebet' && !forgotten.includes(errorCode)
}

const betIds = ['b1', 'b2', 'b3', 'b4', 'b5']

interface End {
  balances: ReadonlyMap<string, Cents>
  bets: ReadonlyMap<string, ReturnType<Model['bet']>>
}

const breakOf: Partial<Record<(HistoryStep & { step: 'call' })['line'], CommitFault>> = {
  'breaks before commit': 'before',
  'breaks after commit': 'after',
}

const atOnce: Turn = (_label, action) => action()

/** One after the other, against the model: every answer, and what it left of the player and the bet. */
async function playHistory(
  stage: Stage,
  table: Table,
  steps: readonly HistoryStep[],
  beforeStep: (table: Table, index: number) => Promise<void> = async () => {},
): Promise<void> {
  const model = new Model(initialPlayers, permissivePolicy)
  const references = new Map<string, string | null>()
  for (const [index, step] of playable(stage, steps).entries()) {
    await beforeStep(table, index)
    const { answer, reference } = await table.perform(step)
    const expected = model.perform(step)
    stage.check(sameAnswer(step, expected, answer), shownAnswer(expected), shownAnswer(answer))
    if (step.step === 'call' && typeof answer !== 'string' && answer.ok) {
      const key = `${step.request.operation} ${step.request.transactionId}`
      const first = references.get(key) ?? reference
      stage.check(first === reference, `the walletTransactionId of the first answer, ${first}`, reference)
      references.set(key, reference)
    }
  }
  const end = await table.end()
  stage.check(sameEnd(model, end), `the end ${shownEnd(endOf(model))}`, shownEnd(end))
}

function endOf(model: Model): End {
  const known = initialPlayers.filter(one => one.known)
  return {
    balances: new Map(known.map(({ playerId }) => [playerId, model.balance(playerId)])),
    bets: new Map(betIds.map(betId => [betId, model.bet(betId)])),
  }
}

function sameEnd(model: Model, { balances, bets }: End): boolean {
  return (
    [...balances].every(([playerId, balance]) => model.balance(playerId) === balance) &&
    [...bets].every(([betId, bet]) => sameBetSaid(model.bet(betId), bet))
  )
}

/** What this harness can play: other writers only with their hook, and amounts that its columns hold. */
function playable(stage: Stage, steps: readonly HistoryStep[]): HistoryStep[] {
  const { depositExternally, limits = { digits: 33, scale: 18 } }: StoreHarness = stage.harness
  const great = 10n ** BigInt(Math.max(limits.digits - limits.scale, 0) + 2) / 1000n
  const holds = (amount: Cents) => amount <= great && (limits.scale >= 2 || amount % 100n === 0n)
  return steps.flatMap((step): HistoryStep[] => {
    if (step.step === 'deposit' || step.step === 'withdraw') {
      return depositExternally !== undefined && holds(step.amount) ? [step] : []
    }
    if (step.step !== 'call' || ('amount' in step.request && !holds(step.request.amount))) return []
    return [breakOf[step.line] === undefined ? withoutLine(step) : step]
  })
}

function withoutLine(step: HistoryStep): HistoryStep {
  return step.step === 'call' ? { ...step, line: 'up' } : step
}

/**
 * Every load and every commit waits for its turn, and the next turn for its end: the schedule alone decides what
 * comes when, on any store.
 */
function inTurns(scheduler: fc.Scheduler, store: WalletStore): { store: WalletStore; turn: Turn } {
  let last: Promise<unknown> = Promise.resolve()
  const turn: Turn = async (label, action) => {
    await scheduler.schedule(Promise.resolve(), label)
    const result = last.then(action)
    last = result.catch(() => undefined)
    return result
  }
  return {
    turn,
    store: {
      contractVersion: store.contractVersion,
      load: keys => turn(`load ${keys.operation} ${keys.transactionId}`, () => store.load(keys)),
      commit: changes => {
        const { operation, transactionId } = changes.transaction
        return turn(`commit ${operation} ${transactionId}`, () => store.commit(changes))
      },
    },
  }
}

function shownRequest(request: ModelRequest): string {
  const { operation, transactionId, betId, playerId } = request
  const money = 'amount' in request ? `, ${fromCents(request.amount)} ${request.currency}` : ''
  const type = 'type' in request ? ` ${request.type}` : ''
  return `${operation}${type} ${transactionId}, ${betId} of ${playerId}${money}`
}

function shownAnswer(answer: ModelAnswer): string {
  if (typeof answer === 'string') return answer
  const replayed = answer.replayed ? ' (replayed)' : ''
  return answer.ok
    ? `ok, balance ${fromCents(answer.balance)} ${answer.currency}${replayed}`
    : `${answer.errorCode}${replayed}`
}

function shownEnd({ balances, bets }: End): string {
  const ofPlayers = [...balances].map(([playerId, balance]) => `${playerId} ${fromCents(balance)}`)
  const ofBets = [...bets].flatMap(([betId, bet]) => {
    if (bet === null) return []
    const live = [...bet.live].map(([type, amount]) => `${type} ${fromCents(amount)} live`)
    return [
      `${betId} ${bet.over ? 'rolled back' : 'placed'} ${[...live, `${fromCents(bet.owed)} owed`].join(', ')}`,
    ]
  })
  return [...ofPlayers, ...ofBets].join('; ')
}
