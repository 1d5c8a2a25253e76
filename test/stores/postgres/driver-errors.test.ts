/**
 * Errors of PostgreSQL in the shapes of drivers and ORMs. Recorded from pg 8.23.1, postgres.js 3.4.9, Drizzle 0.45.4,
 * Slonik 47.3.2, Knex 3.3.0, TypeORM 1.1.1, Sequelize 6.37.8 and Prisma 6.19.3 with @prisma/adapter-pg.
 */
import { describe, expect, it, test } from 'vitest'
import { describeError, serverErrorOf } from '../../../src/stores/postgres/driver-errors.js'
import {
  answerOf,
  classifyError,
  errors,
  isConnectionLost,
  isSessionEnded,
  startError,
  storeError,
} from '../../../src/stores/postgres/errors.js'

/** What the server has answered. */
interface Answer {
  code: string
  message: string
  severity?: string
  schema?: string
  table?: string
  constraint?: string
}

const error = (message: string, fields: object, name = 'Error') =>
  Object.assign(new Error(message), { name, ...fields })

function ofPg(answer: Answer, message = answer.message): Error {
  const fields = {
    length: 180,
    detail: undefined,
    schema: undefined,
    table: undefined,
    constraint: undefined,
  }
  return error(message, { ...fields, severity: 'ERROR', ...answer, message }, 'error')
}

function ofPostgresJs({ schema, table, constraint, severity = 'ERROR', ...answer }: Answer): Error {
  const names = { schema_name: schema, table_name: table, constraint_name: constraint }
  const given = Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined))
  return error(answer.message, { severity_local: severity, severity, ...given, ...answer }, 'PostgresError')
}

const ofDrizzle = (cause: Error) =>
  error('Failed query: SELECT …\nparams: […]', { query: 'SELECT …', params: [], cause })

const ofSlonik = (answer: Answer) => {
  const { table, constraint } = answer
  const message = 'Query violates a check integrity constraint.'
  return error(message, { cause: ofPg(answer), constraint, column: null, table, notices: [] })
}

const ofTypeOrm = (answer: Answer) =>
  error(answer.message, { query: 'SELECT …', driverError: ofPg(answer), ...ofPg(answer) }, 'QueryFailedError')

const ofSequelize = (answer: Answer) => {
  const parent = ofPg(answer)
  return error('Validation error', {
    errors: [{ type: 'unique' }],
    parent,
    original: parent,
    sql: 'SELECT …',
  })
}

/** @param kind the kinds that Prisma has of its own hold no severity */
function ofPrisma({ code, message, severity = 'ERROR' }: Answer, kind = 'postgres'): Error {
  const original = { originalCode: code, originalMessage: message, kind }
  const cause = kind === 'postgres' ? { ...original, code, severity, message, detail: undefined } : original
  const driverAdapterError = error(kind === 'postgres' ? message : kind, { cause }, 'DriverAdapterError')
  return error(
    `\nInvalid \`prisma.$queryRawUnsafe()\` invocation:\n\n\nRaw query failed. Code: \`${code}\`.`,
    { code: 'P2010', meta: { driverAdapterError }, clientVersion: '6.19.3' },
    'PrismaClientKnownRequestError',
  )
}

const shapes: [name: string, (answer: Answer) => Error][] = [
  ['pg', ofPg],
  ['postgres.js', ofPostgresJs],
  ['Drizzle over pg', answer => ofDrizzle(ofPg(answer))],
  ['Drizzle over postgres.js', answer => ofDrizzle(ofPostgresJs(answer))],
  ['Slonik', ofSlonik],
  ['Knex', answer => ofPg(answer, `SELECT … - ${answer.message}`)],
  ['TypeORM', ofTypeOrm],
  ['Sequelize', ofSequelize],
  ['Prisma', ofPrisma],
  [
    'Drizzle, wrapped twice more',
    answer => new Error('a', { cause: new Error('b', { cause: ofDrizzle(ofPg(answer)) }) }),
  ],
]

describe.each(shapes)('an error in the shape of %s', (name, shape) => {
  it.each([
    ['23505', 'ERROR', 'rejected'],
    ['40P01', 'ERROR', 'conflict'],
    ['40001', 'ERROR', 'conflict'],
    ['55P03', 'ERROR', 'unavailable'],
    ['23514', 'ERROR', 'rejected'],
    ['22003', 'ERROR', 'rejected'],
    ['ERULE', 'ERROR', 'rejected'],
    ['57P01', 'FATAL', 'unknown'],
    ['40003', 'ERROR', 'unknown'],
  ])('%s is classified by its SQLSTATE', (code, severity, kind) => {
    expect(classifyError(shape({ code, message: 'm', severity }), true)).toBe(kind)
  })

  it('the connection is closed where the server ends it, and only then', () => {
    const lost = (code: string, severity: string) => isConnectionLost(shape({ code, message: 'm', severity }))
    expect([lost('57P01', 'FATAL'), lost('25006', 'ERROR'), lost('23505', 'ERROR')]).toEqual([
      true,
      true,
      false,
    ])
  })

  it('a duplicate is a conflict in the library’s own tables, and nowhere else', () => {
    const duplicateOf = (table: string, schema = 'bet_wallet') =>
      classifyError(
        shape({
          ...{ code: '23505', schema, table, constraint: `${table}_pkey` },
          message: `duplicate key value violates unique constraint "${table}_pkey"`,
        }),
        true,
        'bet_wallet',
      )
    expect(['transactions', 'bets', 'ledger'].map(table => duplicateOf(table))).toEqual([
      'conflict',
      'conflict',
      'rejected',
    ])
    // Prisma does not say which table it is.
    expect(duplicateOf('transactions', 'pam')).toBe(name === 'Prisma' ? 'conflict' : 'rejected')
  })

  it.skipIf(name === 'Prisma')('a CHECK is found with its table (Prisma names none)', () => {
    const answer = { schema: 'pam', table: 'accounts' }
    const failed = shape({ code: '23514', message: 'm', constraint: 'minimum', ...answer })
    expect(serverErrorOf(failed)).toMatchObject({ code: '23514', severity: 'ERROR', ...answer })
  })

  it('is described by the message of the server and its SQLSTATE', () => {
    expect(describeError(shape({ code: '28P01', message: 'password authentication failed' }))).toMatch(
      /password authentication failed \(SQLSTATE 28P01\)$/,
    )
  })
})

describe('a server that translates its messages', () => {
  const of = (code: string, severity: string) => ofPg({ code, message: 'm', severity })

  it('ERROR: nothing of the batch is recorded', () => {
    expect(answerOf(of('XX001', 'ERROR'))).toBe('rolled-back')
    expect(answerOf(of('08001', 'ERROR'))).toBe('unclear')
    expect(classifyError(of('53100', 'ERROR'), true)).toBe('unavailable')
  })

  // cspell:disable-next-line
  it.each(['FEHLER', 'ERREUR', 'ОШИБКА', '错误'])('%s: decided by the SQLSTATE, or unknown', word => {
    expect(classifyError(of('40001', word), true)).toBe('conflict')
    expect(classifyError(of('23514', word), true)).toBe('rejected')
    for (const code of ['XX001', '08001', '53100']) {
      expect(answerOf(of(code, word))).toBe(null)
      expect(classifyError(of(code, word), true)).toBe('unknown')
    }
    // A hook may have rolled back to a savepoint.
    expect(isSessionEnded(of('23505', word))).toBe(false)
  })

  // cspell:disable-next-line
  it.each(['FATAL', 'PANIK', 'FATALE', 'ВАЖНО', '致命错误'])('%s: it may be recorded', word => {
    for (const code of ['XX000', '25P03', '25P04', '53100', '57P01']) {
      expect(answerOf(of(code, word))).toBe(null)
      expect(classifyError(of(code, word), true)).toBe('unknown')
    }
    expect(isSessionEnded(of('57P01', word))).toBe(true)
  })
})

describe('an error of Prisma that has no severity', () => {
  it.each([
    ['23505', 'UniqueConstraintViolation', 'rejected'],
    ['22003', 'ValueOutOfRange', 'rejected'],
  ])('%s %s is classified by its SQLSTATE', (code, kind, expected) => {
    expect(classifyError(ofPrisma({ code, message: 'm' }, kind), true)).toBe(expected)
  })

  it('without an SQLSTATE, P2010 is none: the outcome is unknown', () => {
    const cause = { kind: 'DatabaseNotReachable', host: '127.0.0.1', port: 1 }
    const driverAdapterError = error('DatabaseNotReachable', { cause }, 'DriverAdapterError')
    const failed = error('Raw query failed. Code: `N/A`.', { code: 'P2010', meta: { driverAdapterError } })
    expect(serverErrorOf(failed)).toBeNull()
    expect(classifyError(failed, true)).toBe('unknown')
    expect(describeError(failed)).toBe('DatabaseNotReachable')
  })
})

describe('an error without an answer of the server', () => {
  it.each([
    ['EPIPE', error('write EPIPE', { code: 'EPIPE', syscall: 'write' }), 'write EPIPE'],
    [
      'postgres.js',
      error('write CONNECTION_CLOSED 127.0.0.1:5432', { code: 'CONNECTION_CLOSED' }),
      'write CONNECTION',
    ],
    ['Drizzle', ofDrizzle(error('connect ECONNREFUSED', { code: 'ECONNREFUSED' })), 'connect ECONNREFUSED'],
    ['a string', 'a string', 'a string'],
    ['undefined', undefined, 'undefined'],
    [
      'a host with two addresses, which Node.js reports without a message',
      Object.assign(new AggregateError([error('connect ECONNREFUSED ::1:5432', {})]), {
        code: 'ECONNREFUSED',
      }),
      'connect ECONNREFUSED ::1:5432',
    ],
  ])('%s: unknown once it was sent, and described in words', (_, failed, words) => {
    expect([classifyError(failed, true), classifyError(failed, false)]).toEqual(['unknown', 'unavailable'])
    expect(describeError(failed)).toContain(words)
  })

  it('a chain of causes that never ends is read once', () => {
    const circular = error('m', {})
    Object.assign(circular, { cause: circular })
    expect(classifyError(circular, true)).toBe('unknown')
    expect(describeError(circular)).toBe('m')
  })
})

describe('the error of the check at start', () => {
  it.each([
    ['28P01', 'FATAL', 'DATABASE_REJECTED'],
    ['28000', 'FATAL', 'DATABASE_REJECTED'],
    ['3D000', 'FATAL', 'DATABASE_REJECTED'],
    ['22023', 'ERROR', 'DATABASE_REJECTED'],
    ['0A000', 'ERROR', 'DATABASE_REJECTED'],
    ['P0001', 'ERROR', 'DATABASE_REJECTED'],
    ['53300', 'FATAL', 'UNAVAILABLE'],
    ['57P03', 'FATAL', 'UNAVAILABLE'],
    ['57014', 'ERROR', 'UNAVAILABLE'],
    ['55P03', 'ERROR', 'UNAVAILABLE'],
    ['40001', 'ERROR', 'UNAVAILABLE'],
    ['08006', 'FATAL', 'UNAVAILABLE'],
    ['25006', 'ERROR', 'UNAVAILABLE'],
    ['XX000', 'ERROR', 'UNAVAILABLE'],
  ])('%s: %s, %s', (code, severity, expected) => {
    for (const [, shape] of shapes)
      expect(startError(shape({ code, message: 'the reason', severity }))).toMatchObject({
        name: 'StoreError',
        code: expected,
        message: expect.stringContaining(`the reason (SQLSTATE ${code})`),
      })
  })

  it('an error of the network is UNAVAILABLE, a TypeError of the client UNSUPPORTED_CLIENT', () => {
    const refused = error('connect ECONNREFUSED 127.0.0.1:5432', { code: 'ECONNREFUSED' })
    expect(startError(refused)).toMatchObject({
      code: 'UNAVAILABLE',
      problem: 'The database is unavailable: connect ECONNREFUSED 127.0.0.1:5432',
    })
    expect(startError(new TypeError('q.sql is not a function'))).toMatchObject({
      code: 'UNSUPPORTED_CLIENT',
      problem: 'The client threw: q.sql is not a function',
    })
    const own = storeError('UNSUPPORTED_CLIENT', 'no rows')
    expect(startError(own)).toBe(own)
  })
})

test('requests that are shed share one error: it costs nothing, and has no stack of another request', () => {
  expect(errors.unavailable(null)).toBe(errors.unavailable(null))
  expect(errors.unavailable(null)).toMatchObject({ name: 'StoreError', code: 'UNAVAILABLE' })
  expect(errors.unavailable(null).stack).toBe(
    'StoreError: Overloaded: the request was shed; no changes were made. See bet-wallet/docs/operations.md#failures',
  )
  expect(errors.unavailable(undefined)).not.toBe(errors.unavailable(undefined))
})
