/** What a signature covers: a template, and its bytes for one call. */
import { type HttpRequest, headerOf } from './message.js'
import { check } from './signature-verifier.js'

/** A part of the template: constant bytes, or what a call has. */
export type SignedPart = Uint8Array | 'body' | 'timestamp' | 'method' | 'path' | { header: string }

/**
 * Reads `"{timestamp}.{body}"`.
 *
 * @param timed whether there is a timestamp: it must be signed then, or anybody could change it
 * @throws {TypeError}
 */
export function readTemplate(template: unknown, timed: boolean): SignedPart[] {
  if (typeof template !== 'string') check.invalid('signed must be text with {body} in it')
  const parts = template.split(/(\{[^{}]*\})/).filter(part => part !== '')
  const count = (name: string) => parts.filter(part => part === name).length
  if (count('{body}') !== 1) check.invalid('signed must have {body} in it, once')
  if (timed && count('{timestamp}') === 0)
    check.invalid('signed must have {timestamp} in it: it is not signed otherwise')
  if (!timed && count('{timestamp}') > 0)
    check.invalid('signed has {timestamp} in it, but there is no option timestamp')
  return parts.map(partOf)
}

function partOf(part: string): SignedPart {
  if (!/[{}]/.test(part)) return Buffer.from(part)
  const name = part.slice(1, -1)
  if (name === 'body' || name === 'timestamp' || name === 'method' || name === 'path') return name
  const header = /^header:([\w!#$%&'*+.^`|~-]+)$/.exec(name)?.[1]
  if (header !== undefined) return { header: header.toLowerCase() }
  return check.invalid(
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
): Buffer | null {
  const { method, originalPath, path } = request
  const texts = { timestamp, method, path: originalPath ?? path }
  // Node.js reads headers and URLs as Latin-1: these are the bytes that were sent.
  let isLatin1 = true
  const bytes = (text: string) => {
    isLatin1 &&= !/[\u0100-\uffff]/.test(text)
    return Buffer.from(text, 'latin1')
  }
  const signed = parts.map(part => {
    if (part === 'body') return body
    if (typeof part === 'string') return bytes(texts[part])
    return 'header' in part ? bytes(headerOf(request, part.header) ?? '') : part
  })
  return isLatin1 ? Buffer.concat(signed) : null
}
