/**
 * Values that other code throws or returns: the operator's hooks, drivers, servers. They may be anything: a
 * property may throw when it is read, and a text may be no text. No other module reads a property of one.
 */

/** @returns the property; `undefined` if there is none, or reading it throws */
export function fieldOf(value: unknown, name: string): unknown {
  try {
    return Object(value)[name]
  } catch {
    return undefined
  }
}

/** @returns its message or its text; never throws, never empty */
export function textOf(value: unknown): string {
  const message = fieldOf(value, 'message')
  if (typeof message === 'string' && message !== '') return message
  try {
    return String(value) || 'an error without text'
  } catch {
    return 'an error without text'
  }
}

/** @returns the items of an array; none for any other value, or if reading them throws */
export function itemsOf(value: unknown): unknown[] {
  try {
    return Array.isArray(value) ? [...value] : []
  } catch {
    return []
  }
}

/** @returns whether it is of the class; never throws, as `instanceof` does with a revoked Proxy */
export function isA<T>(value: unknown, type: abstract new (...values: never[]) => T): value is T {
  try {
    return value instanceof type
  } catch {
    return false
  }
}

/** @returns the value, or an error in place of one whose class cannot be read: a revoked Proxy */
export function readable(value: unknown): unknown {
  try {
    Reflect.getPrototypeOf(Object(value))
    return value
  } catch {
    return new Error('a value that cannot be read')
  }
}
