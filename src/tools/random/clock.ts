/** Time, replaceable in tests. */
export interface SimulatorClock {
  /** Milliseconds from an arbitrary start; never goes back. */
  now(): number
  /** Milliseconds since 1970. */
  date(): number
  /** Calls back once, after this number of milliseconds. */
  after(milliseconds: number, run: () => void): void
}

export const systemClock: SimulatorClock = {
  now: () => performance.now(),
  date: () => Date.now(),
  after: (milliseconds, run) => {
    setTimeout(run, milliseconds)
  },
}
