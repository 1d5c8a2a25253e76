import { describe, expect, test, vi } from 'vitest'
import { handlePlaceBet, handleRollbackBet, type WalletOptions } from '../src/index.js'
import type { CommitResult, WalletChanges, WalletSnapshot, WalletStore } from '../src/store.js'
import { alice, bet, faultOf, live, placeBet, rollbackBet, snapshot, transaction } from './fixtures.js'

/** A valid snapshot with every field that a store can return. */
const valid = snapshot({
  bet: bet({ credits: { BET_PAID: live('60'), VOIDED: live('30'), CASHOUT: { ...live('0'), live: null } } }),
  transaction: transaction({ refusal: { errorCode: 'INVALID_BET', description: 'known' } }),
})

const missing = Symbol('missing')

/** A copy with the field at the path set to the value, or deleted for `missing`. */
function withField<T extends object>(whole: T, path: string, value: unknown): T {
  const copy = structuredClone(whole)
  const names = path.split('.')
  const last = names.pop() as string
  const part = names.reduce(
    (at, name) => at[name] as Record<string, unknown>,
    copy as Record<string, unknown>,
  )
  if (value === missing) delete part[last]
  else part[last] = value
  return copy
}

function storeWith(loaded: unknown, ...[committed]: unknown[]) {
  const commit = vi.fn(async () => committed as CommitResult)
  return { contractVersion: 2, load: async () => loaded as WalletSnapshot, commit } as const
}

/** With a hook that needs the player, a placebet is loaded before it is committed. */
const loadFirst: WalletOptions = { authorizeBet() {} }

async function expectViolation(loaded: unknown, where: string, rule: RegExp) {
  const store = storeWith(loaded)
  const fault = await faultOf(handlePlaceBet(store, placeBet(), loadFirst))
  expect(fault).toMatchObject({ code: 'STORE_CONTRACT', retryable: false })
  expect(fault.message).toContain(`The store violates its contract: ${where.replace('.0', '[0]')} must be `)
  expect(fault.message).toMatch(rule)
  expect(store.commit).not.toHaveBeenCalled()
}

const notText = [undefined, missing, '', 17, true, ['EUR'], new Date(0), {}]
const notDecimal = [
  ...[undefined, missing, 100, 100.5, 0, Number.NaN, 10n, true, [], ['1'], {}, new Date(0)],
  ...['', ' 1', '-0', '-0.00', '1e2', '1E2', '+1', '01', '.5', '5.', '1,5', 'NaN', '1'.repeat(41)],
]

test('given a store that meets its contract, when it is called, then its snapshot is accepted', async () => {
  expect(await handlePlaceBet(storeWith(valid), placeBet(), loadFirst)).toMatchObject({
    ok: false,
    replayed: true,
  })
})

test.each<[string, string, unknown]>([
  ['a reference of null', 'transaction.walletTransactionId', null],
  ['an amount with zeros', 'transaction.amount', '30.00'],
  ['a reason of a newer version', 'transaction.reason', 'OF_A_NEWER_VERSION'],
  ['no credits', 'bet.credits', {}],
  ['a negative balance', 'accounts.0.balance', '-12.50'],
  ['a further field', 'accounts.0.nickname', undefined],
])(
  'given a store that returns %s, when it is called, then its snapshot is accepted',
  async (_what, path, value) => {
    expect(
      await handlePlaceBet(storeWith(withField(valid, path, value)), placeBet(), loadFirst),
    ).toMatchObject({
      ok: false,
      replayed: true,
    })
  },
)

describe('given an invalid snapshot', () => {
  test.each([undefined, null, [], 'rows', 5, () => valid])(
    'when load returns it (%#), then STORE_CONTRACT',
    async loaded => {
      await expectViolation(loaded, 'the snapshot', /{ accounts, bet, transaction }/)
    },
  )
})

test.each([undefined, missing, null, 'x', 5, {}, true])(
  'given snapshot.accounts that are no array (%#), then STORE_CONTRACT',
  async value => {
    await expectViolation(withField(valid, 'accounts', value), 'snapshot.accounts', /an array, empty for an/)
  },
)

test.each([undefined, null, 'x', 5, []])(
  'given an account that is no record (%#), then STORE_CONTRACT',
  async value => {
    await expectViolation(
      withField(valid, 'accounts.0', value),
      'snapshot.accounts.0',
      /an account \{ playerId/,
    )
  },
)

test('given two accounts in one currency, then STORE_CONTRACT', async () => {
  const accounts = [alice, { ...alice, currency: 'USD' }, { ...alice, balance: '7' }]
  const loaded = { ...valid, accounts }
  await expectViolation(loaded, 'snapshot.accounts[2]', /the only account in its currency/)
})

describe.each(['bet', 'transaction', 'transaction.refusal'])('given an invalid snapshot.%s', path => {
  test.each([undefined, missing, 'x', 5, [], true])(
    'when it is neither a record nor null (%#), then STORE_CONTRACT',
    async value => {
      await expectViolation(
        withField(valid, path, value),
        `snapshot.${path}`,
        /a record, or null if there is none/,
      )
    },
  )
})

describe.each([
  'accounts.0.balance',
  'bet.stake',
  'bet.credits.BET_PAID.reversed',
  'bet.credits.VOIDED.owed',
  'transaction.delta',
])('given an invalid snapshot.%s', path => {
  test.each([...notDecimal, null])('when it is not decimal text (%#), then STORE_CONTRACT', async value => {
    await expectViolation(withField(valid, path, value), `snapshot.${path}`, /decimal text such as/)
  })
})

test.each(['stake', 'credits.BET_PAID.live', 'credits.VOIDED.reversed', 'credits.BET_PAID.owed'])(
  'given a snapshot.bet.%s below 0, which would turn a debit into a credit, then STORE_CONTRACT',
  path => expectViolation(withField(valid, `bet.${path}`, '-5'), `snapshot.bet.${path}`, /at least 0/),
)

test.each([
  ['amount', null, /must be present for a placebet/],
  ['currency', null, /must be present for a placebet/],
  ['type', 'SINGLE', /must be null for a placebet/],
])(
  'given a placebet with transaction.%s %j, which no retry could match, then STORE_CONTRACT',
  (field, value, rule) =>
    expectViolation(withField(valid, `transaction.${field}`, value), `snapshot.transaction.${field}`, rule),
)

test('given a credit of an unknown type, then STORE_CONTRACT', () =>
  expectViolation(
    withField(valid, 'bet.credits.PAID', live('60')),
    'snapshot.bet.credits.PAID',
    /BET_PAID, VOIDED/,
  ))

describe.each(['bet.credits.BET_PAID.live', 'bet.credits.CASHOUT.live', 'transaction.amount'])(
  'given an invalid snapshot.%s',
  path => {
    test.each(notDecimal)(
      'when it is neither decimal text nor null (%#), then STORE_CONTRACT',
      async value => {
        await expectViolation(
          withField(valid, path, value),
          `snapshot.${path}`,
          /decimal text such as .* or null/,
        )
      },
    )
  },
)

describe.each([
  'accounts.0.currency',
  'bet.playerId',
  'bet.currency',
  'transaction.playerId',
  'transaction.betId',
  'transaction.reason',
  'transaction.refusal.errorCode',
  'transaction.refusal.description',
])('given an invalid snapshot.%s', path => {
  test.each([...notText, null])('when it is not text (%#), then STORE_CONTRACT', async value => {
    await expectViolation(withField(valid, path, value), `snapshot.${path}`, /non-empty text/)
  })
})

describe.each([
  'transaction.currency',
  'transaction.accountCurrency',
  'transaction.type',
  'transaction.walletTransactionId',
])('given an invalid snapshot.%s', path => {
  test.each(notText.filter(value => value !== ''))(
    'when it is neither text nor null (%#), then STORE_CONTRACT',
    async value => {
      await expectViolation(withField(valid, path, value), `snapshot.${path}`, /text or null/)
    },
  )
})

describe.each(['accounts.0.playerId', 'bet.betId', 'transaction.operation', 'transaction.transactionId'])(
  'given a snapshot.%s other than the requested one',
  path => {
    const requested = path
      .split('.')
      .reduce((at: unknown, name) => (at as Record<string, unknown>)[name], valid) as string

    test.each([...notText, null, 'another', requested.toUpperCase(), `${requested} `])(
      'when it is another value (%#), then STORE_CONTRACT',
      async value => {
        await expectViolation(withField(valid, path, value), `snapshot.${path}`, /equal to the requested/)
      },
    )
  },
)

test.each([undefined, missing, null, 'placed', 'SETTLED', '', 1])(
  'given an invalid snapshot.bet.status (%#), then STORE_CONTRACT',
  async value => {
    await expectViolation(
      withField(valid, 'bet.status', value),
      'snapshot.bet.status',
      /PLACED or ROLLED_BACK/,
    )
  },
)

test.each([undefined, missing, null, 0, -1, 1.5, '1', 1n, Number.NaN, 2 ** 53])(
  'given an invalid snapshot.bet.revision (%#), then STORE_CONTRACT',
  async value => {
    await expectViolation(
      withField(valid, 'bet.revision', value),
      'snapshot.bet.revision',
      /a whole number of at least 1/,
    )
  },
)

test.each([undefined, missing, null, [], '{}', 5])(
  'given invalid snapshot.bet.credits (%#), then STORE_CONTRACT',
  async value => {
    await expectViolation(
      withField(valid, 'bet.credits', value),
      'snapshot.bet.credits',
      /empty if nothing was ever credited/,
    )
  },
)

test.each(['BET_PAID', 'VOIDED', 'CASHOUT'])(
  'given a %s credit whose key is present without a credit, then STORE_CONTRACT',
  async type => {
    for (const value of [undefined, null, '60', 60, []]) {
      const where = `snapshot.bet.credits.${type}`
      await expectViolation(withField(valid, `bet.credits.${type}`, value), where, /its key is absent/)
    }
  },
)

test.each<[unknown, string]>([
  [undefined, 'but is undefined'],
  [100.5, 'but is the number 100.5'],
  [10n, 'but is the bigint 10'],
  ['1e2', 'but is the text "1e2"'],
  [`1${'0'.repeat(1_000_000)}`, `but is the text "1${'0'.repeat(59)}"`],
  [true, 'but is the boolean true'],
  [null, 'but is null'],
  [['100'], 'but is an array'],
  [new Date(0), 'but is a value of type object'],
])(
  'given an invalid balance (%#), then the message shows the actual value, shortened',
  async (balance, ending) => {
    const fault = await faultOf(
      handlePlaceBet(storeWith(withField(valid, 'accounts.0.balance', balance)), placeBet(), loadFirst),
    )
    expect(fault.message.endsWith(ending)).toBe(true)
  },
)

describe('given an invalid result of commit', () => {
  const committed = { status: 'committed', balance: '70', walletTransactionId: 'W1' }
  const refused = { status: 'refused', errorCode: 'LIMIT_REACHED', description: 'daily limit reached' }

  async function expectInvalidResult(result: unknown, message: RegExp) {
    const store = storeWith(snapshot(), result)
    const fault = await faultOf(handlePlaceBet(store, placeBet()))
    expect(fault).toMatchObject({ code: 'STORE_CONTRACT', retryable: false })
    expect(fault.message).toMatch(message)
    expect(store.commit).toHaveBeenCalledTimes(1)
  }

  test.each([undefined, null, [], 'committed', true])(
    'when it is not a result (%#), then STORE_CONTRACT',
    async result => {
      await expectInvalidResult(result, /: commit\(\) must be a result/)
    },
  )

  test.each([undefined, missing, null, 'ok', 'COMMITTED', '', 1, 'unknown'])(
    'when its status is unknown (%#), then STORE_CONTRACT',
    async status => {
      await expectInvalidResult(
        withField(committed, 'status', status),
        /: commit\(\)\.status must be committed, conflict, refused or unavailable/,
      )
    },
  )

  test.each([...notDecimal, null])(
    'when its balance is not decimal text (%#), then STORE_CONTRACT',
    async balance => {
      await expectInvalidResult(
        withField(committed, 'balance', balance),
        /: commit\(\)\.balance must be decimal text/,
      )
    },
  )

  test.each([undefined, missing, 17, new Date(0)])(
    'when its reference is neither text nor null (%#), then STORE_CONTRACT',
    async id => {
      await expectInvalidResult(
        withField(committed, 'walletTransactionId', id),
        /: commit\(\)\.walletTransactionId must be text or null/,
      )
    },
  )

  test.each([
    ...[undefined, missing, null, '', 17, 'has space', 'x'.repeat(65), 'é'],
    ...[
      'INTERNAL_ERROR',
      'UNAVAILABLE',
      'SETTLEMENT_NOT_FOUND',
      'TRANSACTION_CONFLICT',
      'AUTHENTICATION_FAILED',
    ],
  ])('when it refuses with an invalid code (%#), then STORE_CONTRACT', async errorCode => {
    await expectInvalidResult(withField(refused, 'errorCode', errorCode), /: commit\(\)\.errorCode /)
  })

  test.each([undefined, missing, null, '', 17, 'a\nb', '\ud800', 'x'.repeat(501)])(
    'when it refuses with an invalid description (%#), then STORE_CONTRACT',
    async description => {
      await expectInvalidResult(withField(refused, 'description', description), /: commit\(\)\.description /)
    },
  )

  test('when it refuses a credit, then STORE_CONTRACT names the code', async () => {
    const store = storeWith(snapshot({ bet: bet() }), refused)
    const fault = await faultOf(handleRollbackBet(store, rollbackBet()))
    expect(fault).toMatchObject({ code: 'STORE_CONTRACT' })
    expect(fault.message).toContain('refused (LIMIT_REACHED) neither a debit nor a new bet')
  })

  test('when it refuses a free bet, then the refusal is recorded; and it must not refuse that record', async () => {
    const recorded: WalletChanges[] = []
    const store: WalletStore = {
      ...storeWith(snapshot()),
      commit: async changes => {
        if (changes.transaction.refusal === null) return refused as CommitResult
        recorded.push(changes)
        if (recorded.length > 2) throw new Error('asked again and again')
        return (recorded.length === 1 ? committed : refused) as CommitResult
      },
    }
    const free = placeBet({ amount: '0' })
    expect(await handlePlaceBet(store, free)).toMatchObject({ ok: false, errorCode: 'LIMIT_REACHED' })
    expect(recorded).toMatchObject([{ transaction: { refusal: { errorCode: 'LIMIT_REACHED' } }, bet: null }])
    expect(await faultOf(handlePlaceBet(store, free))).toMatchObject({ code: 'STORE_CONTRACT' })
  })
})

test.each(['load', 'commit'])('given a store without %s, then STORE_CONTRACT names it', async method => {
  for (const value of [undefined, null, {}, 'load']) {
    const store = { ...storeWith(valid), [method]: value } as unknown as WalletStore
    const fault = await faultOf(handlePlaceBet(store, placeBet()))
    expect(fault).toMatchObject({ code: 'STORE_CONTRACT', retryable: false })
    expect(fault.message).toContain(`The store violates its contract: ${method} must be a function, but is`)
  }
})

describe('given a store for another contract version', () => {
  test.each([undefined, missing, 0, 1, 3, '2'])(
    'when its version is not supported (%#), then STORE_CONTRACT before it is called',
    async contractVersion => {
      const load = vi.fn()
      const store: Record<string, unknown> = { contractVersion, load, commit: vi.fn() }
      if (contractVersion === missing) delete store.contractVersion
      const fault = await faultOf(handlePlaceBet(store as unknown as WalletStore, placeBet()))
      expect(fault).toMatchObject({ code: 'STORE_CONTRACT' })
      expect(fault.message).toContain('contractVersion must be 2')
      expect(load).not.toHaveBeenCalled()
    },
  )

  test.each([
    ...[null, {}, 'loadConfirmed', true].map(value => ['loadConfirmed', 'a function', value]),
    ...[null, {}, 'addsCredits', 1].map(value => ['addsCredits', 'a boolean', value]),
  ])('when its %s is not %s (%#), then STORE_CONTRACT before it is called', async (name, kind, value) => {
    const store = { ...storeWith(valid), [name as string]: value } as unknown as WalletStore
    const fault = await faultOf(handlePlaceBet(store, placeBet()))
    expect(fault).toMatchObject({ code: 'STORE_CONTRACT' })
    expect(fault.message).toContain(`${name} must be ${kind}, or absent`)
  })

  test.each([undefined, null, [], 'store', () => storeWith(valid)])(
    'when it is not a store (%#), then STORE_CONTRACT',
    async store => {
      const fault = await faultOf(handlePlaceBet(store as unknown as WalletStore, placeBet()))
      expect(fault).toMatchObject({ code: 'STORE_CONTRACT' })
      expect(fault.message).toContain('the store must be an object with load and commit')
    },
  )
})

test('given a store that is an instance of a class, when it is called, then its this is the instance', async () => {
  class Store implements WalletStore {
    readonly contractVersion = 2
    readonly #player = alice
    async load() {
      return snapshot({ player: this.#player })
    }
    async commit(): Promise<CommitResult> {
      return { status: 'committed', balance: this.#player.balance, walletTransactionId: null }
    }
  }
  expect(await handlePlaceBet(new Store(), placeBet())).toMatchObject({ ok: true, balance: '100.00' })
})
