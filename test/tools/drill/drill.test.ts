/** The judge of a drill, with wallets that lie. */
import { describe, expect, it } from 'vitest'
import { AnswerLog } from '../../../src/tools/drill/answer-log.js'
import { renderDrill } from '../../../src/tools/drill/page.js'
import type { Durability } from '../../../src/tools/drill/report.js'
import { formatDrill } from '../../../src/tools/drill/text.js'
import { expectGoodPage, textOf } from '../html/page-rules.js'
import { fault, newBet, openedAccount, refusal, success } from '../simulator/objects.js'
import { brokenWallets } from '../wallets/broken.js'
import { asynchronousPair, drillOf, kill, virtualClock } from './drilled.js'

const broken = (name: string) => {
  const found = brokenWallets.find(wallet => wallet.name === name)
  if (found === undefined) throw new Error(`no wallet ${name}`)
  return found.break(() => {}, virtualClock().now)
}

const asynchronous: Durability = { level: 'asynchronous', reason: 'synchronous_standby_names is empty' }
const ids = (calls: readonly { transactionId: string }[]) =>
  calls.map(({ transactionId }) => transactionId).sort()

describe('given a correct wallet', () => {
  it('when it is drilled, then each answered call is replayed, and the commands run in order', async () => {
    const second = { name: 'cut', command: 'cut it', repair: null }
    const { report, commands, due } = await drillOf({}, { faults: [kill, second] })
    expect(report).toMatchObject({ passed: true, stopped: null, lost: [], repeated: [], notRetried: 0 })
    expect(report.faults.map(({ name, answeredAgain }) => [name, answeredAgain])).toEqual([
      ['kill', 'by itself'],
      ['cut', 'by itself'],
    ])
    expect(report.answered).toBeGreaterThan(4 * 60)
    expect(commands).toEqual(['kill it', 'start it', 'cut it'])
    expect(due).toEqual([['kill'], []])
    expect(formatDrill(report)).toMatch(/^PASSED: 2 faults, nothing was lost/)
  })
})

describe('given a wallet whose standby lags', () => {
  it.each([
    ['answered with balances', false],
    ['settled by a function that returns no balance', true],
  ])('when it fails over, then exactly what was lost is named: %s', async (_, isSettledDirectly) => {
    const pair = asynchronousPair(9)
    const second = { name: 'harmless', command: 'true', repair: null }
    const { report } = await drillOf(
      pair.breakage,
      {
        faults: [kill, second],
        readDurability: async () => asynchronous,
        ...(isSettledDirectly && { settle: pair.settle }),
      },
      command => {
        if (command === 'kill it') pair.promote()
      },
    )
    expect(pair.lost()).toHaveLength(9)
    // A settlement of 0 changes nothing: without a reference in its answer, no retry shows that it was lost.
    const visible = pair.lost().filter(({ delta, operation }) => {
      const isSettlementOf0 = operation === 'settlement' && Number(delta) === 0
      return !(isSettledDirectly && isSettlementOf0)
    })
    expect(ids(report.lost)).toEqual(ids(visible))
    expect(visible.length).toBeGreaterThan(5)
    expect(report.repeated).toEqual([])
    expect(report.faults.map(({ lost }) => lost)).toEqual([visible.length, 0])
    expect(report.passed).toBe(false)
    const page = formatDrill(report)
    expect(page).toContain(`FAILED: ${visible.length} answered calls were lost`)
    expect(page).toContain('\n  The database is asynchronous: synchronous_standby_names is empty. ')
  })

  it('when no database is given, then the page asks for it', async () => {
    const pair = asynchronousPair(3)
    const { report } = await drillOf(pair.breakage, {}, pair.promote)
    expect(formatDrill(report)).toContain('Give --database-url')
  })
})

describe('given a database that may lose commits', () => {
  it('when nothing was lost, then the page names the setting all the same', async () => {
    const { report } = await drillOf({}, { readDurability: async () => asynchronous })
    expect(report.passed).toBe(true)
    expect(formatDrill(report)).toContain(
      'Nothing was lost this time, and may be the next time.\n' +
        '  The database is asynchronous: synchronous_standby_names is empty.',
    )
  })
})

describe('given a wallet that has lost nothing, and is wrong', () => {
  it('when it debits a retry again, then it is not called lost, and the balances are wrong', async () => {
    const { report } = await drillOf(broken('debits the stake again on a retry'))
    expect(report.lost).toEqual([])
    expect(report.repeated.length).toBeGreaterThan(0)
    expect(report.costsBefore).toEqual([])
    expect(report.costsAfter.length).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })

  it('when each retry has another reference, then each call is decided anew', async () => {
    const { report } = await drillOf(broken('answers every retry with another reference'))
    expect(report.lost).toEqual([])
    expect(report.repeated.length).toBeGreaterThan(60)
  })

  it('when it accepts a bet that it has refused, then the refusal was lost', async () => {
    const { report } = await drillOf(
      broken('forgets that a bet was refused, and accepts it when there are funds'),
      { callsPerFault: 400 },
    )
    expect(report.lost.length).toBeGreaterThan(0)
    for (const { operation, answer, retryAnswer } of report.lost) {
      expect([operation, retryAnswer]).toEqual(['placebet', '200'])
      expect(answer).toMatch(/^4/)
    }
  })

  it('when it is wrong before the first fault, then nothing is broken', async () => {
    const { report, commands } = await drillOf(broken('credits whole units only'), { callsPerFault: 300 })
    expect(commands).toEqual([])
    expect(report.stopped).toMatch(/wrong before the first fault \(balance: expected .*no fault was injected/)
    expect(report.passed).toBe(false)
  })
})

describe('given a wallet that is silent after a fault', () => {
  const limits = { repairAfterMs: 30_000, giveUpAfterMs: 60_000 }
  const down = () => {
    const state = { isDown: false }
    return {
      state,
      call: async ({ next }: { next(): Promise<{ status: number; headers: object; body: string }> }) =>
        state.isDown ? { status: 503, headers: {}, body: '' } : await next(),
    }
  }

  it('when the repair helps, then the silence lasts until after it', async () => {
    const wallet = down()
    const patient = { ...limits, giveUpAfterMs: Number.POSITIVE_INFINITY }
    const { report } = await drillOf({ call: wallet.call as never }, patient, command => {
      wallet.state.isDown = command === 'kill it'
    })
    expect(report.faults[0]).toMatchObject({ answeredAgain: 'after the repair', problems: [] })
    expect(report.faults[0]?.silentMs).toBeGreaterThanOrEqual(30_000)
    expect(report.passed).toBe(true)
  })

  it('when the repair does not help, then it is given up, and the next fault is not injected', async () => {
    const wallet = down()
    const { report, commands } = await drillOf(
      { call: wallet.call as never },
      { ...limits, faults: [kill, { name: 'cut', command: 'cut it', repair: null }] },
      () => {
        wallet.state.isDown = true
      },
    )
    expect(commands).toEqual(['kill it', 'start it'])
    expect(report.faults.map(({ answeredAgain }) => answeredAgain)).toEqual(['never'])
    expect(report.notRetried).toBeGreaterThan(0)
    expect(formatDrill(report)).toMatch(/^FAILED: after "kill" the wallet did not answer again/)
  })
})

describe('whatever happens after a fault, it is repaired', () => {
  it('when the drill is stopped', async () => {
    const stop = new AbortController()
    const { report, commands, due } = await drillOf({}, { signal: stop.signal }, command => {
      if (command === 'kill it') stop.abort()
    })
    expect(commands).toEqual(['kill it', 'start it'])
    expect(due).toEqual([['kill'], []])
    expect(report.stopped).toBe('stopped during the fault kill')
  })

  it('when the command of the fault fails', async () => {
    const { report, commands } = await drillOf({}, { faults: [kill, kill] }, command => {
      if (command === 'kill it') throw new Error('no such host')
    })
    expect(commands).toEqual(['kill it', 'start it'])
    expect(report.faults).toMatchObject([
      { answeredAgain: null, problems: ['the command failed: no such host'] },
    ])
    expect(report.passed).toBe(false)
  })

  it('when the repair fails, then it is tried once more, and it stays due', async () => {
    const { report, commands, due } = await drillOf({}, {}, command => {
      if (command === 'start it') throw new Error('no space')
    })
    expect(commands).toEqual(['kill it', 'start it', 'start it'])
    expect(due).toEqual([['kill']])
    expect(report.faults[0]?.problems).toEqual(Array(2).fill('the repair failed: no space'))
    expect(report.passed).toBe(false)
  })

  it('when the load fails', async () => {
    const commands: string[] = []
    let isBroken = false
    const sign = () => {
      if (isBroken) throw new Error('the key is gone')
      return {}
    }
    const ended = drillOf({}, { sign }, command => {
      commands.push(command)
      isBroken = true
    })
    await expect(ended).rejects.toThrow('the key is gone')
    expect(commands).toEqual(['kill it', 'start it'])
  })
})

describe('the page of a drill', () => {
  it('is well-formed and runs nothing, whatever the names are', async () => {
    const pair = asynchronousPair(5)
    const hostile = { name: '<script>x</script>\u202e', command: 'kill it', repair: null }
    const { report } = await drillOf(pair.breakage, { faults: [hostile] }, pair.promote)
    const page = renderDrill(report)
    expectGoodPage(page)
    expect(textOf(page)).toContain('5 answered calls were lost')
    for (const { transactionId } of report.lost) expect(page).toContain(transactionId)
  })
})

describe('the answers of a load', () => {
  const { placed } = newBet(openedAccount(), 1n)
  const newLog = () => {
    const clock = { time: 0, now: () => clock.time, date: () => 1_000_000 + clock.time, after: () => {} }
    return { clock, log: new AnswerLog(clock) }
  }

  it('are those of the wallet: a proxy without a wallet behind it does not end a silence', async () => {
    const { clock, log } = newLog()
    log.record(placed, success('1'))
    log.mark()
    clock.time = 500
    for (const reading of [refusal(''), refusal('FORBIDDEN', 403), fault()]) log.record(placed, reading)
    clock.time = 800
    expect(log.silence()).toEqual({ silentMs: 800, until: 1_000_800 })
    log.record(placed, refusal('INSUFFICIENT_FUNDS', 402))
    clock.time = 900
    expect(log.silence()).toEqual({ silentMs: 800, until: 1_000_800 })
    expect(log.answered()).toEqual([{ transaction: placed, at: 1_000_000 }])
  })
})
