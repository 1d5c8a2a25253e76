/** What `simulate --report` writes, `reconcile` compares with the wallet's records: on a server. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { basicAuth, createNodeListener } from '../../../src/http/index.js'
import { recordSettlement } from '../../../src/index.js'
import { type Opened, testedDatabases } from '../../lookups/databases.js'
import { expectGoodPage } from '../report/page-rules.js'
import { runCommand } from './running.js'

const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-simulated-'))
const report = join(folder, 'platform.csv')
const page = join(folder, 'page.html')

let wallet: Opened | undefined
let server: Server
beforeAll(async () => {
  const opened = await testedDatabases[0]?.open()
  if (opened === undefined) throw new Error('no database')
  wallet = opened
  server = createServer(
    createNodeListener(opened.store, {
      basePath: '/wallet',
      authenticate: basicAuth({ username: 'platform', password: 'demo-secret' }),
      routes: { '/settlement': body => recordSettlement(opened.store, body) },
    }),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await wallet?.close()
  rmSync(folder, { recursive: true, force: true })
})

test('the report of a run equals the records, and a row that is taken out is named', async () => {
  const environment = { BET_WALLET_PASSWORD: 'demo-secret', BET_WALLET_DATABASE_URL: wallet?.url ?? '' }
  const run = (words: string) => runCommand(words.split(' '), { environment })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/wallet`
  const simulated = await run(
    `simulate ${url} --players anna,kenji --user platform --bets 60 --seed 1 --chaos 0.5 --report ${report} --html ${page}`,
  )
  expect(simulated.out).toContain('PASSED')
  expectGoodPage(readFileSync(page, 'utf8'))
  expect(readFileSync(page, 'utf8')).not.toContain('demo-secret')

  const [, words = ''] = /^Compare: npx bet-wallet (reconcile .*)$/m.exec(simulated.error) ?? []
  const equal = await run(words)
  expect([equal.code, equal.out]).toEqual([0, expect.stringMatching(/^EQUAL: /m)])

  const lines = readFileSync(report, 'utf8').split('\n')
  const index = lines.findIndex(line => /^placebet,.*,accepted,/.test(line))
  writeFileSync(report, lines.toSpliced(index, 1).join('\n'))
  const { code, out } = await run(words)
  expect([code, out]).toEqual([1, expect.stringMatching(/^DIFFERENT: 1 difference/m)])
  expect(out).toContain(lines[index]?.split(',')[1])
})
