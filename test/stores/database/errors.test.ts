/** Every error of a store names the page that explains it, as a file of the package. */
import { expect, test } from 'vitest'
import { StoreError, type StoreErrorCode } from '../../../src/stores/database/errors.js'
import { literalsOf } from '../../docs/declarations.js'
import { linkProblem, readPage } from '../../docs/pages.js'

const codes = literalsOf('StoreErrorCode') as StoreErrorCode[]

test.each(['postgres', 'mysql'] as const)('of %s: the page of each code has its anchor', engine => {
  expect(codes.length).toBeGreaterThanOrEqual(17)
  const problems = codes.map(code => {
    const { page, message } = new StoreError(engine, code, 'The problem')
    expect(message).toBe(`The problem. See ${page}`)
    expect(page).toMatch(/^bet-wallet\/docs\/[a-z-]+\.md#/)
    return linkProblem(readPage('README.md'), page.replace('bet-wallet/', ''))
  })
  expect(problems.filter(problem => problem !== null)).toEqual([])
})

test('a problem that is a sentence already gets no second full stop', () => {
  const { message, problem } = new StoreError('postgres', 'UNAVAILABLE', 'Connection terminated.')
  expect(message).toBe('Connection terminated. See bet-wallet/docs/operations.md#failures')
  expect(problem).toBe('Connection terminated.')
})
