/** An option of a command, declared once: parsing, `--help` and docs/configuration.md read it. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { microsecondsOf } from '../../lookups/times.js'
import { standardOutput, writable } from './output.js'
import { UsageError } from './usage-error.js'

export interface Option<T> {
  /** `--player <id>`; a switch has no value. */
  readonly flag: string
  readonly meaning: string
  /**
   * @param name for messages: `--player`
   * @throws {UsageError}
   */
  read(texts: readonly string[], name: string): T
  readonly isSeveral?: true
  readonly isRequired?: true
  /** Read where the option is not given. */
  readonly standard?: string
  /** Of the environment: what the option is without its flag, or the secret that belongs to it. */
  readonly variables?: readonly string[]
  /** What the command prints in place of its work. */
  readonly printed?: () => string
  /** Its value is a file, which no other one of these may be. */
  readonly isOutput?: true
  /** What messages of the tools call it, if not by its name in the declaration: `settle.url`. */
  readonly codeName?: string
}

export type Options = Readonly<Record<string, Option<unknown>>>

type ValueOf<O> = O extends Option<infer T> ? T : never
type AlwaysThere = { isRequired: true } | { standard: string }

/** What the words say, by the names of the declaration. Options that are not given are not there. */
export type Values<O extends Options> = {
  [K in keyof O as O[K] extends AlwaysThere ? K : never]: ValueOf<O[K]>
} & { [K in keyof O as O[K] extends AlwaysThere ? never : K]?: ValueOf<O[K]> }

export const required = <T>(option: Option<T>) => ({ ...option, isRequired: true as const })
export const otherwise = <T>(standard: string, option: Option<T>) => ({ ...option, standard })

const one =
  <T>(readOne: (text: string, name: string) => T) =>
  (flag: string, meaning: string): Option<T> => ({
    flag,
    meaning,
    read: ([text = ''], name) => readOne(text, name),
  })

export const option = <T>(flag: string, meaning: string, readOne: (text: string, name: string) => T) =>
  one(readOne)(flag, meaning)

export const several = <T>(
  flag: string,
  meaning: string,
  read: (texts: readonly string[], name: string) => T,
) => ({ flag, meaning, read, isSeveral: true as const })

/** A value with a secret. It is never an argument: other users see those in the list of processes. */
export const withSecret = <T>(
  flag: string,
  meaning: string,
  variable: string,
  readBoth: (text: string, secret: string, name: string) => T,
): Option<T> => ({
  ...option(flag, meaning, (text, name) => {
    const secret = process.env[variable]
    if (secret) return readBoth(text, secret, name)
    throw new UsageError(`${name} needs a secret: ${variable} (environment)`)
  }),
  variables: [variable],
})

export const text = one(value => value)
export const on = one(() => true)
export const off = one(() => false)
export const codes = one(value => value.split(',').map(code => code.trim()))

export const form = <T>(pattern: RegExp, what: string, read: (found: RegExpExecArray) => T) =>
  one((value, name) => {
    const found = pattern.exec(value)
    if (found !== null) return read(found)
    throw new UsageError(`${name} must be ${what}, not ${JSON.stringify(value)}`)
  })

export const whole = form(/^[0-9]{1,15}$/, 'a whole number', Number)
export const decimal = form(/^[0-9]+(\.[0-9]+)?$/, 'a number', ([number]) => Number(number))

const msOfUnit: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
export const duration = form(
  /^([0-9]{1,9}(?:\.[0-9]+)?)(ms|s|m|h)$/,
  'a duration such as 500ms, 10s, 5m or 1h',
  ([, amount, unit = '']) => Math.round(Number(amount) * (msOfUnit[unit] ?? 1)),
)

/** A time of a lookup, in UTC: lookups of a config file may know no other. */
export const time = one((value, name) => {
  const found = microsecondsOf(value)
  if (found !== null) return `${found}Z`
  throw new UsageError(
    `${name} must be a time, as in 2026-11-22, 2026-11-22T10:00:00Z or 2026-11-22T10:00+01:00, not ${JSON.stringify(value)}`,
  )
})

function outputOf(read: (file: string) => string) {
  return (flag: string, meaning: string) => ({ ...one(read)(flag, meaning), isOutput: true as const })
}

/** A file that is written at the end. */
export const output = outputOf(writable)

/** Of every command with a result. */
export const outputs = {
  json: outputOf(file => (file === standardOutput ? file : writable(file)))(
    '--json <file>',
    'the result as JSON; - prints it in place of the text',
  ),
  html: output('--html <file>', 'the result as a page'),
}

/** The content of a file of JSON; what is in it, its reader checks. */
export function readJson(file: string, name: string) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`${name}: ${file} cannot be read: ${(error as Error).message}`)
  }
}

/** `player` of `--player <id>`. */
export const nameOf = ({ flag }: Option<unknown>) => flag.replace(/^--| .*$/g, '')

/** All of its meaning: `for each answer (10s)`. */
export const meaningOf = ({ meaning, isSeveral, isRequired, standard, variables = [] }: Option<unknown>) =>
  [
    meaning,
    isSeveral ? '; can be repeated' : '',
    isRequired ? ' (required)' : '',
    standard === undefined ? '' : ` (${standard})`,
    variables.length === 0 ? '' : `; environment: ${variables.join(', else ')}`,
  ].join('')

type Given = Readonly<Record<string, readonly (string | boolean)[] | undefined>>

const ambiguous = /^Option '(--[a-z-]+)' argument is ambiguous$/

/** @throws {UsageError} for unknown options, missing values, and one value that is given twice */
export function parseWords(options: Options, words: string[]): { given: Given; positionals: string[] } {
  const declared = Object.values(options)
  const config: NonNullable<ParseArgsConfig['options']> = {}
  for (const each of declared)
    config[nameOf(each)] = {
      type: each.flag.includes(' ') ? 'string' : 'boolean',
      multiple: true,
      ...(nameOf(each) === 'help' && { short: 'h' }),
    }
  try {
    const { values, positionals } = parseArgs({ args: words, options: config, allowPositionals: true })
    const given = values as Given
    for (const each of declared)
      if (!each.isSeveral && (given[nameOf(each)]?.length ?? 0) > 1)
        throw new UsageError(`--${nameOf(each)} is given twice, and has one value`)
    return { given, positionals }
  } catch (error) {
    // Node.js goes on about arguments that begin with a '-'.
    const [message = ''] = (error as Error).message.split(/[.]\s/)
    throw new UsageError(
      message.replace(ambiguous, '$1 has no value. If it begins with a "-", write $1=-x in one word'),
    )
  }
}

/** @throws {UsageError} for a value that cannot be, and for a required option that is missing */
export function valuesOf<O extends Options>(options: O, given: Given): Values<O> {
  const values: Record<string, unknown> = {}
  const textsOf = (each: Option<unknown>) => (given[nameOf(each)] ?? [each.standard ?? []].flat()).map(String)
  for (const [key, each] of Object.entries(options)) {
    const texts = textsOf(each)
    if (texts.includes('')) throw new UsageError(`--${nameOf(each)} is missing: its value is empty`)
    if (texts.length > 0) values[key] = each.read(texts, `--${nameOf(each)}`)
  }
  checkOutputs(options, values)
  for (const each of Object.values(options))
    if (each.isRequired && textsOf(each).length === 0)
      throw new UsageError(`--${nameOf(each)} is missing; there is no default`)
  return values as Values<O>
}

/** The second report would replace the first. */
function checkOutputs(options: Options, values: Readonly<Record<string, unknown>>): void {
  const files = new Map<string, string>()
  for (const [key, each] of Object.entries(options)) {
    if (!each.isOutput || values[key] === undefined) continue
    const file = resolve(String(values[key]))
    const other = files.get(file)
    if (other !== undefined)
      throw new UsageError(`--${other} and --${nameOf(each)} name the same file: ${file}`)
    files.set(file, nameOf(each))
  }
}
