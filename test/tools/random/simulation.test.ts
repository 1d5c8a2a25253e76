import { describe, expect, test } from 'vitest'
import { recordSettlement } from '../../../src/index.js'
import { add, compare, subtract } from '../../../src/money.js'
import type { MemoryStore } from '../../../src/stores/memory.js'
import {
  type ClosedBet,
  type SimulationOptions,
  type SimulationProgress,
  type SimulationReport,
  type SimulatorClock,
  simulateSportsbook,
} from '../../../src/tools/random/index.js'
import { formatSimulationReport } from '../../../src/tools/random/printed.js'
import type { SignedRequest } from '../../../src/tools/wire/target.js'
import {
  type Breakage,
  credentials,
  players,
  simulate,
  skippingClock,
  startWallet,
} from '../wallets/library.js'

/** Compares the simulator's books with the wallet's own records. */
function expectBooksOf(report: SimulationReport, memory: MemoryStore): void {
  for (const { playerId, expected, actual, accepted, refused } of report.books.players) {
    const balance = memory.account(playerId)?.balance ?? ''
    expect(compare(expected ?? '', balance)).toBe(0)
    expect(compare(actual ?? '', balance)).toBe(0)
    const recorded = memory.transactions(playerId)
    const count = (operation: string, isRefusal: boolean) =>
      recorded.filter(one => one.operation === operation && (one.refusal !== null) === isRefusal).length
    expect(accepted.settlement).toBe(count('settlement', false))
    expect(accepted.unsettlement).toBe(count('unsettlement', false))
    expect(refused.unsettlement).toBe(count('unsettlement', true))
    // A bet whose connection was cut may have been accepted without an answer.
    expect(accepted.placebet).toBeLessThanOrEqual(count('placebet', false))
  }
}

/** Every pause ends at once: its time has passed then. */
function instantClock(): SimulatorClock {
  let now = 0
  return {
    now: () => now,
    date: () => 1_800_000_000_000 + now,
    after(milliseconds, run) {
      setImmediate(() => {
        now += milliseconds
        run()
      })
    },
  }
}

describe('a correct wallet', () => {
  test.each([1, 2, 3])('passes without chaos, seed %i', async seed => {
    const { report, memory } = await simulate({}, { seed, chaos: 0, concurrency: 8 })
    expect(report.differences).toEqual([])
    expect(report).toMatchObject({ passed: true, complete: true, differencesCount: 0, seed })
    expect(report.counts).toMatchObject({
      ...{ bets: 300, failedCalls: 0, lateBetsRefused: 0 },
    })
    expect(Object.values(report.faultsInjected)).toEqual([0, 0, 0, 0, 0, 0, 0])
    expectBooksOf(report, memory)
  })

  test.each([11, 12, 13, 14, 15])('passes with the worst network, seed %i', async seed => {
    const { report, memory } = await simulate(
      {},
      { seed, chaos: 1, concurrency: 1 + (seed % 3) * 12, bets: 400 },
    )
    expect(report.differences).toEqual([])
    expect(report.passed).toBe(true)
    expectBooksOf(report, memory)
    for (const [kind, times] of Object.entries(report.faultsInjected))
      expect([kind, times > 0]).toEqual([kind, true])
    const { replaysAbsorbed, lateBetsRefused, betsRolledBack, balancesExact } = report.counts
    for (const seen of [replaysAbsorbed, lateBetsRefused, betsRolledBack, balancesExact])
      expect(seen).toBeGreaterThan(0)
  })

  test('receives every kind of request', async () => {
    const { report } = await simulate({}, { seed: 4, chaos: 0.3, concurrency: 4, bets: 1500 })
    expect(report.passed).toBe(true)
    const { failedCalls, ...expected } = report.counts
    for (const [name, times] of Object.entries(expected)) expect([name, times > 0]).toEqual([name, true])
    expect(failedCalls).toBe(0)
    expect(report.answers.unsettlement['402 INSUFFICIENT_FUNDS']).toBeGreaterThan(0)
    expect(report.answers.unsettlement['503 SETTLEMENT_NOT_FOUND']).toBe(expected.earlyUnsettlements)
    expect(report.answers.placebet['402 INSUFFICIENT_FUNDS']).toBeGreaterThan(0)
  })

  test('is retried after failures of its own until it answers', async () => {
    let calls = 0
    const failing: Breakage = {
      // Every fifth request is answered 503, and every eleventh is executed and answered 500.
      async call({ next }) {
        calls += 1
        const failure = (status: number, errorCode: string) => ({
          status,
          headers: {},
          body: JSON.stringify({ errorCode, description: 'x' }),
        })
        // A code that asks for a retry of an unsettlement, and has no meaning for other requests.
        if (calls > players.length && calls % 5 === 0) return failure(503, 'SETTLEMENT_NOT_FOUND')
        const response = await next()
        return calls > players.length && calls % 11 === 0 ? failure(500, 'INTERNAL_ERROR') : response
      },
    }
    const { report, memory } = await simulate(failing, { concurrency: 4 })
    expect(report.differences).toEqual([])
    const { failedCalls, earlyUnsettlements } = report.counts
    expect(failedCalls).toBeGreaterThan(50)
    expect(earlyUnsettlements).toBe(report.answers.unsettlement['503 SETTLEMENT_NOT_FOUND'] ?? 0)
    expectBooksOf(report, memory)
  })

  test('may be unable to debit: uncollected clawbacks are owed to the platform', async () => {
    const cannotDeduct: Breakage = {
      store: memory => ({
        contractVersion: 2,
        load: memory.load,
        commit: async changes =>
          changes.transaction.operation === 'unsettlement' && changes.account.delta !== '0'
            ? { status: 'refused', errorCode: 'NO_DEDUCTIONS', description: 'cannot' }
            : memory.commit(changes),
      }),
    }
    const { report } = await simulate(cannotDeduct, { concurrency: 4, bets: 600 })
    expect(report.differences).toEqual([])
    expect(report.counts.clawbacksRefused).toBeGreaterThan(10)
  })
})

describe('a run', () => {
  const comparable = (report: SimulationReport) => {
    const {
      target: _,
      startedAt: __,
      durationMs: ___,
      requestsPerSecond: ____,
      latencyMs: _____,
      ...rest
    } = report
    return rest
  }

  test('is reproducible by its seed, and differs for another seed', async () => {
    // Without cut connections: whether the wallet still reads a cut request depends on the operating system.
    const options = {
      chaos: {
        requestLost: 0.05,
        answerLost: 0.1,
        deliveredLate: 0.1,
        delayed: 0.1,
        duplicated: 0.3,
        reordered: 0.5,
      },
    }
    const one = await simulate({}, { ...options, seed: 7 })
    const two = await simulate({}, { ...options, seed: 7 })
    const other = await simulate({}, { ...options, seed: 8 })
    expect(comparable(two.report)).toEqual(comparable(one.report))
    expect(two.memory.transactions().map(({ delta }) => delta)).toEqual(
      one.memory.transactions().map(({ delta }) => delta),
    )
    expect(comparable(other.report)).not.toEqual(comparable(one.report))
  })

  test('can be repeated with the same players, under new ids', async () => {
    const wallet = await startWallet()
    try {
      const options = {
        baseUrl: wallet.baseUrl,
        credentials,
        players: players.map(({ playerId }) => playerId),
        bets: 60,
      }
      const first = await simulateSportsbook({ ...options, seed: 1 })
      const second = await simulateSportsbook({ ...options, seed: 1 })
      expect([first.passed, second.passed]).toEqual([true, true])
      expect(second.runId).not.toBe(first.runId)
      expect(second.books.players.map(({ opening }) => opening)).toEqual(
        first.books.players.map(({ expected }) => expected),
      )
    } finally {
      await wallet.close()
    }
  })

  test('settles by a function, which is retried when it throws', async () => {
    const wallet = await startWallet()
    try {
      let calls = 0
      const report = await simulateSportsbook({
        baseUrl: wallet.baseUrl,
        credentials,
        players: ['ann', 'ben'],
        bets: 200,
        seed: 3,
        chaos: { answerLost: 0.1, deliveredLate: 0.1, duplicated: 0.2 },
        backOffMsMax: 0,
        async settle(settlement) {
          calls += 1
          if (calls % 3 === 0) throw new Error('try again')
          expect(settlement.amount).toMatch(/^[0-9]+(\.[0-9]+)?$/)
          return recordSettlement(wallet.memory, settlement)
        },
      })
      expect(report.differences).toEqual([])
      expect(calls).toBeGreaterThan(100)
      expect(report.answers.settlement['500 try again']).toBe(Math.floor(calls / 3))
    } finally {
      await wallet.close()
    }
  })

  test('sends no settlements where they are unsupported', async () => {
    const { report } = await simulate({}, { settle: 'unsupported', chaos: 1, concurrency: 8 })
    expect(report.differences).toEqual([])
    expect(report.counts).toMatchObject({ settlements: 0, unsettlements: 0 })
    expect(report.counts.betsRolledBack).toBeGreaterThan(0)
  })

  test('reports every closed bet as it is in the wallet’s records', async () => {
    const bets: ClosedBet[] = []
    const { report, memory } = await simulate({}, { concurrency: 4, onBetClosed: bet => bets.push(bet) })
    expect(bets).toHaveLength(report.counts.bets)
    for (const { betId, state, live, stake } of bets) {
      const bet = memory.bet(betId)
      if (state === 'REFUSED') {
        expect(bet).toBeNull()
        continue
      }
      expect(bet?.status).toBe(state)
      if (state === 'PLACED') expect(compare(bet?.stake ?? '', stake)).toBe(0)
      const lives = Object.entries(bet?.credits ?? {}).filter(([, credit]) => credit.live !== null)
      expect(lives.map(([name]) => name).sort()).toEqual(Object.keys(live).sort())
      for (const [name, amount] of Object.entries(live)) {
        const stored = bet?.credits[name as keyof typeof live]?.live
        expect(compare(stored ?? '', amount)).toBe(0)
      }
    }
  })

  test('signs every request with its body', async () => {
    const calls: SignedRequest[] = []
    const { report } = await simulate(
      {},
      {
        bets: 20,
        async sign(call) {
          calls.push(call)
          return { 'x-signature': `of ${call.body.byteLength}` }
        },
      },
    )
    expect(report.passed).toBe(true)
    expect(calls.length).toBeGreaterThanOrEqual(report.requests)
    for (const { method, url, headers, body } of calls) {
      const [, operation] = url.split(report.target)
      expect([method, headers['content-type']]).toEqual(['POST', 'application/json'])
      expect(['/placebet', '/settlement', '/unsettlement', '/rollbackbet']).toContain(operation)
      expect(JSON.parse(Buffer.from(body).toString()).transactionId).toMatch(/^run-/)
    }
  })

  test('stops betting when it is aborted, and still reconciles', async () => {
    const stop = new AbortController()
    const { report } = await simulate(
      {},
      {
        bets: 1_000_000,
        signal: stop.signal,
        concurrency: 4,
        progressEveryMs: 1,
        onProgress: ({ bets }) => {
          if (bets >= 100) stop.abort()
        },
      },
    )
    expect(report).toMatchObject({ passed: true, stopped: true })
    expect(formatSimulationReport(report)).toMatch(/^PASSED, STOPPED: /m)
    expect(report.counts.bets).toBeGreaterThanOrEqual(100)
    expect(report.counts.bets).toBeLessThan(1_000_000)
  })

  test('keeps its rate and its duration, by the given clock', async () => {
    const clock = instantClock()
    const phases: SimulationProgress[] = []
    const { report } = await simulate(
      {},
      {
        bets: 1_000_000,
        durationMs: 3_000,
        ratePerSecond: 100,
        chaos: 0,
        clock,
        onProgress: one => phases.push(one),
      },
    )
    expect(report.passed).toBe(true)
    expect(report.requestsPerSecond).toBeGreaterThan(95)
    expect(report.requestsPerSecond).toBeLessThanOrEqual(101)
    const ended = phases.findLast(({ phase }) => phase === 'betting')
    expect(ended?.elapsedMs).toBeGreaterThanOrEqual(3_000)
    expect(ended?.elapsedMs).toBeLessThan(3_200)
    expect(new Set(phases.map(({ phase }) => phase))).toEqual(
      new Set(['opening', 'betting', 'draining', 'reconciling']),
    )
  })

  test('changes balances by the recorded transactions only', async () => {
    const { report, memory } = await simulate({}, { seed: 21, chaos: 0.8, concurrency: 12 })
    for (const { playerId, opening, expected } of report.books.players) {
      const moved = memory.transactions(playerId).reduce((sum, { delta }) => add(sum, delta), '0')
      expect(compare(subtract(expected ?? '', opening), moved)).toBe(0)
    }
  })
})

describe('settlements that never work', () => {
  const settleBy = async (answer: () => { ok: false; errorCode: string }) => {
    const wallet = await startWallet()
    try {
      return await simulateSportsbook({
        ...{ baseUrl: wallet.baseUrl, credentials, players: ['ann', 'ben'], bets: 300, seed: 1 },
        ...{ clock: skippingClock(), settle: answer, concurrency: 1 },
      })
    } finally {
      await wallet.close()
    }
  }
  const inconclusive = 'no settlement succeeded: see the option settle (--settle-url, --settle-command)'

  test.each([
    ['are refused', () => ({ ok: false as const, errorCode: 'NO_SUCH_BET' }), 'refused', /^400 NO_SUCH_BET$/],
    [
      'fail',
      () => {
        throw new Error('no table')
      },
      'unanswered',
      /^1\d+ times no definite answer, the last one: 500 no table$/,
    ],
  ] as const)('end the bets, and the run has not passed, if they %s', async (_, answer, kind, actual) => {
    const report = await settleBy(answer)
    expect(report).toMatchObject({ passed: false, inconclusive })
    expect(report.counts.bets).toBeLessThan(150)
    const settled = report.differences.filter(({ operation }) => operation === 'settlement')
    expect(settled.length).toBeGreaterThanOrEqual(20)
    expect(settled[0]).toMatchObject({ kind, actual: expect.stringMatching(actual) })
  })

  test('are named, if the URL leads elsewhere', async () => {
    const { report } = await simulate({}, { bets: 40, settle: { url: '/nowhere' }, giveUpAfterMs: 500 })
    expect(formatSimulationReport(report)).toMatch(
      /^FAILED: no settlement succeeded: see .*; \d+ differences\.$/m,
    )
    expect(report.differences[0]).toMatchObject({ operation: 'settlement', actual: '404 NOT_FOUND' })
  })

  test('do not end the run once one of them has worked', async () => {
    let settlements = 0
    const onceWorking: Breakage = {
      async call({ operation, next }) {
        if (operation === 'settlement') settlements += 1
        if (operation !== 'settlement' || settlements === 1) return next()
        return { status: 404, headers: {}, body: '{"errorCode":"NOT_FOUND","description":"gone"}' }
      },
    }
    const { report } = await simulate(onceWorking, { bets: 200, giveUpAfterMs: 20 })
    expect(report.passed).toBe(false)
    expect(report.differences[0]).toMatchObject({ kind: 'refused', operation: 'settlement' })
  })
})

describe('a run that has judged too little', () => {
  const refusing: Breakage = {
    call: async ({ operation, next }) =>
      operation === 'placebet'
        ? { status: 400, headers: {}, body: '{"errorCode":"BET_NOT_ALLOWED","description":"no"}' }
        : await next(),
  }
  const noBet = 'nothing was judged: no bet was accepted'

  test.each([
    ['no bet is accepted', refusing, { bets: 30 }, noBet],
    ['no bet is placed', {}, { bets: 0, settle: 'unsupported' }, noBet],
    [
      'bets are never settled',
      {},
      { bets: 1 },
      'no settlement was sent: the run was too short (--bets, --duration)',
    ],
  ] as const)('has not passed: %s', async (_, breakage, options, inconclusive) => {
    const { report } = await simulate(breakage, { chaos: 0, ...options })
    expect(report).toMatchObject({ differences: [], complete: true, passed: false, inconclusive })
    expect(formatSimulationReport(report)).toContain(`FAILED: ${inconclusive}.`)
  })

  test('is not one without a way to settle', async () => {
    const { report } = await simulate({}, { chaos: 0, bets: 1, settle: 'unsupported' })
    expect(report).toMatchObject({ passed: true, inconclusive: null })
  })
})

describe('answers from before the wallet', () => {
  const everyThird = (answer: { status: number; body: string }): Breakage => {
    let calls = 0
    return {
      call: async ({ next }) => {
        calls += 1
        return calls > players.length && calls % 3 === 0 ? { ...answer, headers: {} } : await next()
      },
    }
  }

  test('are named with the first call and their number, in a run that has passed', async () => {
    const limiter = everyThird({ status: 429, body: 'Too many requests' })
    const { report } = await simulate(limiter, { chaos: 0, bets: 60 })
    expect(report).toMatchObject({ passed: true, differences: [] })
    const { first, answers } = report.foreignAnswers ?? { first: '', answers: {} }
    expect(first).toMatch(/^429 to \w+ run-[a-z]\d+$/)
    const { placebet, unsettlement, rollbackbet } = report.answers
    const seen = [placebet, unsettlement, rollbackbet].map(counts => counts['429'] ?? 0)
    expect(answers).toEqual({ 429: seen.reduce((sum, times) => sum + times, 0) })
    const text = formatSimulationReport(report)
    expect(text).toMatch(
      /^PASSED: .*\. Not the interface's, probably from before the wallet: \d+ answers, the first one 429 to /m,
    )
    expect(text).toMatch(/^ +Before the wallet +429: \d+$/m)
  })

  test.each([
    [{ status: 502, body: '<html>' }, '502'],
    [{ status: 301, body: '' }, '301'],
    [{ status: 413, body: '{"error":"too large"}' }, '413'],
    [{ status: 200, body: '{"success":true,"data":{}}' }, '200, unreadable: balance is not a decimal'],
  ])('are named: %j', async (answer, name) => {
    const { report } = await simulate(everyThird(answer), { chaos: 0, bets: 10, settle: 'unsupported' })
    expect(Object.keys(report.foreignAnswers?.answers ?? {})).toEqual([name])
  })

  test('are none of a wallet that answers by itself, whatever it answers', async () => {
    const failing = everyThird({ status: 500, body: '' })
    const { report } = await simulate(failing, { chaos: 0.5, bets: 60 })
    expect(report.counts.failedCalls).toBeGreaterThan(9)
    expect(report.foreignAnswers).toBeNull()
    expect(formatSimulationReport(report)).toMatch(/^ +Before the wallet +none$/m)
  })
})

describe('the wait before the end', () => {
  const phasesOf = async (options: Partial<SimulationOptions>) => {
    const phases: string[] = []
    const clock = skippingClock()
    const startedAt = clock.now()
    const { report } = await simulate(
      {},
      { bets: 60, clock, onProgress: ({ phase }) => phases.push(phase), ...options },
    )
    expect(report.differences).toEqual([])
    return { phases: new Set(phases), waited: clock.now() - startedAt >= 90_000, report }
  }

  test('is as long as the option says, and everything is answered again after it', async () => {
    const { phases, waited, report } = await phasesOf({ pauseMs: 90_000 })
    expect(phases).toContain('waiting')
    expect(waited).toBe(true)
    expect(report.counts.retriedAtEnd).toBeGreaterThan(100)
  })

  test('is left out by default, and if the run was stopped', async () => {
    expect((await phasesOf({})).phases).not.toContain('waiting')
    const stopped = await phasesOf({ pauseMs: 90_000, signal: AbortSignal.abort() })
    expect([stopped.phases.has('waiting'), stopped.waited]).toEqual([false, false])
  })
})

describe('a wallet that stops answering', () => {
  test('and answers again, several times, is waited for', async () => {
    let calls = 0
    let wallet = await startWallet()
    let restarting: Promise<void> | null = null
    const restart = async () => {
      await wallet.close()
      wallet = await wallet.again()
      restarting = null
    }
    try {
      const report = await simulateSportsbook({
        baseUrl: wallet.baseUrl,
        credentials,
        players: players.map(({ playerId }) => playerId),
        bets: 300,
        seed: 5,
        chaos: 0.3,
        backOffMsMax: 1,
        progressEveryMs: 1,
        onProgress({ requests }) {
          if (requests < (calls + 1) * 200 || restarting !== null || calls === 5) return
          calls += 1
          restarting = restart()
        },
      })
      await restarting
      expect(report.differences).toEqual([])
      expect(calls).toBe(5)
      expectBooksOf(report, wallet.memory)
    } finally {
      await wallet.close()
    }
  })

  test('permanently is given up, and the unanswered transactions are reported', async () => {
    const wallet = await startWallet()
    let stopped = false
    const report = await simulateSportsbook({
      baseUrl: wallet.baseUrl,
      credentials,
      players: players.map(({ playerId }) => playerId),
      bets: 1_000_000,
      seed: 6,
      backOffMsMax: 1,
      giveUpAfterMs: 20,
      progressEveryMs: 1,
      onProgress({ bets }) {
        if (bets < 50 || stopped) return
        stopped = true
        void wallet.close()
      },
    })
    expect(report).toMatchObject({ passed: false, complete: false })
    expect(report.differences.every(({ kind, betId }) => kind === 'unanswered' && betId !== '')).toBe(true)
    expect(report.differences.length).toBeGreaterThan(0)
    for (const { actual } of report.books.players) expect(actual).toBeNull()
  })
})

describe('a simulation does not start', () => {
  test.each([
    [
      'with wrong credentials',
      'AUTHENTICATION_FAILED',
      { credentials: { username: 'platform', password: 'wrong' } },
      /ann: .*401/,
    ],
    ['with an unknown player', 'UNKNOWN_PLAYER', { players: ['ann', 'zoe'] }, /zoe: .*400 INVALID_PLAYER/],
    [
      'with another currency',
      'CURRENCY_MISMATCH',
      { players: [{ playerId: 'ann', currency: 'USD' }] },
      /ann: .* EUR, not in USD/,
    ],
    [
      'with another balance',
      'BALANCE_MISMATCH',
      { players: [{ playerId: 'ann', balance: '200.01' }] },
      /ann: .* 200, not of 200.01/,
    ],
    ['without funds', 'INSUFFICIENT_TEST_FUNDS', { players: ['eve'] }, /none of them has any funds/],
    ['at another path', 'NOT_A_WALLET', { path: '/elsewhere' }, /ann: .*404/],
  ])('%s', async (_, code, { path = '', ...options }: { path?: string } & object, message) => {
    const wallet = await startWallet({}, [...players, { playerId: 'eve', currency: 'EUR', balance: '0' }])
    try {
      const run = simulateSportsbook({
        baseUrl: wallet.baseUrl + path,
        credentials,
        players: ['ann'],
        ...options,
      })
      await expect(run).rejects.toThrow(message)
      await expect(run).rejects.toMatchObject({ name: 'AuditError', code })
      expect(wallet.memory.transactions().every(({ operation }) => operation === 'rollbackbet')).toBe(true)
    } finally {
      await wallet.close()
    }
  })

  test('if the wallet has never answered: it is given up after 5 s, whatever giveUpAfterMs is', async () => {
    const clock = instantClock()
    const wallet = await startWallet()
    await wallet.close()
    const run = simulateSportsbook({ baseUrl: wallet.baseUrl, players: ['ann'], clock })
    await expect(run).rejects.toThrow(/: no answer for 5000 ms$/)
    expect(clock.now()).toBeGreaterThan(5_000)
    expect(clock.now()).toBeLessThan(7_000)
  })

  test('if a limiter answers in place of the wallet: its status is named', async () => {
    const limited = { call: async () => ({ status: 429, headers: {}, body: 'Too many requests' }) }
    await expect(simulate(limited, { clock: skippingClock(), giveUpAfterMs: 1_000 })).rejects.toThrow(
      /(ann|ben|cem|dan): cannot read the balance: .* was answered \d+ times no definite answer, the last one: 429/,
    )
  })

  test('if the wallet does not answer', async () => {
    const wallet = await startWallet()
    await wallet.close()
    const run = simulateSportsbook({
      baseUrl: wallet.baseUrl,
      players: ['ann'],
      giveUpAfterMs: 0,
      backOffMsMax: 0,
    })
    await expect(run).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringMatching(/no answer/),
    })
  })

  test.each([
    [{ baseUrl: 'ftp://wallet' }, /baseUrl must be a URL of http/],
    [{ baseUrl: 'http://a:b@wallet' }, /baseUrl must not contain a user or password/],
    [{ players: [] }, /players must be/],
    [{ players: ['ann', 'ann'] }, /ann is duplicated/],
    [{ chaos: 2 }, /chaos must be/],
    [{ chaos: { lost: 1 } }, /unknown option "chaos.lost"/],
    [{ chaos: { requestLost: 1 } }, /the run would never end/],
    [{ bets: -1 }, /bets must be/],
    [{ concurrency: 0 }, /concurrency must be/],
    [{ ratePerSecond: 0 }, /ratePerSecond must be/],
    [{ runId: 'a b' }, /runId must be/],
    [{ seed: 0.5 }, /seed must be/],
    [{ player: 'ann' }, /unknown option "player"/],
    [{ credentials: { username: 'a' } }, /credentials.password must be/],
    [{ onProgress: 'yes' }, /onProgress must be a function/],
    [{ players: [''] }, /players\[0\] must be a playerId/],
    [{ players: ['ann', { currency: 'EUR' }] }, /players\[1\].playerId must be/],
    [{ players: [{ playerId: 'ann', balance: 1 }] }, /players\[0\].balance must be decimal text/],
    [{ players: [{ playerId: 'ann', curency: 'EUR' }] }, /unknown option "players\[0\].curency"/],
    [{ players: [7] }, /players\[0\] must be an object/],
    [{ settle: { url: 'nowhere' } }, /settle must be "unsupported"/],
    [{ settle: { url: '//elsewhere/settlement' } }, /settle must be "unsupported"/],
    [{ settle: null }, /settle must be "unsupported"/],
    [{ headers: { 'x y': '1' } }, /headers: "x y"/],
    [{ headers: { x: '1\r\ny: 2' } }, /headers: the value of x/],
  ])('with %o', async (options, message) => {
    const run = simulateSportsbook({ baseUrl: 'http://127.0.0.1:9', players: ['ann'], ...options } as never)
    await expect(run).rejects.toThrow(message)
    await expect(run).rejects.toMatchObject({ name: 'AuditError', code: 'INVALID_OPTIONS' })
  })

  test('or fails, if a hook throws', async () => {
    const failing = () => {
      throw new Error('the hook')
    }
    for (const hooks of [
      { onProgress: failing, progressEveryMs: 1 },
      { onBetClosed: failing },
      { sign: failing },
    ]) {
      await expect(simulate({}, { bets: 50, ...hooks })).rejects.toThrow('the hook')
    }
  })
})
