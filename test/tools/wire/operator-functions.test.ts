/** Listeners of a run that cannot wait at each call. test/programs/hooks plays every function of the operator. */
import { expect, test } from 'vitest'
import { Listeners } from '../../../src/tools/wire/operator-functions.js'

function listeners() {
  const rejected: unknown[] = []
  const of = new Listeners()
  of.onRejected = error => rejected.push(error)
  return { of, rejected }
}

test('given no listener, then there is none', () => {
  expect(listeners().of.of(undefined)).toBe(null)
})

test('given listeners that return and resolve, then their run ends behind the last', async () => {
  const { of, rejected } = listeners()
  const seen: number[] = []
  let end = () => {}
  const late = of.of(async (value: number) => {
    await new Promise<void>(resolve => (end = resolve))
    seen.push(value)
  })
  of.of((value: number) => seen.push(value))?.(1)
  late?.(2)
  setImmediate(end)
  await of.end()
  expect(seen).toEqual([1, 2])
  expect(rejected).toEqual([])
})

test('given a listener that rejects when the run is over, then its end throws its error', async () => {
  const { of, rejected } = listeners()
  const late = of.of(async (text: string) => {
    await new Promise(setImmediate)
    throw new Error(text)
  })
  for (const text of ['first', 'second']) late?.(text)
  await expect(of.end()).rejects.toThrow('first')
  expect(rejected[0]).toEqual(new Error('first'))
})

test('given a listener that throws, then the call throws', () => {
  const failing = listeners().of.of(() => {
    throw new Error('thrown')
  })
  expect(() => failing?.(1)).toThrow('thrown')
})
