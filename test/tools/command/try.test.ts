/** `bet-wallet try` as a process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runCommand } from './running.js'

const command = fileURLToPath(new URL('../../../dist/command.cjs', import.meta.url))

const statusFor = (url: string, host: string) =>
  new Promise(resolve => {
    const sent = request(url, { method: 'POST', headers: { host } }, answer => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.end()
  })

test('given no clone and no database, then the page places a bet, and Ctrl+C ends with 0', async () => {
  const child = spawn(process.execPath, [command, 'try', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const [printed] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  expect(printed).toMatch(/anna has 100\.00 EUR[\s\S]*Ctrl\+C/)
  const url = /http:\S+\//.exec(printed)?.[0] ?? ''
  const body = new URLSearchParams({ playerId: 'anna', stake: '30' })
  const page = await (await fetch(`${url}try/place`, { method: 'POST', body })).text()
  expect(page).toContain('Taken once, for 30.00 EUR; not settled.')
  expect(page).toContain('The stake was debited (spec 4.1).')
  // The name of another site that leads to this machine: a browser would let its script read the answers.
  expect(await statusFor(`${url}wallet/placebet`, 'evil.example')).toBe(401)
  expect(await statusFor(`${url}wallet/placebet`, new URL(url).host)).toBe(415)
  child.kill('SIGINT')
  expect(await closed).toEqual([0, null])
})

test('given a port in use, then exit code 2 and advice', async () => {
  const busy = createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  const { port } = busy.address() as { port: number }
  const { code, error } = await runCommand(['try', '--port', String(port)])
  expect([code, error]).toEqual([
    2,
    `Port ${port} is in use. --port 0 takes a free one.\n\nSee bet-wallet try --help.\n`,
  ])
  busy.close()
})

test.each([
  [['--port', '65536'], '--port must be at most 65535'],
  [['--port', 'x'], '--port must be a whole number'],
  [['somewhere'], 'try has no arguments: somewhere'],
])('given %j, then exit code 2 and the problem', async (words, problem) => {
  const { code, error } = await runCommand(['try', ...words])
  expect(code).toBe(2)
  expect(error).toContain(problem)
})
