/**
 * The ids of transactions, which the platform is answered with: whole numbers below 2^63, made in the
 * process. An AUTO_INCREMENT would let batches wait for each other's INSERT, and on a cluster leave gaps.
 */

/** 2025-01-01, in milliseconds. */
const epochMs = 1_735_689_600_000
/** An id has 48 bits of time, in steps of 10 µs, and 15 bits that tell processes apart. */
const stepsPerMs = 100
const processBits = 15n

const processNumber = BigInt(Math.floor(Math.random() * 2 ** Number(processBits)))
let lastStep = 0

/**
 * An id that this process has not returned before, greater than those before it. Another process returns the
 * same one only if it has the same number, in the same step: the primary key then rejects one of the two, and
 * it is retried.
 */
export function nextTransactionId(): string {
  lastStep = Math.max(lastStep + 1, (Date.now() - epochMs) * stepsPerMs)
  return ((BigInt(lastStep) << processBits) | processNumber).toString()
}

/** Whether this process may have made the id in the last minutes. */
export function isRecentTransactionId(id: string): boolean {
  if (!/^[0-9]{15,19}$/.test(id)) return false
  const step = Number(BigInt(id) >> processBits)
  return (
    BigInt(id) === ((BigInt(step) << processBits) | processNumber) && Math.abs(step - lastStep) < recentSteps
  )
}

/** Ten minutes: no statement takes longer. */
const recentSteps = 600_000 * stepsPerMs
