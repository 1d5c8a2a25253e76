/** A code outside ISO 4217: the audit assumes 8 decimals, and stops where the wallet has fewer. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { auditWallet } from 'bet-wallet/audit'
import { createNodeListener } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import { afterEach, expect, test } from 'vitest'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function walletOf(minorUnits: number): Promise<string> {
  const store = createMemoryStore([{ playerId: 'anna', currency: 'CHIP', balance: '100' }])
  const listener = createNodeListener(store, { authenticate: () => true, minorUnits: () => minorUnits })
  const server = createServer(listener).listen(0, '127.0.0.1')
  closing.push(() => server.close())
  await new Promise(resolve => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const audited = async (minorUnits: number, assumed?: number) =>
  await auditWallet({
    ...{ baseUrl: await walletOf(minorUnits), playerId: 'anna', currency: 'CHIP', only: ['AU-101'] },
    timeoutMs: 60_000,
    ...(assumed === undefined ? {} : { minorUnits: () => assumed }),
  })

test('all first stakes are refused by their decimals: one line that names the option', async () => {
  await expect(audited(2)).rejects.toMatchObject({
    code: 'DECIMALS_REFUSED',
    message: expect.stringMatching(
      /^A stake of 0\.00000101 CHIP is refused \(400 \w+\), and one of 1\.00000000 CHIP is not: the audit assumes 8 decimals\. State how many the wallet has: --minor-units 2$/,
    ),
  })
})

test('with the option, and where the wallet has them, the cases run', async () => {
  expect((await audited(2, 2)).results.map(({ verdict }) => verdict)).toEqual(['passed'])
  expect((await audited(8)).results.map(({ verdict }) => verdict)).toEqual(['passed'])
})
