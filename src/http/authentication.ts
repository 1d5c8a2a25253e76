/** Who may call: the option `authenticate`, and several checks as one. */
import { isA } from '../foreign-values.js'
import { BytesDropped, type CallBody } from './call-body.js'
import type { HttpRequest } from './message.js'

/**
 * Returns `true` if the call comes from the platform. Any other value is a 401. A text is the reason, for
 * `onAuthenticationFailed` and the channel `bet-wallet:http`; the caller is never told. If it throws: 500.
 */
export type Authenticate = (
  request: HttpRequest,
  call: AuthenticationCall,
) => boolean | string | Promise<boolean | string>

/** What `authenticate` may need beside the request. */
export interface AuthenticationCall {
  /**
   * The body as it was received, byte by byte. It is read once, and the handler parses the same bytes. Let
   * its errors pass: the handler answers them.
   *
   * @throws {Error} for a body of more than `bodyBytesMax` bytes (413), for an incomplete body (400), and
   *   behind a body parser that kept no bytes (401)
   */
  readonly rawBody: () => Promise<Uint8Array>
  /**
   * Records why a check fails: `return call.refuse('the certificate has expired')`. For the operator, as a
   * text that `authenticate` returns. The library's own checks use it: their result is a boolean, so they can
   * be combined with `&&` and `||`.
   *
   * @returns `false`
   */
  readonly refuse: (reason: string) => false
}

/**
 * Runs the checks of one call.
 *
 * @returns `null` if it is authenticated, else why not
 */
export async function refusalOf(
  authenticate: Authenticate,
  request: HttpRequest,
  body: CallBody,
): Promise<string | null> {
  const reasons: string[] = []
  const call: AuthenticationCall = {
    rawBody() {
      const bytes = body.bytes()
      bytes.catch(() => undefined) // of a hook that does not wait for it
      return bytes
    },
    refuse(reason) {
      reasons.push(String(reason))
      return false
    },
  }
  try {
    if (await isAccepted(authenticate, request, call)) return null
  } catch (error) {
    if (!isA(error, BytesDropped)) throw error
    reasons.push(error.message)
  }
  return reasons.join('; ') || 'authenticate returned no reason'
}

async function isAccepted(
  check: Authenticate,
  request: HttpRequest,
  call: AuthenticationCall,
): Promise<boolean> {
  const answered: unknown = check(request, call)
  const answer = typeof answered === 'boolean' ? answered : await answered
  if (typeof answer === 'string' && answer !== '') call.refuse(answer)
  return answer === true
}

/**
 * Authenticates a call that one of these checks accepts: `anyOf(newScheme, oldScheme)`. They are called in
 * this order, up to the first that accepts. One that throws is passed over; its error is thrown if no other
 * accepts.
 *
 * @returns a function for the option `authenticate`
 * @throws {TypeError} without a check
 */
export function anyOf(...checks: readonly Authenticate[]): Authenticate {
  requireChecks('anyOf', checks)
  return async (request, call) => {
    const errors: unknown[] = []
    for (const check of checks) {
      try {
        if (await isAccepted(check, request, call)) return true
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
    return false
  }
}

/**
 * Authenticates a call that all of these checks accept: `allOf(allowAddresses([…]), signature({…}))`. They
 * are called in this order, up to the first that does not accept: put first what does not read the body.
 *
 * @returns a function for the option `authenticate`
 * @throws {TypeError} without a check
 */
export function allOf(...checks: readonly Authenticate[]): Authenticate {
  requireChecks('allOf', checks)
  return async (request, call) => {
    for (const check of checks) {
      if (!(await isAccepted(check, request, call))) return false
    }
    return true
  }
}

function requireChecks(name: string, checks: readonly unknown[]): void {
  if (checks.length === 0 || !checks.every(check => typeof check === 'function')) {
    throw new TypeError(`${name}: every argument must be a function, as basicAuth and signature create them`)
  }
}
