/**
 * The code stays small. A module may rise by what another one falls in the same commit; otherwise a budget
 * rises only in a commit that says why. Lines are not joined to save some: tokens per line have a limit too.
 */
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type Size, sizesBelow } from './code-lines.js'

const folder = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url)).replace(/\/$/, '')
const src = sizesBelow(folder('src'))
const examples = sizesBelow(folder('examples'))
const isOutsideCore = /^(stores|testing|tools)\//

const sumOf = (sizes: Map<string, Size>, isCounted: (path: string) => boolean, of: keyof Size) =>
  [...sizes].reduce((sum, [path, size]) => sum + (isCounted(path) ? size[of] : 0), 0)
const linesOf = (isCounted: (path: string) => boolean) => sumOf(src, isCounted, 'lines')

describe('lines of code', () => {
  test.each([
    ['core, decide, http, batches, lookups, operations', 5_025, linesOf(path => !isOutsideCore.test(path))],
    ['stores', 10_365, linesOf(path => path.startsWith('stores/'))],
    ['testing', 4_655, linesOf(path => path.startsWith('testing/'))],
    ['tools', 19_210, linesOf(path => path.startsWith('tools/'))],
    ['examples', 4_370, sumOf(examples, () => true, 'lines')],
  ])('%s: at most %i', (_, budget, lines) => {
    expect(lines).toBeGreaterThan(budget / 2)
    expect(lines).toBeLessThanOrEqual(budget)
  })
})

test('tokens per line: at most 8.17', () => {
  const perLine = sumOf(src, () => true, 'tokens') / linesOf(() => true)
  expect(perLine).toBeLessThanOrEqual(8.17)
})
