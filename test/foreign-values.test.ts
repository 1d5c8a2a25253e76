import { describe, expect, test } from 'vitest'
import { fieldOf, itemsOf, textOf } from '../src/foreign-values.js'
import { QueryFailed } from '../src/stores/database/deadline.js'
import * as mysql from '../src/stores/mysql/errors.js'
import * as postgres from '../src/stores/postgres/errors.js'
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
  [new TypeError('b'), 'b'],
  [undefined, 'undefined'],
  ['', 'an error without text'],
  [Object.create(null), 'an error without text'],
])('the text of %o', (thrown, text) => {
  expect(textOf(thrown)).toBe(text)
})

test('the items of an array, and of no array', () => {
  expect(itemsOf([1, 2])).toEqual([1, 2])
  for (const [, make] of unreadable) expect(itemsOf(fieldOf(make(), 'errors'))).toEqual([])
})
