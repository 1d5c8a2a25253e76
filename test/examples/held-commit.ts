/** The hook `holdCommit` of the kit for a store with `withinTransaction`: the hook of the store waits. */
import type { HeldCommit } from 'bet-wallet/testing'

/** Holds the next commit once. */
export interface Gate {
  reach(): void
  opened: Promise<void>
}

/** A closed gate, and what the kit gets to wait for it and to open it. */
export function closedGate(): { gate: Gate; held: HeldCommit } {
  let reach = () => {}
  let release = () => {}
  const reached = new Promise<void>(resolve => {
    reach = resolve
  })
  const opened = new Promise<void>(resolve => {
    release = resolve
  })
  return { gate: { reach, opened }, held: { reached, release } }
}

/** To be awaited in `withinTransaction`. */
export async function passGate(opened: { gate: Gate | null }): Promise<void> {
  const { gate } = opened
  opened.gate = null
  gate?.reach()
  await gate?.opened
}
