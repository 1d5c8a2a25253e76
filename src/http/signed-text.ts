/** What a signature covers: a template, and its bytes for one call. */
import { type HttpRequest, headerOf } from './message.js'

/** A part of the template: constant bytes, or what a call has. */
export type SignedPart = Uint8Array | 'body' | 'timestamp' | 'method' | 'path' | { header: string }

/**
 * Reads `"{timestamp}.{body}"`.
 *
 * @param timed whether there is a timestamp: it must be signed then, or anybody could change it
 * @param invalid throws
 */
export function readTemplate(
  template: unknown,
  timed: boolean,
  invalid: (problem: string) => never,
): SignedPart[] {
  if (typeof template !== 'string') invalid('signed must be text with {body} in it')
  const parts = template.split(/(\{[^{}]*\})/).filter(part => part !== '')
  const count = (name: string) => parts.filter(part => part === name).length
  if (count('{body}') !== 1) invalid('signed must have {body} in it, once')
  if (timed && count('{timestamp}') === 0)
    invalid('signed must have {timestamp} in it: it is not signed otherwise')
  if (!timed && count('{timestamp}') > 0)
    invalid('signed has {timestamp} in it, but there is no option timestamp')
  return parts.map(part => partOf(part, invalid))
}

function partOf(part: string, invalid: (problem: string) => never): SignedPart {
  if (!/[{}]/.test(part)) return Buffer.from(part)
  const name = part.slice(1, -1)
  if (name === 'body' || name === 'timestamp' || name === 'method' || name === 'path') return name
  const header = /^header:([\w!#$%&'*+.^`|~-]+)$/.exec(name)?.[1]
  if (header !== undefined) return { header: header.toLowerCase() }
  return invalid(
    `signed has ${JSON.stringify(part)}: supported are {body}, {timestamp}, {method}, {path}, {header:name}`,
  )
}

/** The headers that are signed. */
export function signedHeaders(parts: readonly SignedPart[]): string[] {
  return parts.flatMap(part => (typeof part === 'object' && 'header' in part ? [part.header] : []))
}

/**
 * The signed bytes of one call. Of a missing header: none.
 *
 * @returns `null` for a character that no byte of a header or URL stands for: an adapter has decoded them,
 *   and the bytes that were signed are not known. Cut to a byte, another text would pass for the signed one.
 */
export function signedBytes(
  parts: readonly SignedPart[],
  request: HttpRequest,
  timestamp: string,
  body: Uint8Array,
): Uint8Array[] | null {
  // Node.js reads headers and URLs as Latin-1: these are the bytes that were sent.
  let isLatin1 = true
  const bytes = (text: string) => {
    isLatin1 &&= !/[\u0100-\uffff]/.test(text)
    return Buffer.from(text, 'latin1')
  }
  const signed = parts.map(part => {
    if (part === 'body') return body
    if (part === 'timestamp') return bytes(timestamp)
    if (part === 'method') return bytes(request.method)
    if (part === 'path') return bytes(request.originalPath ?? request.path)
    return 'header' in part ? bytes(headerOf(request, part.header) ?? '') : part
  })
  return isLatin1 ? signed : null
}
