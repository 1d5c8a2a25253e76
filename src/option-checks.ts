/**
 * Checks of options objects, for every entry point. Problems are reported with the option's name, before any
 * other work.
 */

export type OptionChecks = ReturnType<typeof optionChecks>

/**
 * Makes the checks of one entry point.
 *
 * @param fail throws the error class of the entry point with this message
 */
export function optionChecks(fail: (message: string) => never, subject = 'Invalid options') {
  const invalid = (problem: string): never => fail(`${subject}: ${problem}`)
  return {
    /** Throws the error of the entry point: `Invalid options: <problem>`, or with another subject. */
    invalid(problem: string): never {
      return invalid(problem)
    },
    /**
     * Rejects a value that is not an object, and unknown names: a misspelt option would otherwise be ignored.
     */
    names(options: unknown, supported: Iterable<string>, prefix = ''): void {
      if (typeof options !== 'object' || options === null) {
        invalid(`${prefix === '' ? 'the options' : prefix.slice(0, -1)} must be an object`)
      }
      const known = new Set(supported)
      for (const name in options as object) {
        if (!known.has(name)) invalid(`unknown option "${prefix}${name}"`)
      }
    },
    func(name: string, value: unknown): void {
      if (value !== undefined && typeof value !== 'function') invalid(`${name} must be a function`)
    },
    boolean(name: string, value: unknown): boolean {
      return typeof value === 'boolean' ? value : invalid(`${name} must be true or false`)
    },
    /** A whole number within the limits, both included. */
    whole(name: string, value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): number {
      const number = value as number
      if (Number.isSafeInteger(value) && number >= least && number <= most) return number
      const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
      return invalid(`${name} must be a whole number ${range}`)
    },
    oneOf<const T extends string>(name: string, value: unknown, supported: readonly T[]): T {
      const found = supported.find(each => each === value)
      return found ?? invalid(`${name} must be one of ${supported.join(', ')}`)
    },
  }
}
