/**
 * How often each race is found: a race that is found in one of three runs is not found. Plays each case many times,
 * with the default settings, on wallets with the defect that it looks for, and prints a table:
 *
 *     npx tsx test/tools/audit/race-rates.ts [times] [AU-203 …] [long] [short] [turn]
 */
import { pathToFileURL } from 'node:url'
import { auditWallet } from '../../../src/tools/audit/index.js'
import { type FaultName, startPlainWallet, type Window } from '../wallets/independent/plain.js'

/** By number of the case: the defects that it looks for. */
export const races: Record<number, readonly FaultName[]> = {
  203: ['race-retry'],
  205: ['race-rollback'],
  208: ['race-rollback'],
  216: ['race-bet'],
  217: ['race-retry'],
  306: ['race-bet'],
  307: ['race-rollback'],
  308: ['race-rollback'],
  401: ['race-funds'],
  403: ['race-lost-update'],
  511: ['race-unsettlement'],
  513: ['race-unsettlement'],
  531: ['race-funds', 'race-unsettlement', 'race-unsettlement-lost-update'],
  534: ['race-unsettlement-lost-update'],
  541: ['race-settlement-retry'],
  542: ['race-settlement-lost-update'],
  543: ['race-settlement-of-bet'],
  545: ['race-unsettlement-of-settlement'],
  548: ['race-settlement-of-rollback', 'race-rollback'],
  902: ['disconnect-forgets-record', 'disconnect-forgets-debit'],
  909: ['locks-crossed-by-rollback', 'locks-crossed-by-unsettlement', 'locks-crossed-by-settlement'],
}

/** @returns how many of these audits fail the case */
export async function timesFound(
  id: string,
  fault: FaultName,
  window: Window,
  times: number,
): Promise<number> {
  let found = 0
  for (let time = 1; time <= times; time += 1) {
    const wallet = await startPlainWallet({ fault, window })
    try {
      const { results } = await auditWallet({
        baseUrl: wallet.url,
        credentials: wallet.credentials,
        playerId: 'player-1',
        currency: 'EUR',
        settle: { url: '/settlement' },
        seed: time,
        only: [id],
      })
      if (results.some(({ verdict }) => verdict === 'failed')) found += 1
    } finally {
      await wallet.close()
    }
  }
  return found
}

const allWindows = ['long', 'short', 'turn'] as const

async function main([first = '100', ...only]: readonly string[]): Promise<void> {
  const times = Number(first)
  const chosen = allWindows.filter(window => only.includes(window))
  const windows = chosen.length > 0 ? chosen : allWindows
  const ids = only.filter(word => word.startsWith('AU-'))
  console.log(`| Case | Defect | ${windows.join(' | ')} |\n|---|---${'|---'.repeat(windows.length)}|`)
  let least = times
  for (const [number, faults] of Object.entries(races)) {
    const id = `AU-${number}`
    if (ids.length > 0 && !ids.includes(id)) continue
    for (const fault of faults) {
      const found: number[] = []
      for (const window of windows) found.push(await timesFound(id, fault, window, times))
      least = Math.min(least, ...found)
      console.log(`| ${id} | ${fault} | ${found.join(' | ')} |`)
    }
  }
  if (least < 0.99 * times) process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2))
