/** The request and the response as this library sees them: what any framework can translate to and from. */
import type { HttpBody } from './body.js'

export interface HttpRequest {
  /** `"POST"` */
  method: string
  /** Path of the URL, with or without a query: `"/wallet/placebet"`. */
  path: string
  /** As Node gives them: names in lower case. */
  headers: Record<string, string | string[] | undefined>
  body: HttpBody
}

export interface HttpResponse {
  status: number
  headers: Record<string, string>
  /** JSON text. */
  body: string
}

/** A header that came once; `undefined` where it is missing or came several times with no one way to read it. */
export function headerOf({ headers }: HttpRequest, name: string): string | undefined {
  const value =
    headers[name] ??
    headers[
      Object.keys(headers).find(key => key.length === name.length && key.toLowerCase() === name) ?? name
    ]
  return typeof value === 'string' ? value : value?.length === 1 ? value[0] : undefined
}
