/** What a hook may throw: eleven kinds of values, most of which are no errors with a text. */
export const thrownValues: Record<string, () => unknown> = {
  'an error': () => new Error('the log is full'),
  'an error whose message is an object': () =>
    Object.assign(new Error(), { message: Object.create(null), stack: Object.create(null) }),
  'an error without a message': () => Object.assign(new Error(), { message: undefined, stack: undefined }),
  'an object without a prototype': () => Object.create(null),
  'a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'an object whose properties throw': () =>
    new Proxy(
      {},
      {
        get() {
          throw new Error('no property')
        },
      },
    ),
  'an error with a revoked cause': () => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return Object.assign(new Error('the log is full', { cause: proxy }), { errors: proxy, code: proxy })
  },
  'a symbol': () => Symbol('full'),
  'a text': () => 'the log is full',
  undefined: () => undefined,
  null: () => null,
}
