/** Checks of option values. */
import { PostgresStoreError } from './errors.js'

/** @throws {PostgresStoreError} `INVALID_OPTIONS` */
export function invalid(problem: string): never {
  throw new PostgresStoreError('INVALID_OPTIONS', `Invalid options: ${problem}`)
}

export function wholeNumber(name: string, value: unknown, min: number, max: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max) {
    invalid(`${name} must be a whole number from ${min} to ${max}`)
  }
  return value as number
}

export function knownOnly(prefix: string, options: object, names: readonly string[]): void {
  for (const name in options) if (!names.includes(name)) invalid(`unknown option "${prefix}${name}"`)
}

export function oneOf<T extends string>(name: string, value: unknown, values: readonly T[]): T {
  const found = values.find(known => known === value)
  return found ?? invalid(`${name} must be one of ${values.join(', ')}`)
}
