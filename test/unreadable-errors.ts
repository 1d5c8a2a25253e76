/** Values that a hook may throw, and whose fields cannot be read: as an error of the operator's own code has them. */

const no = () => {
  throw new Error('not readable')
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable(new Error('revoked'), {})
  revoke()
  return proxy
}

export const unreadable: readonly [name: string, make: () => unknown][] = [
  ['whose code throws', () => Object.defineProperty(new Error('hook'), 'code', { get: no })],
  ['whose errno throws', () => Object.defineProperty(new Error('hook'), 'errno', { get: no })],
  ['whose cause throws', () => Object.defineProperty(new Error('hook'), 'cause', { get: no })],
  ['whose errors are a revoked Proxy', () => Object.assign(new Error('hook'), { errors: revoked() })],
  ['whose message has no text', () => Object.assign(new Error('hook'), { message: Object.create(null) })],
  ['that is a revoked Proxy', revoked],
]
