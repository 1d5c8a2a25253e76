/** A command by its declaration: usage, options, and what it does with their values. */
import { fieldOf, textOf } from '../../foreign-values.js'
import { meaningOf, nameOf, type Option, type Options, parseWords, type Values, valuesOf } from './option.js'
import { UsageError } from './usage-error.js'

export interface Command {
  /** `audit <base-url>` */
  usage: string
  /** One line of `bet-wallet --help`. */
  summary: string
  options: Options
  /** @returns the exit code */
  run(words: string[]): Promise<number>
}

interface Declaration<O extends Options> extends Pick<Command, 'usage' | 'summary'> {
  /** What `--help` says above the options. */
  about: string
  /** What each exit code means. */
  exitCodes: string
  options: O
  /**
   * @param argument what the usage names; empty if it names none
   * @param all of a usage that names several
   */
  work(values: Values<O>, argument: string, all: readonly string[]): Promise<number>
}

export function command<O extends Options>(declaration: Declaration<O>): Command {
  const { usage, summary } = declaration
  const help: Option<never> = prints('--help', 'prints this', () => helpOf(declaration))
  const options = { ...declaration.options, help }
  return {
    usage,
    summary,
    options,
    async run(words) {
      const { given, positionals } = parseWords(options, words)
      const printed = Object.values<Option<unknown>>(options).find(
        each => each.printed && given[nameOf(each)],
      )
      if (printed?.printed !== undefined) {
        console.log(printed.printed())
        return 0
      }
      checkArguments(usage, positionals)
      const [argument = ''] = positionals
      const values = valuesOf(declaration.options, given)
      try {
        return await declaration.work(values, argument, positionals)
      } catch (error) {
        // By the code, not by the class: a config file may have its lookups of another copy of the package.
        const isOfOptions = /^(INVALID_OPTIONS|LOOKUP_INDEX_MISSING)$/.test(String(fieldOf(error, 'code')))
        throw isOfOptions ? inFlags(textOf(error), declaration) : error
      }
    },
  }
}

/** An option that prints a text, in place of all that the command does. */
export const prints = (flag: string, meaning: string, printed: () => string): Option<never> => ({
  flag,
  meaning,
  printed,
  read: () => undefined as never,
})

function checkArguments(usage: string, [first, ...more]: readonly string[]): void {
  const [name, argument] = usage.split(/ (?=<)/)
  if (argument === undefined) {
    if (first === undefined) return
    throw new UsageError(`${name} has no arguments: ${[first, ...more].join(' ')}`)
  }
  if (first === undefined || first === '') throw new UsageError(`${argument} is missing: bet-wallet ${usage}`)
  if (more.length > 0 && !argument.includes('...'))
    throw new UsageError(`Only one ${argument} is allowed; unexpected: ${more.join(' ')}. Quote spaces.`)
}

/** `<base-url>` is `baseUrl` in code. */
const camelCased = (name: string) => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** What code says of an option, in the words of the command: `timeoutMs` is `--timeout`, in milliseconds. */
function inFlags(problem: string, { usage, options }: Declaration<Options>): UsageError {
  const [, argument = ''] = /<([a-z-]+)/.exec(usage) ?? []
  const flags = new Map([[camelCased(argument), `<${argument}>`]])
  for (const [key, each] of Object.entries(options)) {
    const flag = `--${nameOf(each)}${key.endsWith('Ms') ? ', in milliseconds,' : ''}`
    // Those of the players' table are grouped in code: `players.idType`.
    flags.set(each.codeName ?? key, flag).set(`players.${key}`, flag)
  }
  // The first word is an option, however it is spelled; in the others, only what can be no word of English.
  const names = /(?<=^Invalid options: )[\w.]+|\b[a-z]+[A-Z]\w*\b/g
  const flagOf = (name: string) => flags.get(name) ?? name
  return new UsageError(problem.replace(names, path => flags.get(path) ?? path.replace(/^\w+/, flagOf)))
}

const columnsMax = 100
const flagColumns = 26

function helpOf({ usage, about, exitCodes, options }: Declaration<Options>): string {
  const needed = Object.values(options).filter(({ isRequired }) => isRequired)
  const words = [usage, ...needed.map(({ flag }) => flag), '[options]']
  const lines = Object.values(options).map(each => rowOf(each.flag, flagColumns, meaningOf(each)))
  return [
    `Usage\n  bet-wallet ${words.join(' ')}`,
    wrapped(about),
    lines.join('\n'),
    wrapped(exitCodes),
  ].join('\n\n')
}

/** A name, and beside it a text on several lines. */
export const rowOf = (name: string, columns: number, text: string): string =>
  `  ${name.padEnd(columns)} ${wrapped(text, columns + 3)}`

function wrapped(text: string, indent = 0): string {
  const line = new RegExp(`(.{1,${columnsMax - indent}})(?: |$)`, 'g')
  const lines = [...text.replace(/\s+/g, ' ').matchAll(line)].map(([, words]) => words)
  return lines.join(`\n${' '.repeat(indent)}`)
}
