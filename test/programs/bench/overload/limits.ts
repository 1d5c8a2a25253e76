/** What every run of the benchmark must reach. */
import type { OverloadResult } from './overload.js'

const recoverySecondsMax = 5
/** Only if all calls fit into the queue: a shed placebet is no goodput, and costs a rollback as well. */
const goodputMin = 0.7
/** Half of the default of `queueMax`. */
const connectionsThatFit = 5_000

/** The default of the store's `timeoutMs`. The interface names no time that the platform waits. */
const answerMsMax = 10_000

export type Limited = Pick<
  OverloadResult,
  'goodput' | 'recoverySeconds' | 'failedShare' | 'rollbacksFailedShare' | 'slowestMs'
>

export function exceededOf(
  { goodput, recoverySeconds, failedShare, rollbacksFailedShare, slowestMs }: Limited,
  connections: number,
): string[] {
  const exceeded: string[] = []
  if (connections <= connectionsThatFit && goodput < goodputMin)
    exceeded.push(`a goodput of at least ${goodputMin}`)
  if (recoverySeconds === null || recoverySeconds > recoverySecondsMax)
    exceeded.push(`as before within ${recoverySecondsMax} s`)
  if (rollbacksFailedShare > failedShare) exceeded.push('rollbacks shed no more than placebets')
  if (slowestMs > answerMsMax) exceeded.push(`every answer within ${answerMsMax / 1_000} s`)
  return exceeded
}
