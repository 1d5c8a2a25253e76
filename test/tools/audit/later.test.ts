/** Wallets that forget after a while, or when they are restarted, fail the cases in two acts. */
import { type AddressInfo, connect, createServer } from 'node:net'
import { type AuditOptions, type AuditReport, auditCases, auditWallet } from 'bet-wallet/audit'
import { afterEach, describe, expect, it } from 'vitest'
import { isOfAccounts } from '../wallets/accounts.js'
import { type Fault, fieldsOf, type Message, refusal, startFront } from '../wallets/fronts.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const correct: Fault = { says: 'Nothing is wrong' }

async function audited(fault: Fault, options: Partial<AuditOptions>): Promise<AuditReport> {
  const wallet = await startFront(fault)
  closing.push(() => wallet.close())
  return await auditWallet({
    baseUrl: wallet.url,
    credentials: wallet.credentials,
    playerId: 'player-1',
    currency: 'EUR',
    settle: { url: '/settlement' },
    timeoutMs: 60_000,
    only: ['AU-92*', 'AU-94*', 'AU-991'],
    ...options,
  })
}

const idsOf = ({ results }: AuditReport, verdict: string) =>
  results.filter(result => result.verdict === verdict).map(({ id }) => id)

/** Executes a call under new ids, as a wallet does that has forgotten the transaction or its bet. */
const asNew = (message: Message): Message => {
  const fields = fieldsOf(message) ?? {}
  const ids = { transactionId: `${fields.transactionId}-again`, betId: `${fields.betId}-again` }
  return { ...message, body: Buffer.from(JSON.stringify({ ...fields, ...ids })) }
}

type Forgets = 'placebets' | 'tombstones' | 'open bets'

/** @param isForgotten whether the wallet has forgotten what it was told at this time */
function forgetful(what: Forgets, isForgotten: (since: number) => boolean): Fault {
  const placed = new Map<unknown, number>()
  const cancelled = new Map<unknown, number>()
  return {
    says: `${what} are forgotten`,
    call(message) {
      const { betId } = fieldsOf(message) ?? {}
      const known = (times: Map<unknown, number>) =>
        times.has(betId) && isForgotten(times.get(betId) as number)
      const { path } = message
      if (path === '/placebet' && what === 'placebets' && known(placed)) return asNew(message)
      if (path === '/placebet' && what === 'tombstones' && known(cancelled)) return asNew(message)
      if (path === '/rollbackbet' && what === 'open bets' && known(placed)) return refusal(400, 'TOO_LATE')
      if (path === '/placebet') placed.set(betId, performance.now())
      if (path === '/rollbackbet') cancelled.set(betId, performance.now())
      return message
    },
  }
}

const first: Record<Forgets, [string, string]> = {
  placebets: ['AU-921', 'AU-941'],
  tombstones: ['AU-922', 'AU-942'],
  'open bets': ['AU-924', 'AU-944'],
}

describe('without the options', () => {
  it('the cases are skipped with a reason, and the report says what is not seen', async () => {
    const report = await audited(correct, {})
    expect(idsOf(report, 'skipped')).toHaveLength(16)
    expect(new Set(report.results.map(({ reason }) => reason))).toEqual(
      new Set([
        'no long pause was given (--pause)',
        'no way to restart the wallet was given (--restart-command)',
        null,
      ]),
    )
    expect(report.limitations?.join('\n')).toMatch(/--pause[\s\S]*--restart-command/)
    expect(report.limitations?.join('\n')).toContain('--other-player')
  })
})

describe('an audit of all cases', () => {
  it('counts those that need an option as skipped, and is incomplete', async () => {
    const wallet = await startFront(correct)
    closing.push(() => wallet.close())
    const { results, complete } = await auditWallet({
      ...{ baseUrl: wallet.url, credentials: wallet.credentials, playerId: 'player-1', currency: 'EUR' },
      timeBudgetMs: 1,
    })
    expect(results.map(({ id }) => id)).toEqual(
      auditCases.map(({ id }) => id).filter(id => !isOfAccounts(id)),
    )
    expect(complete).toBe(false)
  })
})

describe('with the options', () => {
  it('a wallet that forgets nothing passes, after one pause and one restart', async () => {
    let restarts = 0
    const report = await audited(correct, {
      pauseMs: 300,
      restart: () => {
        restarts += 1
      },
    })
    expect(idsOf(report, 'passed')).toHaveLength(17)
    expect(restarts).toBe(1)
    expect(report.funds?.after).toBe(report.funds?.before)
    expect(report.limitations?.join('\n')).not.toMatch(/\(--pause\)|\(--restart-command\)/)
  })

  it.each(Object.keys(first) as Forgets[])('a wallet that forgets %s after a while fails', async what => {
    const forgetAfterMs = 1_000
    const fault = forgetful(what, since => performance.now() - since > forgetAfterMs)
    const report = await audited(fault, { pauseMs: forgetAfterMs + 500 })
    expect(idsOf(report, 'failed')).toContain(first[what][0])
  })

  it('given a process that still answers on open connections, then the restart is over on a new one', async () => {
    const wallet = await startFront(correct)
    closing.push(() => wallet.close())
    const { hostname, port } = new URL(wallet.url)
    let restarts = 0
    let late = 0
    const proxy = createServer(socket => {
      const own = restarts
      const upstream = connect(Number(port), hostname)
      socket.on('data', () => {
        if (own < restarts) late += 1
      })
      socket.on('error', () => upstream.destroy())
      upstream.on('error', () => socket.destroy())
      socket.pipe(upstream).pipe(socket)
    })
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
    closing.push(async () => void proxy.close())
    const url = new URL(wallet.url)
    url.port = String((proxy.address() as AddressInfo).port)
    const report = await audited(correct, {
      ...{ baseUrl: url.href, credentials: wallet.credentials, only: ['AU-94*'] },
      restart: () => {
        restarts += 1
      },
    })
    expect([restarts, late, idsOf(report, 'failed')]).toEqual([1, 0, []])
  })

  it.each(Object.keys(first) as Forgets[])('a wallet that keeps %s in memory fails', async what => {
    let restartedAt = Number.NEGATIVE_INFINITY
    const restart = () => {
      restartedAt = performance.now()
    }
    const report = await audited(
      forgetful(what, since => since < restartedAt),
      { restart },
    )
    expect(idsOf(report, 'failed')).toContain(first[what][1])
    expect(idsOf(report, 'failed')).not.toContain(first[what][0])
  })

  it('calls that are lost in the restart are no fault, and those before it are', async () => {
    let isDown = false
    let lost = 0
    const restarting: Fault = {
      says: 'The wallet is down for some calls, as long as it restarts',
      call(message) {
        if (!isDown) return message
        lost += 1
        isDown = lost < 3
        return refusal(503, 'STARTING')
      },
    }
    const options: Partial<AuditOptions> = { only: ['AU-94*', 'AU-981'] }
    const restart = () => {
      isDown = true
    }
    const report = await audited(restarting, { ...options, restart })
    expect(lost).toBe(3)
    expect(idsOf(report, 'failed')).toEqual([])

    let calls = 0
    const failing: Fault = {
      says: 'One call before the restart fails',
      call(message) {
        calls += 1
        return calls === 5 ? refusal(503, 'UNAVAILABLE') : message
      },
    }
    const before = await audited(failing, { ...options, restart: () => {} })
    expect(idsOf(before, 'failed')).toEqual(['AU-981'])
  })

  it('a restart that fails skips its cases, with the reason, and the audit has not passed', async () => {
    const report = await audited(correct, { restart: { command: 'echo no such service >&2; exit 5' } })
    const reasons = report.results.filter(({ id }) => id.startsWith('AU-94')).map(({ reason }) => reason)
    expect(new Set(reasons)).toEqual(
      new Set(['the wallet could not be restarted: the command ended with code 5: no such service']),
    )
    expect(report.funds?.after).toBe(report.funds?.before)
    expect(report.passed).toBe(false)
  })
})
