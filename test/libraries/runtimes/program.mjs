/** Runs in Node, Bun and Deno, on the packed package: the core, HTTP behind the runtime's own server, and the kit. */
import { createServer } from 'node:http'
import process from 'node:process'
import { handlePlaceBet } from 'bet-wallet'
import { basicAuth, createFetchHandler, createNodeListener } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import { checkWalletStore } from 'bet-wallet/testing'

const bet = {
  transactionId: 't-1',
  betId: 'b-1',
  playerId: 'anna',
  sessionId: 's-1',
  amount: '30.00',
  currency: 'EUR',
  betType: 'SINGLE',
  transactionDate: '2026-11-21T18:00:00Z',
}
const players = () => [{ playerId: 'anna', currency: 'EUR', balance: '1234567890123456.78' }]

async function core() {
  const store = createMemoryStore(players())
  const outcomes = [await handlePlaceBet(store, bet), await handlePlaceBet(store, bet)]
  return outcomes.map(({ ok, replayed, balance }) => ({ ok, replayed, balance }))
}

const store = createMemoryStore(players())
const options = {
  authenticate: basicAuth({ username: 'platform', password: 'secret' }),
  basePath: '/wallet',
  bodyBytesMax: 1_000,
}
const fetchHandler = createFetchHandler(store, options)

/** The address of the runtime's own server, and its end. */
async function serve() {
  if (globalThis.Bun) {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: fetchHandler })
    return { port: server.port, stop: () => server.stop(true) }
  }
  if (globalThis.Deno) {
    const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, fetchHandler)
    return { port: server.addr.port, stop: () => server.shutdown() }
  }
  return await serveNode()
}

/** node:http, which Bun and Deno have too. */
async function serveNode() {
  const server = createServer(createNodeListener(store, options))
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return { port: server.address().port, stop: () => void server.close() }
}

async function http(open, id) {
  const { port, stop } = await open()
  const call = async (body, password = 'secret') => {
    const response = await fetch(`http://127.0.0.1:${port}/wallet/placebet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Basic ${btoa(`platform:${password}`)}` },
      body,
    })
    return [response.status, await response.text()]
  }
  const exact = JSON.stringify({ ...bet, transactionId: id, betId: id }).replace('"30.00"', '0.01')
  const answers = [
    await call(exact),
    await call(exact),
    await call('{}', 'wrong'),
    await call('{'),
    await call(' '.repeat(1_001)),
  ]
  await stop()
  return answers.map(([status, text]) => [status, JSON.parse(text).errorCode ?? text])
}

async function kit() {
  const harness = { open: list => ({ store: createMemoryStore(list) }) }
  const { passed, counts } = await checkWalletStore(harness, { runs: 20, print: null })
  return { passed, cases: counts.passed, failed: counts.failed }
}

const results = {
  core: await core(),
  own: await http(serve, 'own'),
  node: await http(serveNode, 'node'),
  kit: await kit(),
}
console.log(JSON.stringify(results))
process.exit(0)
