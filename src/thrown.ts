/** What other code has thrown: any value at all, and whatever is read of it may throw in turn. */

/** A field of a thrown value; `undefined`: there is none, or it cannot be read. */
export function fieldOf(thrown: unknown, name: string): unknown {
  if (typeof thrown !== 'object' || thrown === null) return undefined
  try {
    return Reflect.get(thrown, name)
  } catch {
    return undefined
  }
}

/** The thrown value, or an error in place of one whose class cannot be read: a revoked Proxy. */
export function readable(thrown: unknown): unknown {
  try {
    Reflect.getPrototypeOf(Object(thrown))
    return thrown
  } catch {
    return new Error('[unreadable value]')
  }
}

/** Any thrown value as text: `Object.create(null)` has none, and `toString` may throw. */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return '[unprintable value]'
  }
}
