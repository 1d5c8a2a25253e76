/** What a phase of the soak finds: differences and faults. With too many differences, the load ends early. */
import type { ServerListener } from './server-process.js'

/**
 * The load ends early: too many differences, or an unexpected end of a server. The books are checked at once.
 */
export class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

export interface Findings {
  /** Each with the trace of its bet, where there is one. Empty: passed. */
  readonly differences: string[]
  /** The faults that the servers reported, by error code. */
  readonly faults: Record<string, number>
  /** What the server processes report. */
  readonly listener: ServerListener
  report(difference: string): void
  /** Ends the load. */
  giveUp(error: unknown): void
  /** Reports a load whose settlements never reached the wallet without a load: it would prove nothing of them. */
  expectCredits(): void
  /** The work, or a rejection as soon as the load has ended early. */
  orGivenUp<T>(work: Promise<T>): Promise<T>
}

/** At this number the load ends. The check of the books still reports all differences. */
const differencesMax = 20
/** The faults that kills of the database may cause. Any other is a defect. */
const expectedFaults = ['UNAVAILABLE', 'COMMIT_UNKNOWN', 'CONFLICT']

export function createFindings(): Findings {
  const differences: string[] = []
  const faults: Record<string, number> = {}
  let credited = 0
  let giveUp: (error: unknown) => void = () => {}
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject
  })
  givenUp.catch(() => {}) // handled here too: perhaps no code awaits it

  function report(difference: string): void {
    differences.push(difference)
    if (differences.length >= differencesMax) giveUp(new GivenUp('too many differences'))
  }

  return {
    differences,
    faults,
    report,
    giveUp: error => giveUp(error),
    expectCredits() {
      if (credited === 0) report('no settlement was committed without a load')
    },
    orGivenUp: work => Promise.race([work, givenUp]),
    listener: {
      credited() {
        credited += 1
      },
      fault(code, messages) {
        faults[code] = (faults[code] ?? 0) + 1
        if (!expectedFaults.includes(code) && faults[code] <= 3)
          report(`a server had an unexpected fault: ${code}, ${messages}`)
      },
      died(how) {
        report(`a server ended unexpectedly: ${how}`)
        giveUp(new GivenUp(how))
      },
    },
  }
}
