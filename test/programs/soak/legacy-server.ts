/** A process of the legacy integration: see legacy-integration.ts. */
import { createServer, type IncomingMessage } from 'node:http'
import pg from 'pg'
import { legacyApplicationName } from './legacy-integration.js'
import { credentials, listen, reportFault, settings } from './server-child.js'

const given = settings()
const pool = new pg.Pool({
  connectionString: given.databaseUrl,
  max: 8,
  application_name: legacyApplicationName,
})
pool.on('error', () => {})
const authorization = `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`
const operations = ['placebet', 'settlement', 'unsettlement', 'rollbackbet']

interface Answer {
  status: number
  code: string | null
  balance_cents: string
  ref: string | null
}

async function answer(req: IncomingMessage): Promise<[status: number, body: object]> {
  const refusal = (status: number, errorCode: string): [number, object] => [
    status,
    { errorCode, description: errorCode },
  ]
  const operation = req.url?.slice(1) ?? ''
  if (req.method !== 'POST' || !operations.includes(operation)) return refusal(404, 'NOT_FOUND')
  if (req.headers.authorization !== authorization) return refusal(401, 'AUTHENTICATION_FAILED')
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const { rows } = await pool.query<Answer>('SELECT * FROM legacy.answer($1, $2)', [
    operation,
    Buffer.concat(chunks).toString(),
  ])
  const [{ status, code, balance_cents, ref }] = rows as [Answer]
  if (code !== null) return refusal(status, code)
  return [
    status,
    {
      balance: Number(balance_cents) / 100,
      currency: 'EUR',
      ...(ref !== null && { walletTransactionId: ref }),
    },
  ]
}

const server = createServer(async (req, res) => {
  const [status, body] = await answer(req).catch((error: unknown): [number, object] => {
    reportFault(error)
    return [500, { errorCode: 'INTERNAL_ERROR', description: 'Internal error' }]
  })
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
await listen(server, given)
