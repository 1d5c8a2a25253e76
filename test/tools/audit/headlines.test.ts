/** What the first finding says first: the call at which the defect of the wallet shows, and how. */
import { type AuditResult, auditWallet } from 'bet-wallet/audit'
import { expect, test } from 'vitest'
import { headlineOf } from '../../../src/tools/audit/printout.js'
import { type FaultName, startPlainWallet } from '../wallets/independent/plain.js'

const headlines: [FaultName, id: string, headline: RegExp][] = [
  // The call is the rollback, and not the bet that the case needs.
  ['one-id-space', 'AU-222', /^rollbackbet with the transactionId of the placebet: .* instead of/],
  ['unvoided-debits-last-only', 'AU-539', /^unsettlement UNVOIDED /],
  // A retry is called so, also that of a settlement.
  ['retry-answers-new-reference', 'AU-211', /^retry of placebet .* instead of the same walletTransactionId/],
  ['settlement-retry-pays-again', 'AU-501', /^retry of settlement BET_PAID .* too much/],
  ['unsettlement-retry-debits-again', 'AU-510', /^retry of unsettlement UNSCORED /],
  // What another player has lost was changed by a call.
  ['ids-unique-per-player', 'AU-120', /^placebet of the other player with a known transactionId: balance/],
  ['unsettlement-of-other-player-debits', 'AU-536', /^unsettlement for the other player: balance/],
  ['tombstones-of-first-player', 'AU-311', /^placebet of the other player after its rollback: balance/],
  // An exact balance that is expected, and a rounded one.
  ['third-decimal-rounded', 'AU-406', /^placebet of 0.001: /],
]

test.each(headlines)('%s: %s', async (fault, id, headline) => {
  const wallet = await startPlainWallet({ fault })
  try {
    const { findings, results } = await auditWallet({
      ...{ baseUrl: wallet.url, credentials: wallet.credentials, currency: 'EUR', only: [id] },
      ...{ playerId: 'player-1', otherPlayerId: 'player-2', settle: { url: '/settlement' } },
      timeoutMs: 60_000,
    })
    expect(findings[0]?.id).toBe(id)
    expect(headlineOf(results[0] as AuditResult)).toMatch(headline)
  } finally {
    await wallet.close()
  }
})
