import { describe, expect, test, vi } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletOptions,
} from '../src/index.js'
import { JsonNumber } from '../src/money.js'
import { createRequestParser, type RequestOptions, type Requests } from '../src/requests.js'
import { createMemoryStore } from '../src/stores/memory.js'
import {
  alice,
  faultOf,
  placeBet,
  rollbackBet,
  settlement,
  transactionDate,
  unsettlement,
} from './fixtures.js'

const handlers = {
  placebet: handlePlaceBet,
  unsettlement: handleUnsettlement,
  rollbackbet: handleRollbackBet,
  settlement: recordSettlement,
}
const bodies = {
  placebet: placeBet(),
  unsettlement: unsettlement(),
  rollbackbet: rollbackBet(),
  settlement: settlement(),
}
const operations = Object.keys(bodies) as (keyof Requests)[]

/**
 * Calls the handler with the body and expects a refusal before the store is called. Returns its description.
 */
async function issuesOf(operation: keyof Requests, body: unknown, options?: WalletOptions): Promise<string> {
  const store = createMemoryStore([alice])
  const [load, commit] = [vi.spyOn(store, 'load'), vi.spyOn(store, 'commit')]
  const outcome = await handlers[operation](store, body, options)
  expect(outcome).toEqual({
    ok: false,
    replayed: false,
    errorCode: 'INVALID_REQUEST',
    description: expect.any(String),
  })
  expect(load).not.toHaveBeenCalled()
  expect(commit).not.toHaveBeenCalled()
  return outcome.ok ? '' : outcome.description
}

/** The parsed request, or its issues. */
function parse<O extends keyof Requests>(
  operation: O,
  fields: Record<string, unknown>,
  options?: RequestOptions,
) {
  const result = createRequestParser(options)[operation]({ ...bodies[operation], ...fields })
  return 'request' in result ? (result.request as Requests[O]) : result.issues
}

/** Part of every rejected text. It must not appear in a description. */
const secret = 'SECRET'

describe('given a body that is not an object', () => {
  test.each([
    undefined,
    null,
    [],
    [bodies.placebet],
    'text',
    '',
    30,
    true,
    30n,
    Symbol('body'),
    () => bodies.placebet,
  ])('when it is handled (%#), then INVALID_REQUEST describes it', async body => {
    for (const operation of operations) {
      expect(await issuesOf(operation, body)).toBe('the body must be a JSON object')
    }
  })
})

describe.each(operations)('given a %s', operation => {
  const required = Object.keys(bodies[operation]).filter(field => field !== 'odds')

  test.each(required)('when %s is missing, then the description names it as missing', async field => {
    const { [field]: _, ...body } = bodies[operation] as unknown as Record<string, unknown>
    expect(await issuesOf(operation, body)).toBe(`${field}: is missing`)
    expect(await issuesOf(operation, { ...body, [field]: undefined })).toBe(`${field}: is missing`)
  })

  test.each(required)('when %s has a wrong type, then the description names it', async field => {
    for (const value of [null, '', [], ['x'], {}, true, Number.NaN, new Date(0)]) {
      expect(await issuesOf(operation, { ...bodies[operation], [field]: value })).toMatch(
        new RegExp(`^${field}: must be [^;]+$`),
      )
    }
  })

  test('when the body is empty, then the description names every field', async () => {
    const description = await issuesOf(operation, {})
    expect(description.split('; ').sort()).toEqual(required.map(field => `${field}: is missing`).sort())
  })

  test('when the fields are inside "__proto__", then they are missing', async () => {
    const body = JSON.parse(`{"__proto__": ${JSON.stringify(bodies[operation])}}`)
    expect(await issuesOf(operation, body)).toContain('transactionId: is missing')
  })

  test('when it has further fields, then they are ignored (D26)', () => {
    const extra = JSON.parse('{"__proto__": {"x": 1}, "constructor": 1, "channel": "web", "amount2": -1}')
    expect(parse(operation, extra)).toEqual(bodies[operation])
  })
})

describe('given an id (D24)', () => {
  const ids = ['transactionId', 'betId', 'playerId', 'sessionId']
  const issue = '1 to 255 characters, well-formed and without control characters'

  test.each<[string, unknown]>([
    ['a number', 17],
    ['a long number of a JSON body', new JsonNumber('12345678901234567890')],
    ['empty', ''],
    ['of 256 characters', 'x'.repeat(256)],
    ['of 256 emoji', '🎲'.repeat(256)],
    ['with a NUL', `${secret}\u0000`],
    ['with a line break', `${secret}\n`],
    ['with a tab', `\t${secret}`],
    ['with DEL', `${secret}\u007f`],
    ['with a C1 control character', `${secret}\u0085`],
    ['with the first half of a surrogate pair', `${secret}\ud83c`],
    ['with the second half of a surrogate pair', `\udfb2${secret}`],
    ['with the two halves in the wrong order', `${secret}\udfb2\ud83c`],
  ])('when it is %s, then the description names it and does not echo it', async (what, value) => {
    for (const field of ids) {
      const description = await issuesOf('placebet', { ...placeBet(), [field]: value })
      const must = what.includes('number') ? 'a string' : issue
      expect(description).toBe(`${field}: must be ${must}`)
      expect(description).not.toContain(secret)
    }
  })

  test.each([
    ...['x', ' ', ' padded ', '0', 'null', '__proto__', 'constructor', "'; DROP TABLE bets --", '<b>&amp;'],
    ...['ставка-№1', '注文', 'e\u0301', 'é', '\u200d', '👨‍👩‍👧', 'x'.repeat(255), '🎲'.repeat(255)],
  ])('when it is any other text (%#), then it is kept unchanged', async id => {
    const all = { transactionId: id, betId: id, playerId: id, sessionId: id }
    expect(parse('placebet', all)).toEqual(placeBet(all))
    const store = createMemoryStore([{ ...alice, playerId: id }])
    expect(await handlePlaceBet(store, placeBet(all))).toMatchObject({ ok: true, balance: '70.00' })
    expect(await handlePlaceBet(store, placeBet(all))).toMatchObject({ ok: true, replayed: true })
    expect(store.bet(id)?.playerId).toBe(id)
  })
})

describe('given an amount (D21, D22)', () => {
  test.each<unknown>([
    ...['-1', '-0.01', '-0', '-0.00', '-0e1', '+30', '030', '.5', '5.', '1,5', ' 30', '30 ', '30\n', '', ' '],
    ...[
      '0x1E',
      'NaN',
      'Infinity',
      '1e2000000000',
      '1e-400',
      '1e15',
      '1000000000000000',
      '٣٠',
      secret,
      `30${secret}`,
    ],
    ...[-1, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 30n],
    ...[1234567890123456, 1e15, 12345678901234.56, 0.1 + 0.2, Number.MIN_VALUE, Number.MAX_VALUE],
    ...[
      new JsonNumber('-0'),
      new JsonNumber('1e400'),
      new JsonNumber('1000000000000000.5'),
      ['30'],
      { text: '30' },
    ],
  ])('when it is invalid (%#), then the description names it and does not echo it', async amount => {
    for (const operation of ['placebet', 'settlement'] as const) {
      const description = await issuesOf(operation, { ...bodies[operation], amount })
      expect(description).toBe(
        'amount: must be a decimal of at least 0 with at most 15 digits before the point ' +
          '(as a JavaScript number: at most 15 digits in all)',
      )
    }
  })

  test.each<[unknown, string]>([
    ['0', '0'],
    ['0.00', '0'],
    ['10.500', '10.5'],
    ['1e2', '100'],
    ['1.5e1', '15'],
    ['1500e-2', '15'],
    ['999999999999999.99', '999999999999999.99'],
    [new JsonNumber('999999999999999.99'), '999999999999999.99'],
    [30, '30'],
    [0, '0'],
    [0.07, '0.07'],
    [999999999999999, '999999999999999'],
  ])('when it is %s, then it is parsed as %s', (amount, text) => {
    expect(parse('placebet', { amount })).toEqual(placeBet({ amount: text }))
    expect(parse('settlement', { amount })).toEqual(settlement({ amount: text }))
  })

  test.each<[currency: string, decimals: number, valid: string, tooManyDecimals: string]>([
    ['EUR', 2, '10.500', '10.505'],
    ['JPY', 0, '10.000', '10.5'],
    ['KWD', 3, '0.001', '0.0001'],
    ['HUF', 2, '0.01', '0.001'],
    ['IDR', 2, '0.01', '0.001'],
    ['COP', 2, '0.01', '0.001'],
    ['CLF', 4, '0.0001', '0.00001'],
    ['BTC', 8, '0.00000001', '0.000000001'],
    ['__proto__', 8, '0.00000001', '1e-9'],
  ])(
    'when it is in %s, then it has at most %i decimals by value',
    async (currency, decimals, valid, tooManyDecimals) => {
      expect(parse('placebet', { currency, amount: valid })).toMatchObject({ currency })
      for (const operation of ['placebet', 'settlement'] as const) {
        expect(await issuesOf(operation, { ...bodies[operation], currency, amount: tooManyDecimals })).toBe(
          `amount: must have at most ${decimals} decimals in this currency`,
        )
      }
    },
  )

  test('when it has too many decimals and other fields are invalid, then one description names all of them', async () => {
    expect(await issuesOf('placebet', { ...placeBet({ amount: '0.001' }), betId: 7, betType: secret })).toBe(
      'betId: must be a string; betType: must be one of SINGLE, MULTIPLE, TEASER; ' +
        'amount: must have at most 2 decimals in this currency',
    )
  })
})

describe('given a currency', () => {
  test.each([`${secret} `, 'EU R', 'E\u0000R', '€', 'x'.repeat(17), 'EUR\n', 978])(
    'when it is %j, then the description names it and does not echo it',
    async currency => {
      const description = await issuesOf('placebet', { ...placeBet(), currency })
      expect(description).toBe(
        typeof currency === 'string'
          ? 'currency: must be a currency code: 1 to 16 letters, digits, ".", "_" or "-"'
          : 'currency: must be a string',
      )
      expect(description).not.toContain(secret)
    },
  )

  test.each(['eur', 'BTC', 'USDT.ERC-20', 'x'.repeat(16)])(
    'when it is %s, then it is kept unchanged',
    currency => {
      expect(parse('placebet', { currency })).toMatchObject({ currency })
    },
  )
})

describe('given odds', () => {
  test.each<[unknown, string | null]>([
    [null, null],
    [undefined, null],
    ['1.850', '1.85'],
    [1.85, '1.85'],
    [-0, '0'],
    [1.3310000000000004, '1.3310000000000004'], // 1.1 to the power of 3, as a JavaScript number: odds are not money
    [new JsonNumber('1.8500000000000000001'), '1.8500000000000000001'],
  ])('when they are %s, then they are parsed as %s (D26)', (odds, text) => {
    expect(parse('placebet', { odds })).toEqual(placeBet({ odds: text }))
  })

  test('when they are missing, then they are null', () => {
    const { odds: _, ...body } = placeBet()
    expect(createRequestParser().placebet(body)).toEqual({ request: placeBet({ odds: null }) })
  })

  test.each([secret, '', '11/10', '1e400', Number.NaN, [1.85], true])(
    'when they are %j, then the description names them and does not echo them',
    async odds => {
      expect(await issuesOf('placebet', { ...placeBet(), odds })).toBe('odds: must be a decimal')
    },
  )
})

describe('given a type (D26)', () => {
  const fieldOf = { placebet: 'betType', unsettlement: 'type', rollbackbet: 'type', settlement: 'type' }
  const valid = {
    placebet: ['SINGLE', 'MULTIPLE', 'TEASER'],
    unsettlement: ['UNVOIDED', 'UNSCORED'],
    rollbackbet: ['TECHNICAL_ERROR'],
    settlement: ['BET_PAID', 'VOIDED', 'CASHOUT'],
  }

  test.each(operations)(
    'when the type of a %s is known, then it is kept; any other is refused and not echoed',
    async operation => {
      const field = fieldOf[operation]
      for (const type of valid[operation])
        expect(parse(operation, { [field]: type })).toMatchObject({ [field]: type })
      const first = valid[operation][0] as string
      for (const type of [
        secret,
        first.toLowerCase(),
        `${first} `,
        '',
        'toString',
        '__proto__',
        0,
        null,
        [first],
      ]) {
        expect(await issuesOf(operation, { ...bodies[operation], [field]: type })).toBe(
          `${field}: must be one of ${valid[operation].join(', ')}`,
        )
      }
    },
  )

  test('when the options list other types, then these replace the defaults', async () => {
    const options = { betTypes: ['SYSTEM'], rollbackTypes: ['TIMEOUT', 'TECHNICAL_ERROR'] }
    expect(parse('placebet', { betType: 'SYSTEM' }, options)).toMatchObject({ betType: 'SYSTEM' })
    expect(parse('rollbackbet', { type: 'TIMEOUT' }, options)).toMatchObject({ type: 'TIMEOUT' })
    expect(await issuesOf('placebet', placeBet(), options)).toBe('betType: must be one of SYSTEM')
  })
})

describe('given a transactionDate (D25)', () => {
  test.each<[string, string]>([
    ['2026-11-21T10:00:00Z', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21t10:00:00z', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21 10:00:00', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21T10:00:00', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21T10:00', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21T10:00:00+02:00', '2026-11-21T08:00:00.000Z'],
    ['2026-11-21T10:00:00+0530', '2026-11-21T04:30:00.000Z'],
    ['2026-11-21T10:00:00-03', '2026-11-21T13:00:00.000Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000Z'],
    ['2026-11-21T10:00:00.5Z', '2026-11-21T10:00:00.500Z'],
    ['2026-11-21T10:00:00,123Z', '2026-11-21T10:00:00.123Z'],
    ['2026-11-21T10:00:00.123456789Z', '2026-11-21T10:00:00.123Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['0099-01-01T00:00:00Z', '0099-01-01T00:00:00.000Z'],
    ['2026-12-31T23:59:60Z', '2027-01-01T00:00:00.000Z'],
    ['2026-11-21T10:00:00.9999999999Z', '2026-11-21T10:00:00.999Z'],
    ['2026-11-21T10:00+01:00[Europe/Paris]', '2026-11-21T09:00:00.000Z'],
    ['2026-11-21T10:00:00.5Z[UTC]', '2026-11-21T10:00:00.500Z'],
    ['2026-07-21T10:00:00[Europe/Paris]', '2026-07-21T10:00:00.000Z'],
    ['2026-11-21T10:00:00-03:00[America/Argentina/Buenos_Aires]', '2026-11-21T13:00:00.000Z'],
    ['2026-11-21T10:00:00+02:00[Etc/GMT-2]', '2026-11-21T08:00:00.000Z'],
    ['2026-11-21T24:00:00Z', '2026-11-22T00:00:00.000Z'],
    ['2026-12-31T24:00', '2027-01-01T00:00:00.000Z'],
    ['2026-11-21T24:00:00.000Z', '2026-11-22T00:00:00.000Z'],
    ['2026-11-21T24:00:00+02:00', '2026-11-21T22:00:00.000Z'],
    ['2026-11-21T10:00:00+23:30', '2026-11-20T10:30:00.000Z'],
    ['2026-11-21T10:00:00+00:59', '2026-11-21T09:01:00.000Z'],
    ['2026-11-21T10:00:00-23:59', '2026-11-22T09:59:00.000Z'],
  ])('when it is %s, then it is parsed as the instant %s', (text, instant) => {
    expect(parse('rollbackbet', { transactionDate: text })).toEqual(rollbackBet({ transactionDate: instant }))
  })

  test('when its fraction has 100,000 digits, then it is cut to the millisecond', () => {
    const text = `2026-11-21T10:00:00.${'9'.repeat(100_000)}Z`
    expect(parse('rollbackbet', { transactionDate: text })).toMatchObject({
      transactionDate: '2026-11-21T10:00:00.999Z',
    })
  })

  test.each<unknown>([
    ...['2026-02-30T10:00:00Z', '2026-13-01T10:00:00Z', '2026-00-10T10:00:00Z', '2026-11-00T10:00:00Z'],
    ...['2025-02-29T10:00:00Z', '1900-02-29T10:00:00Z', '2026-11-21T24:00:01Z', '2026-11-21T10:60:00Z'],
    ...[
      '2026-11-21T24:01:00Z',
      '2026-11-21T24:00:00.001Z',
      `2026-11-21T24:00:00.${'0'.repeat(40)}1Z`,
      '2026-11-21T25:00:00Z',
    ],
    ...[
      '2026-11-21T10:00:00Z[',
      '2026-11-21T10:00:00Z[]',
      '2026-11-21T10:00:00[Europe/Paris]Z',
      '2026-11-21T10:00:00Z[a b]',
    ],
    ...[
      '2026-11-21T10:00:61Z',
      '2026-11-21T10:00:00+24:00',
      '2026-11-21T10:00:00+01:60',
      '2026-11-21T10:00:00+1',
    ],
    ...[
      '2026-11-21',
      '10:00:00',
      '20261121T100000Z',
      '21/11/2026 10:00',
      'Sat, 21 Nov 2026 10:00:00 GMT',
      'now',
    ],
    ...['2026-11-21T10:00:00Z\n', ' 2026-11-21T10:00:00Z', '2026-11-21T10:00:00 Z', '2026-11-21T10:00:00.Z'],
    ...[
      '12026-11-21T10:00:00Z',
      '+012345-01-01T00:00:00.000Z', // as toISOString writes years above 9999 and below 0
      '-000001-01-01T00:00:00.000Z',
      '9999-12-31T23:59:59-01:00',
      '0000-01-01T00:00:00+01:00',
      '0000-01-01T00:00:00.000Z',
      ...['2026-02-30T00:00:00.000Z', '2026-11-31T00:00:00.000Z', '2026-00-10T00:00:00.000Z'],
      ...['2026-13-10T00:00:00.000Z', '2026-11-00T00:00:00.000Z', '9999-12-31T24:00:00Z'],
      ...['2026-11-21T10:60:00.000Z', '0000-11-21T10:00:00.000Z'],
      '٢٠٢٦-11-21T10:00:00Z',
    ],
    ...[
      '',
      secret,
      `2026-11-21T10:00:00Z[${'a'.repeat(1_000_000)}`,
      1795255200000,
      new Date(0),
      null,
      [transactionDate], // as text, it would be valid
      ['2026-11-21T10:00:00Z'],
    ],
  ])('when it does not exist or has another format (%#), then the description names it', async value => {
    const issue = 'transactionDate: must be a valid ISO 8601 date and time'
    expect(await issuesOf('rollbackbet', { ...rollbackBet(), transactionDate: value })).toBe(issue)
    expect(parse('rollbackbet', { transactionDate: value })).toBe(issue)
  })

  test.each(['2026-11-21T10:00:00.000Z', '2026-01-18T22:59:59.999Z', '2026-12-01T01:00:00Z'])(
    'when it is %s with a character that is wrong, missing or too many, then it is refused',
    text => {
      const issue = 'transactionDate: must be a valid ISO 8601 date and time'
      for (const [index, character] of [...text].entries()) {
        const [before, after] = [text.slice(0, index), text.slice(index + 1)]
        for (const wrong of [`${before}x${after}`, `${before}x${character}${after}`]) {
          expect(parse('rollbackbet', { transactionDate: wrong }), wrong).toBe(issue)
        }
      }
      const more = [
        ...[`${text}x`, text.replace(/^.../, ''), text.replace('T', '')],
        ...[text.replace(/^[0-9]{4}/, 'xxxx'), text.replace(/[0-9]{2,3}Z$/, 'xxxZ')],
      ]
      for (const wrong of more) {
        expect(parse('rollbackbet', { transactionDate: wrong }), wrong).toBe(issue)
      }
    },
  )
})

describe('given the option parseTransactionDate', () => {
  const epoch = (value: unknown) => (typeof value === 'number' ? new Date(value).toISOString() : null)

  test('when it parses the date, then its result is used', () => {
    const options = { parseTransactionDate: epoch }
    expect(parse('rollbackbet', { transactionDate: Date.parse(transactionDate) }, options)).toEqual(
      rollbackBet(),
    )
  })

  test('when it returns null, then the date is refused, even one in ISO 8601', async () => {
    expect(await issuesOf('rollbackbet', rollbackBet(), { parseTransactionDate: epoch })).toMatch(
      /^transactionDate: must/,
    )
  })

  test('when the date is missing, then it is not called', async () => {
    const parseTransactionDate = vi.fn(epoch)
    const { transactionDate: _, ...body } = rollbackBet()
    expect(await issuesOf('rollbackbet', body, { parseTransactionDate })).toBe('transactionDate: is missing')
    expect(parseTransactionDate).not.toHaveBeenCalled()
  })

  test('when it is a method, then its this is the options object', () => {
    const options = {
      zone: 'Z',
      parseTransactionDate(this: { zone: string }, value: unknown) {
        return `${value}${this.zone}`
      },
    }
    expect(parse('rollbackbet', { transactionDate: '2026-11-21T10:00' }, options)).toEqual(rollbackBet())
  })

  test.each<unknown>([undefined, 'yesterday', '', 5, new Date(0), '2026-02-30T00:00:00Z'])(
    'when it returns an invalid value (%s), then HOOK_FAILED, and nothing is written',
    async answer => {
      const store = createMemoryStore([alice])
      const options = { parseTransactionDate: () => answer as string }
      const fault = await faultOf(handleRollbackBet(store, rollbackBet(), options))
      expect(fault).toMatchObject({ code: 'HOOK_FAILED', retryable: false })
      expect(fault.message).toContain('parseTransactionDate')
      expect(store.transactions()).toEqual([])
    },
  )
})

describe('given the option minorUnits', () => {
  const options = { minorUnits: (currency: string) => (currency === 'BTC' ? 3 : undefined) }

  test('when it returns a number, then that is the limit; else the table of ISO 4217 decides', () => {
    expect(parse('placebet', { currency: 'BTC', amount: '0.0001' }, options)).toMatch(/at most 3 decimals/)
    expect(parse('placebet', { currency: 'BTC', amount: '0.001' }, options)).toMatchObject({
      amount: '0.001',
    })
    expect(parse('placebet', { currency: 'JPY', amount: '0.1' }, options)).toMatch(/at most 0 decimals/)
  })

  test.each([0, 18])('when it returns %i, then that is the limit', units => {
    const amount = units === 0 ? '1' : `0.${'0'.repeat(17)}1`
    expect(parse('placebet', { amount }, { minorUnits: () => units })).toMatchObject({ amount })
  })

  test.each<unknown>([-1, 1.5, 19, Number.NaN, Number.POSITIVE_INFINITY, '2', {}])(
    'when it returns an invalid value (%s), then HOOK_FAILED, and nothing is written',
    async units => {
      const store = createMemoryStore([alice])
      const fault = await faultOf(handlePlaceBet(store, placeBet(), { minorUnits: () => units as number }))
      expect(fault).toMatchObject({ code: 'HOOK_FAILED', retryable: false })
      expect(fault.message).toContain('minorUnits')
      expect(store.transactions()).toEqual([])
    },
  )
})

test.each(['parseTransactionDate', 'minorUnits'])(
  'given the option %s, when it throws, then HOOK_FAILED with its cause, and nothing is written',
  async name => {
    const store = createMemoryStore([alice])
    const cause = new Error('invalid table')
    const options = {
      [name]: () => {
        throw cause
      },
    }
    const fault = await faultOf(handlePlaceBet(store, placeBet(), options))
    expect(fault).toMatchObject({ code: 'HOOK_FAILED', retryable: false, cause })
    expect(fault.message).toContain(name)
    expect(store.transactions()).toEqual([])
  },
)
