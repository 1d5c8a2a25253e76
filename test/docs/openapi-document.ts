/** The OpenAPI document of the wallet, made from the schemas and status codes of the code. */
import { z } from 'zod'
import manifest from '../../package.json' with { type: 'json' }
import { defaultStatusCodes } from '../../src/http/index.js'
import type { ErrorCode } from '../../src/index.js'
import { type Requests, requestSchemas } from '../../src/requests.js'

/** What OpenAPI says about one part; only its structure is known here. */
export type Json = { [key: string]: unknown }

/** The meaning of each code, for the platform. */
const meanings: Record<ErrorCode, string> = {
  INVALID_REQUEST: 'the body is invalid; `description` names each invalid field',
  INVALID_PLAYER: 'the player is unknown, or the bet belongs to another player',
  INVALID_SESSION_TOKEN: 'the session is unknown or has ended',
  INVALID_CURRENCY: "the currency is not the player's",
  INVALID_BET: 'the state of the bet does not allow the operation',
  AUTHENTICATION_FAILED: 'the call is not authenticated; nothing was written',
  INSUFFICIENT_FUNDS: 'the funds of the player do not suffice, or the wallet cannot debit',
  NOT_FOUND: 'there is no such path',
  METHOD_NOT_ALLOWED: 'the method is not POST',
  TRANSACTION_CONFLICT: 'the transactionId was used before, with different content; nothing was changed',
  PAYLOAD_TOO_LARGE: 'the body has too many bytes',
  UNSUPPORTED_MEDIA_TYPE: 'the Content-Type is not application/json in UTF-8, or the body is compressed',
  INTERNAL_ERROR: 'unknown outcome: send the same request again, or roll the bet back',
  SETTLEMENT_NOT_FOUND: 'the settlement has not arrived yet: send the same request again later',
  UNAVAILABLE: 'no changes were made: send the same request again later',
}

/** The codes that any operation may be answered with. */
const general: ErrorCode[] = [
  ...(['INVALID_REQUEST', 'INVALID_PLAYER', 'INVALID_CURRENCY', 'INVALID_BET'] as const),
  ...(['AUTHENTICATION_FAILED', 'NOT_FOUND', 'METHOD_NOT_ALLOWED', 'TRANSACTION_CONFLICT'] as const),
  ...(['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'INTERNAL_ERROR', 'UNAVAILABLE'] as const),
]

interface Operation {
  id: string
  summary: string
  description: string
  /** Beside the general ones. */
  codes: ErrorCode[]
  /** Whether the operator has codes of its own, answered with 400. */
  ownCodes: boolean
  example: Json
}

const ids = { transactionId: 't-1', betId: 'b-1', playerId: 'anna' }
const transactionDate = '2026-11-21T18:00:00Z'
const retried = 'The caller retries it with the same transactionId until it has a definite answer.'

const operations: Record<keyof Requests, Operation> = {
  placebet: {
    id: 'placeBet',
    summary: 'Place a bet',
    description:
      'Debits the stake. Not retried: a call that fails or times out is rolled back with /rollbackbet. A refusal is final.',
    codes: ['INVALID_SESSION_TOKEN', 'INSUFFICIENT_FUNDS'],
    ownCodes: true,
    example: {
      ...{ ...ids, sessionId: 's-1', amount: 30.5, currency: 'EUR' },
      ...{ odds: 1.85, betType: 'SINGLE', transactionDate },
    },
  },
  unsettlement: {
    id: 'unsettlement',
    summary: 'Reverse a settlement',
    description: `Debits what a settlement credited (the clawback), once, in full or not at all. After INSUFFICIENT_FUNDS the amount is owed to the platform, which nets it off later winnings. ${retried}`,
    codes: ['INSUFFICIENT_FUNDS', 'SETTLEMENT_NOT_FOUND'],
    ownCodes: false,
    example: { ...ids, transactionId: 'u-1', type: 'UNSCORED', transactionDate },
  },
  rollbackbet: {
    id: 'rollbackBet',
    summary: 'Undo a bet',
    description: `Credits the stake back, once. For an unknown bet it succeeds and changes no balance. ${retried}`,
    codes: [],
    ownCodes: false,
    example: { ...ids, transactionId: 'r-1', type: 'TECHNICAL_ERROR', transactionDate },
  },
  settlement: {
    id: 'settlement',
    summary: 'Credit a settlement',
    description:
      "Not a call by the platform: the operator's settlement code calls `recordSettlement`. This path exists if the operator serves it with the option `routes`. " +
      retried,
    codes: [],
    ownCodes: false,
    example: {
      ...ids,
      transactionId: 's-1',
      type: 'BET_PAID',
      amount: 55.5,
      currency: 'EUR',
      transactionDate,
    },
  },
}

/** What the fields mean; their forms are in the schemas. */
const fields: Record<string, string> = {
  transactionId:
    'Identifies the transaction. The same id is the same transaction, and changes the balance at most once.',
  betId: 'Identifies the bet.',
  playerId: 'Identifies the player in the wallet.',
  sessionId: "Identifies the player's session.",
  amount:
    'An exact decimal of at least 0, with at most 15 digits before the point and at most the decimals of its currency (EUR 2, JPY 0), trailing zeros not counted. Read digit by digit, as a number or as a string: never through a double.',
  currency:
    "The currency code of the amount; it must be the player's. ISO 4217 in upper case, or another code.",
  odds: 'For information. A decimal.',
  betType: 'For information.',
  type: 'What is reversed, credited, or why the bet is rolled back.',
  transactionDate:
    'When the transaction was created: an ISO 8601 date and time with Z, an offset, or neither (then UTC). Not used for ordering.',
}

function requestSchema(operation: keyof Requests): Json {
  const { $schema, ...schema } = z.toJSONSchema(requestSchemas()[operation], { io: 'input' })
  const properties = Object.entries(schema.properties ?? {}).map(([name, form]) => [
    name,
    { description: fields[name], ...(form as Json) },
  ])
  return { ...schema, description: 'Unknown fields are ignored.', properties: Object.fromEntries(properties) }
}

const success: Json = {
  type: 'object',
  required: ['balance', 'currency'],
  additionalProperties: false,
  properties: {
    balance: {
      type: 'number',
      description:
        'The current balance: an exact decimal, written with the decimals of the currency and all further digits (100.00, 0.12345678). It may have more digits than a double holds: read it as a decimal.',
    },
    currency: { type: 'string', description: "The player's currency." },
    walletTransactionId: { type: 'string', description: "The wallet's reference for the transaction." },
  },
}

function errorSchema(codes: readonly ErrorCode[], ownCodes: boolean): Json {
  const known = { type: 'string', enum: codes }
  const own = { type: 'string', minLength: 1, description: 'A code that the operator has added.' }
  return {
    type: 'object',
    required: ['errorCode', 'description'],
    additionalProperties: false,
    properties: {
      errorCode: ownCodes ? { anyOf: [known, own] } : known,
      description: { type: 'string', minLength: 1, description: 'For people; it may change.' },
    },
  }
}

const headersOf: Partial<Record<number, Json>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' }, description: 'Basic.' } },
  405: { Allow: { schema: { type: 'string', const: 'POST' } } },
}

function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const statuses = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const status = defaultStatusCodes[code]
    statuses.set(status, [...(statuses.get(status) ?? []), code])
  }
  return statuses
}

function errorResponse(status: number, codes: readonly ErrorCode[], ownCodes = false): Json {
  const lines = codes.map(code => `- \`${code}\`: ${meanings[code]}`)
  if (ownCodes) lines.push('- a code that the operator has added, for a limit or an exclusion')
  const headers = headersOf[status]
  return {
    description: lines.join('\n'),
    ...(headers === undefined ? {} : { headers }),
    content: { 'application/json': { schema: errorSchema(codes, ownCodes) } },
  }
}

const generalResponses = byStatus(general)

/** The responses of an operation by status. */
function responsesOf({ codes, ownCodes }: Operation): Json {
  const errors = [...byStatus([...general, ...codes])].map(([status, ofStatus]): [number, Json] => {
    const own = ownCodes && status === 400
    const isGeneral = !own && ofStatus.length === generalResponses.get(status)?.length
    return [
      status,
      isGeneral ? { $ref: `#/components/responses/Error${status}` } : errorResponse(status, ofStatus, own),
    ]
  })
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Success' } } }
  const success = { description: 'Success. A retry has the current balance.', content }
  return Object.fromEntries([[200, success], ...errors])
}

const nameOf = (operation: string): string => `${operation[0]?.toUpperCase()}${operation.slice(1)}Request`

export function openApiDocument(): Json {
  const names = Object.keys(operations) as (keyof Requests)[]
  const paths = names.map(name => {
    const { id, summary, description, example } = operations[name]
    const schema = { $ref: `#/components/schemas/${nameOf(id)}` }
    const post = {
      ...{ operationId: id, tags: [name === 'settlement' ? 'operator' : 'platform'], summary, description },
      requestBody: {
        required: true,
        content: { 'application/json': { schema, examples: { example: { value: example } } } },
      },
      responses: responsesOf(operations[name]),
    }
    return [`/${name}`, { post }]
  })
  return {
    openapi: '3.1.0',
    info: {
      title: 'Wallet of a sportsbook operator',
      version: manifest.version,
      license: { name: 'MIT', identifier: 'MIT' },
      description: [
        "The wallet side of a sportsbook's callback interface, as the library bet-wallet serves it with its default options.",
        'Amounts are exact decimals. A JSON number may have more digits than a double holds, and the wallet reads and writes every digit: map `number` to a decimal type in generated code. In requests an amount may also be a JSON string.',
        'Checks come in this order: path and method, authentication, media type, body, then the rules.',
      ].join('\n\n'),
    },
    servers: [
      { url: 'https://wallet.example.com/wallet', description: "The operator's address and base path." },
    ],
    tags: [
      { name: 'platform', description: 'The calls that the platform makes.' },
      { name: 'operator', description: "The operator's own path." },
    ],
    security: [{ basic: [] }],
    paths: Object.fromEntries(paths),
    components: {
      schemas: {
        ...Object.fromEntries(names.map(name => [nameOf(operations[name].id), requestSchema(name)])),
        Success: success,
      },
      responses: Object.fromEntries(
        [...generalResponses].map(([status, codes]) => [`Error${status}`, errorResponse(status, codes)]),
      ),
      securitySchemes: {
        basic: {
          type: 'http',
          scheme: 'basic',
          description:
            'Or another scheme that the operator has agreed with the platform: a signature over the body, say.',
        },
      },
    },
  }
}

/** The file's text. */
export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`
}
