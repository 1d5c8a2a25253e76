/**
 * How long NestJS takes to stop under load, by its own shutdown hooks and by `stopGracefully`:
 * `npx tsx --tsconfig test/libraries/frameworks/tsconfig.json test/libraries/frameworks/stop-times.ts`
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { WalletStore } from 'bet-wallet'
import { createNodeListener } from 'bet-wallet/http'
import { WalletOperations } from './apps/nestjs-operations.js'
import { options, store } from './apps/wallet.js'
import 'reflect-metadata'

const callers = 16
const loadMs = 2_000
/** After the signal the callers go on for as long. */
const lastMs = 15_000
/** Of a commit, as in a database. */
const commitMs = 20
const [, , role] = process.argv

if (role === undefined) {
  for (const way of ['nest', 'ours', 'nest', 'ours']) await measure(way)
} else {
  await listen(role === 'ours')
}

async function listen(isOurs: boolean): Promise<void> {
  // That of tsx, which would end the process at once.
  process.removeAllListeners('SIGTERM')
  class AppModule {}
  Module({ providers: isOurs ? [WalletOperations] : [] })(AppModule)
  const app = await NestFactory.create(AppModule, { logger: false })
  const slowStore: WalletStore = {
    ...store,
    async commit(changes) {
      await new Promise(resolve => setTimeout(resolve, commitMs))
      return await store.commit(changes)
    },
  }
  app.use('/wallet', createNodeListener(slowStore, options))
  app.enableShutdownHooks()
  await app.listen(0, '127.0.0.1')
  console.log(app.getHttpServer().address().port)
}

async function measure(way: string): Promise<void> {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), way]
  const env = { ...process.env, INTERNAL_PORT: '0' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [printed] = await once(child.stdout, 'data')
  const port = Number(printed)
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  const answers = new Map<string, number>()
  let sent = 0
  let isOver = false
  const caller = async () => {
    while (!isOver) {
      const answer = await send(port, agent, ++sent)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
      if (answer === 'ECONNREFUSED') return
    }
  }
  const calling = Promise.all(Array.from({ length: callers }, caller))
  await new Promise(resolve => setTimeout(resolve, loadMs))
  const began = performance.now()
  child.kill('SIGTERM')
  const last = setTimeout(() => {
    isOver = true
  }, lastMs)
  await once(child, 'exit')
  const seconds = (performance.now() - began) / 1_000
  isOver = true
  clearTimeout(last)
  await calling
  agent.destroy()
  console.log(`${way}: ${seconds.toFixed(2)} s`, Object.fromEntries(answers))
}

function send(port: number, agent: Agent, number: number): Promise<string> {
  const authorization = `Basic ${btoa('platform:secret')}`
  const headers = { 'content-type': 'application/json', authorization }
  return new Promise(resolve => {
    const path = '/wallet/rollbackbet'
    const sent = request({ port, host: '127.0.0.1', agent, path, method: 'POST', headers }, response =>
      response.resume().once('close', () => resolve(`${response.statusCode}`)),
    )
    sent.once('error', (error: NodeJS.ErrnoException) => resolve(`${error.code}`))
    const ids = {
      transactionId: `r-${number}`,
      betId: `b-${number}`,
      playerId: 'anna',
      type: 'TECHNICAL_ERROR',
    }
    sent.end(JSON.stringify({ ...ids, transactionDate: '2026-11-21T18:00:00Z' }))
  })
}
