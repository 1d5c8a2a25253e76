/** Writes the OpenAPI document: `npx tsx test/docs/write-openapi.ts`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiText } from './openapi-document.js'
import { root } from './pages.js'

writeFileSync(join(root, 'docs/openapi.json'), openApiText())
console.log('docs/openapi.json')
