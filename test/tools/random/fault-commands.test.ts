/** Faults by the operator's commands under load, with wallets that lose answered calls or answer wrongly. */
import { describe, expect, it } from 'vitest'
import { FaultRun } from '../../../src/tools/random/fault-commands.js'
import { formatSimulationReport, renderSimulation } from '../../../src/tools/random/printed.js'
import { signerOf } from '../../../src/tools/wire/signer.js'
import { expectGoodPage, textOf } from '../report/page-rules.js'
import { brokenWallets } from '../wallets/broken.js'
import { answer } from '../wallets/broken-wallet.js'
import { type Breakage, credentials } from '../wallets/library.js'
import { asynchronousPair, runWithFaults, virtualClock } from './faulted.js'
import { fault, newBet, openedAccount, refusal, success } from './objects.js'

const broken = (name: string) => {
  const found = brokenWallets.find(wallet => wallet.name === name)
  if (found === undefined) throw new Error(`no wallet ${name}`)
  return found.break(() => {}, virtualClock().now)
}

const ids = (calls: readonly { transactionId: string }[]) =>
  calls.map(({ transactionId }) => transactionId).sort()
const soon = (_: number, then: () => void) => void setImmediate(then)
const twice = { commands: ['kill it', 'cut it'] }

describe('given a correct wallet', () => {
  it('when faults are injected, then each answered call is replayed, and the commands run in turn', async () => {
    const { report, commands, events } = await runWithFaults({}, twice)
    expect(report.faults).toMatchObject({ stopped: null, notRetried: 0, notCompared: 0 })
    expect(report.differences).toEqual([])
    expect(report.passed).toBe(true)
    expect(commands).toEqual(['kill it', 'cut it'])
    expect(report.faults.injected.map(({ command }) => command)).toEqual(commands)
    expect(events.slice(0, 2)).toEqual(['fault 1: kill it', 'fault 2: cut it'])
    const { retriedAtEnd, replaysAbsorbed } = report.counts
    expect(retriedAtEnd).toBeGreaterThan(120)
    expect(replaysAbsorbed).toBe(retriedAtEnd)
    expect(formatSimulationReport(report)).toMatch(
      /PASSED: the books of \d+ players and the wallet agree to the cent: 2 faults, nothing was lost, and the longest silence was .*\.$/,
    )
  })

  it('when bets end before the first fault, then the run has not passed', async () => {
    const { report } = await runWithFaults({}, { bets: 5 })
    expect(report.faults.stopped).toBe('the run ended before the fault kill it: it was not injected')
    expect(report.passed).toBe(false)
  })
})

describe('given a wallet whose standby lags', () => {
  it.each([
    ['answered with balances', false],
    ['settled by a function that returns no balance', true],
  ])('when it fails over, then exactly what was lost is named: %s', async (_, isSettledDirectly) => {
    const pair = asynchronousPair(9)
    const { report, lost, repeated } = await runWithFaults(
      pair.breakage,
      { ...twice, ...(isSettledDirectly && { settle: pair.settle }) },
      command => {
        if (command === 'kill it') pair.promote()
      },
    )
    expect(pair.lost()).toHaveLength(9)
    // A settlement of 0 changes nothing: without a reference in its answer, no retry shows that it was lost. Nor
    // does a refusal that is given again.
    const visible = pair.lost().filter(({ delta, operation, refusal }) => {
      const isSettlementOf0 = operation === 'settlement' && Number(delta) === 0
      return refusal === null && !(isSettledDirectly && isSettlementOf0)
    })
    expect(ids(lost)).toEqual(expect.arrayContaining(ids(visible)))
    expect(ids(pair.lost())).toEqual(expect.arrayContaining(ids(lost)))
    expect(visible.length).toBeGreaterThan(3)
    expect(repeated).toEqual([])
    expect(report.faults.injected.map(fault => fault.lost)).toEqual([lost.length, 0])
    expect(report.passed).toBe(false)
    const text = formatSimulationReport(report)
    expect(text).toContain(`FAILED: ${lost.length} answered calls were lost`)
    expect(text).toContain('bet-wallet check names the durability of the database')
    // The text has the first ten differences, the report has all.
    for (const { expected } of lost) expect(expected).toMatch(/^the first answer again: 200.*, of 20\d\d-/)
  })
})

describe('given a wallet that has lost nothing, and is wrong', () => {
  it('when it debits a retry again, then it is not called lost, and the balances are wrong', async () => {
    const { report, lost, repeated } = await runWithFaults(broken('debits the stake again on a retry'))
    expect(lost).toEqual([])
    expect(repeated.length).toBeGreaterThan(0)
    for (const { amount } of repeated) expect(amount).toMatch(/^-/)
    expect(report.passed).toBe(false)
  })

  it('when each retry has another reference, then each call is decided anew', async () => {
    const { report, lost, repeated } = await runWithFaults(
      broken('answers every retry with another reference'),
    )
    expect(lost).toEqual([])
    expect(repeated.length).toBeGreaterThan(60)
    expect(report.passed).toBe(false)
  })

  it('when it accepts a bet that it has refused, then the refusal was lost', async () => {
    const { lost } = await runWithFaults(
      broken('forgets that a bet was refused, and accepts it when there are funds'),
      { requestsPerFault: 400 },
    )
    expect(lost.length).toBeGreaterThan(0)
    for (const { operation, expected, actual } of lost) {
      expect([operation, actual]).toEqual(['placebet', expect.stringMatching(/^200/)])
      expect(expected).toMatch(/^the first answer again: 4/)
    }
  })

  it('when it never finds a settlement again, then the unsettlement is lost, and the others are sent', async () => {
    const state = { isBroken: false }
    const call: Breakage['call'] = async ({ operation, next }) =>
      state.isBroken && operation === 'unsettlement'
        ? answer(503, { errorCode: 'SETTLEMENT_NOT_FOUND', description: 'no' })
        : await next()
    const { report, lost } = await runWithFaults({ call }, { requestsPerFault: 200 }, () => {
      state.isBroken = true
    })
    expect(lost.length).toBeGreaterThan(0)
    for (const { operation, actual } of lost)
      expect([operation, actual]).toEqual(['unsettlement', '503 SETTLEMENT_NOT_FOUND'])
    expect(report.faults.notRetried).toBe(0)
  })

  it('when one call is never answered again, then it alone is counted, and the others are sent', async () => {
    const state = { answered: '', dead: '' }
    const call: Breakage['call'] = async ({ operation, body, next }) => {
      const { transactionId = '' } = body
      if (transactionId === state.dead) return answer(503, {})
      const answered = await next()
      if (operation === 'placebet') state.answered = transactionId
      return answered
    }
    const options = { requestsPerFault: 200, giveUpAfterMs: 60_000 }
    const { report, lost } = await runWithFaults({ call }, options, () => {
      state.dead = state.answered
    })
    expect(report.faults.notRetried).toBe(1)
    expect(lost).toEqual([])
  })

  it('when its balances cannot be read after a fault, then the retries that were not compared are named', async () => {
    const state = { isBroken: false }
    const call: Breakage['call'] = async ({ operation, next }) =>
      state.isBroken && operation === 'rollbackbet'
        ? answer(400, { errorCode: 'INVALID_BET', description: 'no' })
        : await next()
    const { report } = await runWithFaults({ call }, { requestsPerFault: 200 }, () => {
      state.isBroken = true
    })
    // The first retry of each player: what it answers is the balance to compare the next with.
    expect(report.faults.notCompared).toBe(report.books.players.length)
    expect(formatSimulationReport(report)).toContain(
      `the balance after ${report.faults.notCompared} retries could not be read`,
    )
  })

  it('when it is wrong before the first fault, then nothing is broken', async () => {
    const { report, commands } = await runWithFaults(broken('credits whole units only'), {
      requestsPerFault: 300,
    })
    expect(commands).toEqual([])
    expect(report.faults.stopped).toMatch(
      /wrong before the first fault \(balance: expected .*none was injected/,
    )
    expect(report.passed).toBe(false)
  })
})

describe('given a wallet that is silent after a fault', () => {
  const down = () => {
    const state = { isDown: false }
    return {
      state,
      call: async ({ next }: { next(): Promise<{ status: number; headers: object; body: string }> }) =>
        state.isDown ? { status: 503, headers: {}, body: '' } : await next(),
    }
  }

  it('when the command repairs it, then the silence is reported', async () => {
    const wallet = down()
    const { report } = await runWithFaults({ call: wallet.call as never }, {}, async () => {
      wallet.state.isDown = true
      for (let turn = 0; turn < 1_000; turn += 1) await new Promise(resolve => setImmediate(resolve))
      wallet.state.isDown = false
    })
    expect(report.faults.injected[0]?.silentMs).toBeGreaterThan(0)
    expect(report.passed).toBe(true)
  })

  it('when it stays down, then it is given up, and what had no answer at the end is counted', async () => {
    const wallet = down()
    const { report, commands } = await runWithFaults(
      { call: wallet.call as never },
      { ...twice, giveUpAfterMs: 60_000 },
      () => {
        wallet.state.isDown = true
      },
    )
    expect(commands[0]).toBe('kill it')
    expect(report.passed).toBe(false)
    expect(report.faults.notRetried).toBeGreaterThan(0)
    expect(formatSimulationReport(report)).toMatch(
      /FAILED: \d+ answered calls had no answer at the end; \d+ differences\./,
    )
  })
})

describe('given a command that has begun', () => {
  /** A command that breaks at once, and has repaired later. */
  const slowly = (broke: () => void) => {
    const state = { isRepaired: false }
    const run = async () => {
      broke()
      await new Promise(resolve => setTimeout(resolve, 100))
      state.isRepaired = true
    }
    return { state, run }
  }

  it('when the run is stopped, then it ends, and no other one is run', async () => {
    const stop = new AbortController()
    const { state, run } = slowly(() => stop.abort())
    const { report, commands } = await runWithFaults({}, { ...twice, signal: stop.signal }, run)
    expect([commands, state.isRepaired]).toEqual([['kill it'], true])
    expect(report.faults.stopped).toBe('the run ended before the fault cut it: it was not injected')
    expect(report.passed).toBe(false)
  })

  it('when the run ends before one with the password in its line, then the text is masked', async () => {
    const { report } = await runWithFaults({}, { bets: 5, commands: [`kill ${credentials.password}`] })
    expect(report.faults.stopped).toBe('the run ended before the fault kill ***: it was not injected')
  })

  it('when it has the secret of the signatures in its line, then every text is masked', async () => {
    const sign = signerOf({ header: 'x-signature' }, 'signing-secret')
    const { report, events } = await runWithFaults({}, { sign, commands: ['kill signing-secret'] }, () => {
      throw new Error('ended')
    })
    expect(events.slice(0, 2)).toEqual(['fault 1: kill ***', 'the fault kill *** failed: ended'])
    expect(JSON.stringify(report)).not.toContain('signing-secret')
  })

  it('when it fails, then its end is named, and no other one is run', async () => {
    const { report, commands } = await runWithFaults({}, twice, () => {
      throw new Error('no such host')
    })
    expect(commands).toEqual(['kill it'])
    expect(report.faults.stopped).toBe('the fault kill it failed: no such host')
    expect(report.passed).toBe(false)
  })

  it('when the load fails, then it ends first', async () => {
    let isBroken = false
    const sign = () => {
      if (isBroken) throw new Error('the key is gone')
      return {}
    }
    const { state, run } = slowly(() => {
      isBroken = true
    })
    await expect(runWithFaults({}, { sign }, run)).rejects.toThrow('the key is gone')
    expect(state.isRepaired).toBe(true)
  })
})

describe('the page', () => {
  it('is well-formed and runs nothing, whatever the commands are', async () => {
    const pair = asynchronousPair(5)
    const hostile = { commands: ['<script>x</script>\u202e'] }
    const { report, lost } = await runWithFaults(pair.breakage, hostile, pair.promote)
    const page = renderSimulation(report)
    expectGoodPage(page)
    expect(textOf(page)).toMatch(/[1-5] answered calls? (was|were) lost/)
    for (const { transactionId } of lost) expect(page).toContain(transactionId)
  })
})

describe('the answers of a load', () => {
  it('are those of the wallet: a proxy without a wallet behind it does not end a silence', async () => {
    const { placed } = newBet(openedAccount(), 1n)
    const clock = { time: 0, now: () => clock.time, date: () => 1_000_000 + clock.time, after: soon }
    let begin = () => {}
    const begun = new Promise<void>(resolve => {
      begin = resolve
    })
    const runCommand = () => {
      begin()
      return new Promise<void>(() => {})
    }
    const run = new FaultRun(
      { commands: ['x'], everyMs: 1, repeat: false, runCommand, onEvent: () => {} },
      clock,
      text => text,
    )
    const silences = () => run.injected.map(({ silentMs }) => silentMs)
    run.record(placed, success('1'))
    run.start(() => null)
    await begun
    clock.time = 500
    for (const reading of [refusal(''), refusal('FORBIDDEN', 403), fault()]) run.record(placed, reading)
    expect(silences()).toEqual([0])
    clock.time = 800
    run.record(placed, refusal('INSUFFICIENT_FUNDS', 402))
    expect(silences()).toEqual([800])
    // It never answers again; then the platform pauses, and retries what is answered.
    clock.time = 2_000
    run.endOfCalls()
    clock.time = 90_000
    run.record(placed, success('1'))
    expect(silences()).toEqual([1_200])
  })
})
