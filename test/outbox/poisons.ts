/** What a delivery may reject with: a driver, a proxy, or a consumer's answer decides, and not all of it can be stored. */

/** Each by its name; made anew, as some are used up by a look at them. */
export const poisons: Readonly<Record<string, () => unknown>> = {
  'an emoji that the limit divides': () => new Error(`${'x'.repeat(499)}🎲 and more`),
  'half of an emoji': () => new Error('answered \ud83c'),
  'an emoji': () => new Error('🎲 ü no'),
  'a NUL': () => new Error('answered \0'),
  'a megabyte': () => new Error('é'.repeat(1_000_000)),
  'an error without a message': () => Object.assign(new Error(), { message: undefined }),
  'an error whose message is an object': () => Object.assign(new Error(), { message: Object.create(null) }),
  'an error whose message throws': () =>
    Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('unreadable')
      },
    }),
  'an object without a prototype': () => Object.create(null),
  'an object whose toString throws': () => ({
    toString() {
      throw new Error('no text')
    },
  }),
  'a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
}
