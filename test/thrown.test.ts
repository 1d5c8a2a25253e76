import { describe, expect, test } from 'vitest'
import { QueryFailed } from '../src/stores/database/deadline.js'
import * as mysql from '../src/stores/mysql/errors.js'
import * as postgres from '../src/stores/postgres/errors.js'
import { fieldOf, textOf } from '../src/thrown.js'
import { unreadable } from './unreadable-errors.js'

describe.each(unreadable)('an error %s', (_, make) => {
  test.each(['code', 'errno', 'cause', 'errors', 'message'])('%s is read without an exception', name => {
    expect(() => textOf(fieldOf(fieldOf(make(), name), '0'))).not.toThrow()
  })
  test('has a text', () => {
    expect(typeof textOf(make())).toBe('string')
  })
  test('of a driver: what was sent may have been committed', () => {
    for (const classify of [mysql.classify, (error: unknown) => postgres.classify(error, 'bet_wallet')]) {
      expect(classify(new QueryFailed(make(), true))).toMatchObject({ kind: 'unknown' })
      expect(classify(new QueryFailed(make(), false))).toMatchObject({ kind: 'unavailable' })
    }
  })
})

test('a field, and no field', () => {
  expect(fieldOf({ code: '23505' }, 'code')).toBe('23505')
  for (const thrown of [null, undefined, 'text', 7]) expect(fieldOf(thrown, 'code')).toBeUndefined()
})

test.each([
  ['a', 'a'],
  [new TypeError('b'), 'TypeError: b'],
  [undefined, 'undefined'],
  [Object.create(null), '[unprintable value]'],
])('the text of %o', (thrown, text) => {
  expect(textOf(thrown)).toBe(text)
})
