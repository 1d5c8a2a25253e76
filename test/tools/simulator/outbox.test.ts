import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../src/tools/simulator/judgements.js'
import type { OnReading } from '../../../src/tools/simulator/network.js'
import { Outbox } from '../../../src/tools/simulator/outbox.js'
import type { Definite } from '../../../src/tools/simulator/reading.js'
import { fault, newBet, openedAccount, refusal, success } from './objects.js'

/** An outbox whose network the test answers. */
function newOutbox(giveUpAfterMs = 1_000) {
  const attempts: ('attempt' | 'retry')[] = []
  const findings: Finding[] = []
  const clock = { time: 0, now: () => clock.time }
  let answer: OnReading = () => {}
  const network = {
    attempt(_: unknown, onReading: OnReading) {
      attempts.push('attempt')
      answer = onReading
    },
    retry(_: unknown, onReading: OnReading) {
      attempts.push('retry')
      answer = onReading
    },
  }
  const outbox = new Outbox({
    network: network as never,
    judge: { report: (_: unknown, finding: Finding) => findings.push(finding) } as never,
    now: clock.now,
    giveUpAfterMs,
  })
  const { placed } = newBet(openedAccount(), 1n)
  const answers: (Definite | null)[] = []
  const onAnswer = (definite: Definite | null) => answers.push(definite)
  return {
    answer: (reading: Parameters<OnReading>[0]) => answer(reading),
    answers,
    attempts,
    clock,
    findings,
    onAnswer,
    outbox,
    placed,
  }
}

describe('a transaction that is sent once', () => {
  test.each([
    ['a success', success('1'), success('1')],
    ['a refusal', refusal('LIMIT'), refusal('LIMIT')],
    ['a fault', fault(), null],
    ['an injected fault', null, null],
  ])('ends with %s', (_, reading, expected) => {
    const { answer, answers, attempts, onAnswer, outbox, placed } = newOutbox()
    outbox.sendOnce(placed, onAnswer)
    expect(outbox.pending.has(placed)).toBe(true)
    answer(reading)
    expect([answers, attempts, outbox.pending.size]).toEqual([[expected], ['attempt'], 0])
  })
})

describe('a transaction that is sent until it is answered', () => {
  test('is given up after a minute if its settlement is never found, however patient the outbox is', () => {
    const { answer, answers, clock, onAnswer, outbox, placed } = newOutbox(600_000)
    const notFound = { ...fault(), errorCode: 'SETTLEMENT_NOT_FOUND' }
    outbox.sendUntilAnswered(placed, onAnswer)
    for (let times = 0; times < 100; times += 1) answer(notFound)
    clock.time = 60_000
    answer(fault())
    expect(answers).toEqual([])
    answer(notFound)
    expect(answers).toEqual([null])
  })

  test('is attempted again at once after an injected fault, and retried later after a real one', () => {
    const { answer, answers, attempts, onAnswer, outbox, placed } = newOutbox()
    outbox.sendUntilAnswered(placed, onAnswer)
    answer(null)
    answer(fault())
    answer({ kind: 'no-answer', reason: 'ECONNRESET' })
    answer(refusal('INVALID_BET'))
    expect(attempts).toEqual(['attempt', 'attempt', 'retry', 'retry'])
    expect(answers).toEqual([refusal('INVALID_BET')])
    expect([placed.faults, outbox.pending.size]).toEqual([2, 0])
  })

  test('is given up after 60 faults and the time limit, with a difference', () => {
    const { answer, answers, clock, findings, onAnswer, outbox, placed } = newOutbox()
    outbox.sendUntilAnswered(placed, onAnswer)
    for (let times = 0; times < 100; times += 1) answer(fault())
    expect(answers).toEqual([])
    clock.time = 1_000
    answer(fault(503))
    expect(answers).toEqual([null])
    expect(findings).toEqual([
      {
        kind: 'unanswered',
        expected: 'a definite answer',
        actual: '101 times no definite answer, the last one: 503',
      },
    ])
    expect(outbox.pending.size).toBe(0)
  })
})
