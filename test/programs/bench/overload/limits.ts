/** What every run of the benchmark must reach. */
import type { OverloadResult } from './overload.js'

const recoverySecondsMax = 5
/** Only if all calls fit into the queue: a shed placebet is no goodput, and costs a rollback as well. */
const goodputMin = 0.7
/** Half of the default of `queueMax`. */
const connectionsThatFit = 1_000

export function exceededOf(
  { goodput, recoverySeconds }: Pick<OverloadResult, 'goodput' | 'recoverySeconds'>,
  connections: number,
): string[] {
  const exceeded: string[] = []
  if (connections <= connectionsThatFit && goodput < goodputMin)
    exceeded.push(`a goodput of at least ${goodputMin}`)
  if (recoverySeconds === null || recoverySeconds > recoverySecondsMax)
    exceeded.push(`as before within ${recoverySecondsMax} s`)
  return exceeded
}
