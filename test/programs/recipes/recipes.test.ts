/**
 * `bet-wallet simulate --fault` on real clusters: default and strict Patroni, Galera, Group Replication, one PostgreSQL.
 * Each run, and `bet-wallet check`, finds what it must find. One set-up: `-t patroni-strict`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { credentials } from '../soak/server-child.js'
import { createServerProcess } from '../soak/server-process.js'
import { openControls } from './controls.js'
import { setUps } from './set-ups.js'

const command = fileURLToPath(new URL('../../../dist/command.cjs', import.meta.url))
const players = Array.from({ length: 12 }, (_, index) => `sim-${index + 1}`)

async function run(words: readonly string[]): Promise<{ code: number | null; page: string }> {
  const child = spawn(process.execPath, [command, ...words], {
    env: { ...process.env, BET_WALLET_PASSWORD: credentials.password },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let page = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    page += text
  })
  const [code] = await once(child, 'close')
  return { code, page }
}

describe.each(Object.entries(setUps))('given %s', (_, setUp) => {
  const unavailable = setUp.unavailable()
  const name = `its faults are injected once, and what they lose is named${unavailable ? `: ${unavailable}` : ''}`

  it.skipIf(unavailable !== null)(name, { timeout: 900_000 }, async () => {
    const opened = await setUp.open(players)
    const controls = await openControls(opened.actions)
    const deaths: string[] = []
    const listener = { fault: () => {}, died: (how: string) => deaths.push(how) }
    const wallet = createServerProcess(opened.wallet.script, opened.wallet.settings, listener)
    try {
      await wallet.start()
      const { code, page } = await run([
        ...['simulate', wallet.url, '--staging', new URL(wallet.url).host, '--user', credentials.username],
        ...['--players', `${players.length}`, '--settle-url', '/settlement'],
        ...['--rate', '300', '--every', '20s'],
        ...setUp.faults.flatMap(([fault, repair]) => [
          '--fault',
          `${controls.command(fault)} && sleep 10 && ${controls.command(repair)}`,
        ]),
      ])
      const { expected } = setUp
      for (const pattern of expected.page) expect(page).toMatch(pattern)
      expect([code, deaths]).toEqual([expected.code, []])
      expect((await run(['check', '--own-players', ...opened.check])).page).toMatch(expected.durability)
    } finally {
      await wallet.end()
      controls.close()
      await opened.close()
    }
  })
})
