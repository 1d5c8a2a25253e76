/**
 * `npm run test:libraries -- openapi`: docs/openapi.json is valid OpenAPI 3.1, and every exchange of the tests conforms to it:
 * requests that are accepted, requests that are refused, and all answers.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { errorCodes } from '../../../src/index.js'
import { type Exchanged, replayAll } from './replay.js'

interface Validate {
  (value: unknown): boolean
  errors: unknown
}
interface Ajv {
  addSchema(schema: unknown, key: string): Ajv
  getSchema(reference: string): Validate | undefined
}
/** A document: only what this program reads is declared. */
interface Json {
  [key: string]: Json | undefined
}

// By createRequire: these packages are installed in test/libraries only, and have no types for the others.
const require = createRequire(import.meta.url)
const { Ajv2020 } = require('ajv/dist/2020') as { Ajv2020: new (options: object) => Ajv }
const { Validator } = (await import(require.resolve('@seriousme/openapi-schema-validator'))) as {
  Validator: new () => {
    validate(document: object): Promise<{ valid: boolean; errors?: unknown }>
    version: string
  }
}

const document = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
) as Json
const problems: string[] = []

const validator = new Validator()
const { valid, errors } = await validator.validate(structuredClone(document))
if (!valid) problems.push(`not valid OpenAPI: ${JSON.stringify(errors)}`)
if (validator.version !== '3.1') problems.push(`read as OpenAPI ${validator.version}`)

const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true })
for (const keyword of ['openapi', 'info', 'servers', 'tags', 'security', 'paths', 'components']) {
  ;(ajv as unknown as { addKeyword(keyword: string): void }).addKeyword(keyword)
}
ajv.addSchema({ $id: 'wallet', ...document }, 'wallet')

/** The validator of the part at this JSON pointer. */
function validatorAt(pointer: string): Validate {
  const found = ajv.getSchema(`wallet${pointer}`)
  if (found === undefined) throw new Error(`no schema at ${pointer}`)
  return found
}

/** The validator of an operation's requests. */
const requestsOf = (path: string): Validate =>
  validatorAt(`#/paths/~1${path.slice(1)}/post/requestBody/content/application~1json/schema`)

const lastOf = (pointer: string): string => pointer.slice(pointer.lastIndexOf('/') + 1)

/** What only the rules can say, so that a refused body conforms to the schema. */
const beyondSchemas: { name: RegExp; because: string }[] = [
  { name: /too many decimals/, because: 'how many there may be depends on the currency' },
  { name: /very many decimals/, because: 'how many there may be depends on the currency' },
  { name: /minus zero/, because: 'JSON Schema compares by value' },
]

const seen = new Map<string, number>()
let [requests, answers] = [0, 0]

function judge({ name, path, method, parsed, answer }: Exchanged): void {
  // Of the paths that there are not, the document can only have the answer.
  const documented = document.paths?.[path] === undefined ? '/placebet' : path
  const found = document.paths?.[documented]?.post?.responses?.[answer.status]
  if (found === undefined) {
    problems.push(`${name}: ${path} answers ${answer.status}, which the document does not have`)
    return
  }
  const pointer = `${found.$ref ?? `#/paths/~1${documented.slice(1)}/post/responses/${answer.status}`}`
  const response = pointer.startsWith('#/paths/') ? found : document.components?.responses?.[lastOf(pointer)]
  const conforms = validatorAt(`${pointer}/content/application~1json/schema`)
  if (!conforms(JSON.parse(answer.body))) {
    problems.push(`${name}: the answer ${answer.body} does not conform: ${JSON.stringify(conforms.errors)}`)
  }
  for (const header of Object.keys(response?.headers ?? {})) {
    if (answer.headers[header.toLowerCase()] === undefined) problems.push(`${name}: has no header ${header}`)
  }
  answers += 1
  const { errorCode = 'success' } = JSON.parse(answer.body) as { errorCode?: string }
  seen.set(errorCode, (seen.get(errorCode) ?? 0) + 1)

  // Only calls that reached the parser of requests say anything about their bodies.
  const reached =
    method === 'POST' && parsed !== undefined && ![401, 404, 405, 413, 415].includes(answer.status)
  if (!reached) return
  const accepts = requestsOf(path)
  const refused = errorCode === 'INVALID_REQUEST'
  requests += 1
  if (accepts(parsed.body) !== refused) return
  if (refused && beyondSchemas.some(({ name: pattern }) => pattern.test(name))) return
  const errorText = JSON.stringify(accepts.errors)
  problems.push(
    `${name}: the wallet ${refused ? 'refuses' : 'accepts'} it, the schema does not: ${errorText}`,
  )
}

for (const exchanged of await replayAll()) judge(exchanged)

for (const code of errorCodes) if (!seen.has(code)) problems.push(`no exchange is answered with ${code}`)
for (const [path, operation] of Object.entries(document.paths ?? {})) {
  const media = operation?.post?.requestBody?.content?.['application/json']
  const accepts = requestsOf(path)
  for (const [name, example] of Object.entries(media?.examples ?? {})) {
    if (!accepts(example?.value))
      problems.push(`${path}: its ${name} does not conform: ${JSON.stringify(accepts.errors)}`)
  }
}

for (const problem of problems) console.log(`FAILED: ${problem}`)
if (problems.length === 0) {
  console.log(
    `Passed: valid OpenAPI 3.1; ${answers} answers with ${seen.size - 1} error codes, ${requests} requests.`,
  )
}
process.exitCode = problems.length === 0 ? 0 : 1
