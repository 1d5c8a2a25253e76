import { describe, expect, test } from 'vitest'
import { optionChecks } from '../src/option-checks.js'

class InvalidOption extends Error {}

const check = optionChecks(message => {
  throw new InvalidOption(message)
})

/** The problem that the check reports, with the error class of the entry point. */
function problemOf(call: () => unknown): string {
  let thrown: unknown = new Error('Expected a problem, but the value was accepted')
  try {
    call()
  } catch (error) {
    thrown = error
  }
  if (!(thrown instanceof InvalidOption)) throw thrown
  expect(thrown.message).toMatch(/^Invalid options: /)
  return thrown.message.slice('Invalid options: '.length)
}

test('given a problem of the entry point, when it is reported, then its own error has the message', () => {
  expect(problemOf(() => check.invalid('the pool is closed'))).toBe('the pool is closed')
})

describe('given an object with options, when its names are checked', () => {
  test.each([{}, { a: 1 }, { a: undefined, b: null }, Object.create(null)])(
    'and all are supported (%j), then it is accepted',
    options => {
      expect(check.names(options, ['a', 'b'])).toBeUndefined()
      expect(check.names(options, new Set(['a', 'b']))).toBeUndefined()
    },
  )

  test('and one is not supported, then it is named, with its prefix', () => {
    expect(problemOf(() => check.names({ a: 1, c: undefined }, ['a', 'b']))).toBe('unknown option "c"')
    expect(problemOf(() => check.names({ c: 1 }, ['a'], 'tables.'))).toBe('unknown option "tables.c"')
    expect(problemOf(() => check.names({ A: 1 }, ['a']))).toBe('unknown option "A"')
  })

  test('and one is inherited, then it is checked too: options may be an instance of a class', () => {
    expect(problemOf(() => check.names(Object.create({ c: 1 }), ['a']))).toBe('unknown option "c"')
  })

  test.each([undefined, null, 5, 'options', true, () => {}])(
    'and it is not an object (%s), then it is named',
    options => {
      expect(problemOf(() => check.names(options, ['a']))).toBe('the options must be an object')
      expect(problemOf(() => check.names(options, ['a'], 'tables.'))).toBe('tables must be an object')
    },
  )
})

describe('given one option', () => {
  test('when a function is expected, then a function or undefined is accepted', () => {
    expect(check.func('hook', () => {})).toBeUndefined()
    expect(check.func('hook', undefined)).toBeUndefined()
    for (const value of [null, 'hook', {}, true]) {
      expect(problemOf(() => check.func('hook', value))).toBe('hook must be a function')
    }
  })

  test('when a boolean is expected, then only true or false is accepted', () => {
    expect([check.boolean('flag', true), check.boolean('flag', false)]).toEqual([true, false])
    for (const value of [undefined, null, 0, 1, 'true', new Boolean(true)]) {
      expect(problemOf(() => check.boolean('flag', value))).toBe('flag must be true or false')
    }
  })

  test('when a whole number is expected, then both limits are included', () => {
    expect([check.whole('n', 1, 1), check.whole('n', Number.MAX_SAFE_INTEGER, 1)]).toEqual([1, 2 ** 53 - 1])
    expect([check.whole('n', 0, 0, 18), check.whole('n', 18, 0, 18)]).toEqual([0, 18])
    for (const value of [
      0,
      -1,
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 53,
      '3',
      3n,
      null,
      undefined,
    ]) {
      expect(problemOf(() => check.whole('n', value, 1))).toBe('n must be a whole number of at least 1')
    }
    for (const value of [-1, 19, '0', 0.5]) {
      expect(problemOf(() => check.whole('n', value, 0, 18))).toBe('n must be a whole number from 0 to 18')
    }
  })

  test('when one of several texts is expected, then it is returned; any other value is rejected', () => {
    expect(check.oneOf('type', 'decimal', ['decimal', 'minor-units'])).toBe('decimal')
    for (const value of ['Decimal', '', undefined, null, ['decimal']]) {
      expect(problemOf(() => check.oneOf('type', value, ['decimal', 'minor-units']))).toBe(
        'type must be one of decimal, minor-units',
      )
    }
  })
})
