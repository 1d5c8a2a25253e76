/** What the processes and their judge agree on. */

/** Of a relay. */
export const inFlightMax = 16

/** Of every call. */
export const transactionDate = '2026-11-21T10:00:00.000Z'

/** The beginning of the betId where a wallet writes no events. */
export const withoutEvents = 'off-'
