/** The request and the response of the HTTP handler, independent of any framework. */
import type { CallMessage } from '../options.js'
import type { HttpBody } from './body.js'

export interface HttpRequest extends CallMessage {
  body: HttpBody
}

export interface HttpResponse {
  status: number
  headers: Record<string, string>
  /** JSON text. */
  body: string
}

/** The value of a header; `undefined` if it is missing or was sent several times. `name` in lower case. */
export function headerOf({ headers }: HttpRequest, name: string): string | undefined {
  const value = headers[name] ?? headers[keyOf(headers, name)]
  if (typeof value === 'string') return value
  return value?.length === 1 ? value[0] : undefined
}

/** Why {@link headerOf} returns nothing; `null` if it returns a value. */
export function headerProblem(request: HttpRequest, name: string): string | null {
  if (headerOf(request, name) !== undefined) return null
  const { headers } = request
  const values = headers[name] ?? headers[keyOf(headers, name)] ?? []
  return values.length === 0 ? `there is no header ${name}` : `there are several headers ${name}`
}

/** Node.js sends names in lower case; other adapters may not. */
function keyOf(headers: HttpRequest['headers'], name: string): string {
  for (const key in headers) {
    if (key.length === name.length && key.toLowerCase() === name) return key
  }
  return name
}
