/** Hooks that are null, hooks that fail, plain ids of players, and remarks on passed cases. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { walletStoreCases } from '../../src/testing/cases.js'
import type { StoreHarness } from '../../src/testing/harness.js'
import { checkWalletStore } from '../../src/testing/report.js'
import { patched, staleReads } from './mutants.js'
import { type Database, type OpenedReference, ReferenceStore, referenceHarness } from './reference.js'

const failureOf = async (harness: StoreHarness<OpenedReference>, id: string, timeoutMs = 30_000) => {
  const [only] = walletStoreCases(harness, { only: [id], timeoutMs })
  return only?.run().then(
    () => null,
    (error: Error) => error,
  )
}

describe('a hook that is null', () => {
  const subjects = [
    'settleExternally',
    'holdPlayer',
    'closePlayer',
    'changeCurrency',
    'refuseBets',
    'holdCommit',
    'stopReplication',
    'ownRows',
    'advanceClock',
    'accountPerCurrency',
  ] as const

  test('does not apply: its cases are skipped, and the report stays complete', async () => {
    const lines: string[] = []
    const none = Object.fromEntries(subjects.map(hook => [hook, null]))
    const report = await checkWalletStore(
      { ...referenceHarness(), ...none },
      { print: line => lines.push(line), runs: 5 },
    )
    expect(report).toMatchObject({ passed: true, complete: true })
    const skipped = report.results.filter(({ result }) => result === 'skipped')
    expect(skipped.map(({ id }) => id)).toEqual(
      'WS-46 WS-47 WS-48 WS-49 WS-54 WS-56 WS-57 WS-58 WS-59 WS-79 WS-80 WS-81 WS-82 WS-83 WS-90 WS-91 WS-92 WS-93 WS-94 WS-101 WS-102 WS-103 WS-104 WS-105 WS-106 WS-107'.split(
        ' ',
      ),
    )
    expect(skipped.every(({ applies }) => !applies)).toBe(true)
    expect(lines).toContain(
      'skipped WS-47 MUST   Transactions, refusals and tombstones never expire (D5) (does not apply: advanceClock is null)',
    )
    expect(lines.at(-1)).toContain('PASSED: ')
  })

  test.each(subjects)('is not the same as none: without %s the report is incomplete', async hook => {
    const { [hook]: _, ...others } = referenceHarness()
    const report = await checkWalletStore(others, { print: null, runs: 1 })
    expect(report).toMatchObject({ passed: true, complete: false })
  })

  test.each(['close', 'reopen', 'crash', 'depositExternally', 'limits'] as const)(
    'is invalid for %s, which every store can have',
    hook => {
      const harness = { ...referenceHarness(), [hook]: null } as unknown as StoreHarness<OpenedReference>
      expect(() => walletStoreCases(harness)).toThrow(`${hook} of the harness may be left out, but not null`)
    },
  )
})

test('a table with minor units per currency is correct: no case deposits a fraction of a yen', async () => {
  const reference = referenceHarness()
  const checked = (currency: string | undefined, amount: string) => {
    if (currency === 'JPY' && amount.includes('.')) throw new Error(`${amount} JPY does not fit`)
  }
  const harness: StoreHarness<OpenedReference> = {
    ...reference,
    open(players) {
      for (const { currency, balance } of players) checked(currency, balance)
      return reference.open(players)
    },
    async depositExternally(opened, playerId, amount, currency) {
      checked(currency, amount)
      await reference.depositExternally?.(opened, playerId, amount, currency)
    },
  }
  const { results } = await checkWalletStore(harness, { print: null })
  expect(results.filter(({ result }) => result === 'failed').map(({ id, detail }) => [id, detail])).toEqual(
    [],
  )
})

describe('under a test runner', () => {
  afterEach(() => vi.unstubAllEnvs())
  const reopenCase = () => {
    const { reopen: _, ...without } = referenceHarness()
    return walletStoreCases(without, { only: ['WS-43'] })[0]
  }

  test('the title of a skipped case has the reason', () => {
    expect(reopenCase()?.title).toMatch(/^WS-43 .+ \(skipped: the harness has no reopen\)$/)
    const [judged] = walletStoreCases(referenceHarness(), { only: ['WS-43'] })
    expect(judged?.title).toBe(`WS-43 ${judged?.name}`)
  })

  test.each([
    [{ VITEST: 'true' }, "npx vitest run -t 'WS-01 '"],
    [{ VITEST: '', JEST_WORKER_ID: '1' }, "npx jest -t 'WS-01 '"],
    [
      { VITEST: '', JEST_WORKER_ID: '', NODE_TEST_CONTEXT: 'child-v8' },
      "node --test --test-name-pattern='WS-01 '",
    ],
  ])('a failed case has the line that repeats it: %j', async (environment, line) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    const failure = await failureOf(
      { ...referenceHarness(), open: () => Promise.reject(new Error()) },
      'WS-01',
    )
    expect(failure?.message).toContain(`\n  here:     ${line}`)
  })
})

describe("a harness whose own hook fails: the report says so, and quotes the hook's error", () => {
  const duplicate = () => Promise.reject(new Error("Duplicate entry 'ABC' for key 'PRIMARY'"))

  test('open', async () => {
    const failure = await failureOf({ ...referenceHarness(), open: duplicate }, 'WS-12')
    expect(failure?.message).toContain('expected: the hook open of the harness to succeed')
    expect(failure?.message).toContain("actual:   it failed: Error: Duplicate entry 'ABC' for key 'PRIMARY'")
    // What the author can do about it.
    expect(failure?.message).toContain("playerIds: 'plain'")
  })

  test.each([
    ['reopen', 'WS-43'],
    ['crash', 'WS-45'],
    ['holdCommit', 'WS-46'],
    ['advanceClock', 'WS-47'],
    ['holdPlayer', 'WS-49'],
    ['stopReplication', 'WS-54'],
    ['closePlayer', 'WS-56'],
    ['changeCurrency', 'WS-57'],
    ['refuseBets', 'WS-58'],
    ['depositExternally', 'WS-75'],
    ['settleExternally', 'WS-80'],
    ['close', 'WS-01'],
  ] as const)('%s', async (hook, id) => {
    const failure = await failureOf({ ...referenceHarness(), [hook]: duplicate }, id)
    expect(failure?.message).toContain(`expected: the hook ${hook} of the harness to succeed`)
    expect(failure?.message).toContain('Duplicate entry')
    expect(failure?.cause).toMatchObject({ name: 'HookFailed' })
  })
})

describe("playerIds: 'plain', for an accounts table that does not keep every id apart", () => {
  const idCases = ['WS-11', 'WS-12', 'WS-13', 'WS-14', 'WS-15', 'WS-18']
  const folded = (id: string) => id.toLowerCase().trimEnd().normalize('NFD').replace(/\p{M}/gu, '')

  /** The accounts fold case, accents and trailing spaces; bets and transactions do not. */
  class FoldingAccounts extends ReferenceStore {
    override playerKey(playerId: string) {
      return folded(playerId)
    }
  }
  const harnessOf = (
    Store: new (database: Database) => ReferenceStore,
    plain: boolean,
  ): StoreHarness<OpenedReference> => {
    const harness = referenceHarness(Store)
    return {
      ...harness,
      ...(plain ? { playerIds: 'plain' as const } : {}),
      accountPerCurrency: null,
      open(players) {
        const ids = players.map(({ playerId }) => folded(playerId))
        const twice = ids.find((id, index) => ids.indexOf(id) !== index)
        if (twice !== undefined) throw new Error(`Duplicate entry '${twice}' for key 'PRIMARY'`)
        return harness.open(players)
      },
    }
  }
  const failedOf = async (harness: StoreHarness<OpenedReference>, only?: string[]) => {
    const { results } = await checkWalletStore(harness, {
      print: null,
      runs: 20,
      ...(only === undefined ? {} : { only }),
    })
    return results.filter(({ result, applies }) => result !== 'passed' && applies).map(({ id }) => id)
  }

  test('the store passes every case', async () => {
    expect(await failedOf(harnessOf(FoldingAccounts, true))).toEqual([])
  })

  test('without it, the cases of ids cannot even open their players', async () => {
    expect(await failedOf(harnessOf(FoldingAccounts, false), idCases)).toEqual(['WS-12', 'WS-13', 'WS-14'])
  })

  test.each([
    ['WS-11', (id: string) => id.slice(0, 254)],
    ['WS-12', (id: string) => id.toLowerCase()],
    ['WS-13', (id: string) => id.trimEnd()],
    ['WS-14', (id: string) => id.normalize('NFC')],
    ['WS-18', (id: string) => id.slice(0, 255)],
  ])('ids of bets and transactions are tested as always: %s', async (id, stored) => {
    class FoldingBets extends FoldingAccounts {
      override id(text: string) {
        return stored(text)
      }
    }
    class FoldingTransactions extends FoldingAccounts {
      override transactionKey({ operation, transactionId }: Parameters<ReferenceStore['transactionKey']>[0]) {
        return `${operation} ${stored(transactionId)}`
      }
    }
    for (const Store of [FoldingBets, FoldingTransactions])
      expect(await failedOf(harnessOf(Store, true), [id])).toEqual([id])
  })
})

test('playerIds is plain or left out', () => {
  const harness = { ...referenceHarness(), playerIds: 'simple' } as unknown as StoreHarness<OpenedReference>
  expect(() => walletStoreCases(harness)).toThrow("playerIds of the harness must be 'plain', or left out")
})

describe('WS-43, a connection that lags', () => {
  test('one stale load in fifteen is found in 100 of 100 runs', async () => {
    const found: number[] = []
    for (let seed = 1; seed <= 100; seed += 1) {
      const failure = await failureOf(referenceHarness(patched(staleReads(seed))), 'WS-43')
      if (failure !== null) found.push(seed)
    }
    expect(found).toHaveLength(100)
  })

  test('says how many turns there were, if time did not suffice for all of them', async () => {
    let now = 0
    const clock = performance.now
    performance.now = () => {
      now += 1
      return now
    }
    try {
      const options = { only: ['WS-43'], timeoutMs: 10, print: null }
      const [result] = (await checkWalletStore(referenceHarness(), options)).results
      expect(result).toMatchObject({ result: 'passed', detail: '9 of 100 turns, which took 10 ms' })
    } finally {
      performance.now = clock
    }
  })

  test('is silent about all of them', async () => {
    const { results } = await checkWalletStore(referenceHarness(), { only: ['WS-43'], print: null })
    expect(results[0]).toMatchObject({ result: 'passed', detail: null })
  })
})

test('WS-49 says so if no commit gave up', async () => {
  /** Waits for a locked player as long as it takes. */
  class Patient extends ReferenceStore {
    override async begin(changes: Parameters<ReferenceStore['begin']>[0]) {
      const player = this.accountLock(changes.transaction.playerId, changes.account.currency)
      while (this.locks.isKept(player)) await new Promise(resolve => setImmediate(resolve))
      await super.begin(changes)
    }
  }
  const options = { only: ['WS-49'], timeoutMs: 5_000, print: null }
  const [result] = (await checkWalletStore(referenceHarness(Patient), options)).results
  expect(result).toMatchObject({
    result: 'passed',
    detail: 'no commit gave up: they waited 10000 ms for the player',
  })
})
