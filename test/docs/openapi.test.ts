/** docs/openapi.json. `npm run test:libraries -- openapi` validates it, and replays exchanges against it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { errorCodes } from '../../src/index.js'
import { openApiText } from './openapi-document.js'
import { root } from './pages.js'

test('docs/openapi.json is what test/docs/write-openapi.ts writes', () => {
  expect(readFileSync(join(root, 'docs/openapi.json'), 'utf8')).toBe(openApiText())
})

test('it has every error code', () => {
  const text = openApiText()
  expect(errorCodes.filter(code => !text.includes(`\`${code}\``))).toEqual([])
})

test('it is in the package, by its own name', () => {
  expect(manifest.exports['./openapi.json']).toBe('./docs/openapi.json')
  expect(manifest.files).toContain('docs/openapi.json')
})
