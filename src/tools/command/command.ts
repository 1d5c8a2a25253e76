#!/usr/bin/env node
/** The command `bet-wallet`: the platform's side from a terminal, and lookups in the operator's database. */
import { isA } from '../../foreign-values.js'
import { ReconcileError } from '../reconcile/errors.js'
import { AuditError } from '../wire/errors.js'
import { UsageError } from './arguments.js'
import { commandHelp } from './help.js'
import { messageOf, overwriteLine } from './output.js'

/** Called with the words after its name, and resolves to the exit code. */
type Run = (words: string[]) => Promise<number>

/** Each is loaded when it is called. */
const commands: Readonly<Record<string, () => Promise<Run>>> = {
  try: async () => (await import('./try.js')).tryWallet,
  init: async () => (await import('./init.js')).init,
  migrate: async () => (await import('./migrate.js')).migrate,
  check: async () => (await import('./check.js')).check,
  grants: async () => (await import('./grants.js')).grants,
  audit: async () => (await import('./audit.js')).audit,
  simulate: async () => (await import('./simulate.js')).simulate,
  bet: async () => (await import('./bet.js')).bet,
  transaction: async () => (await import('./transaction.js')).transaction,
  player: async () => (await import('./player.js')).player,
  owed: async () => (await import('./owed.js')).owed,
  reconcile: async () => (await import('./reconcile.js')).reconcile,
}

async function main(words: readonly string[]): Promise<number> {
  const [command, ...rest] = words
  const load = Object.hasOwn(commands, command ?? '') ? commands[command ?? ''] : undefined
  if (load !== undefined) return await (await load())(rest)
  if (command === undefined || ['--help', '-h', 'help'].includes(command)) {
    console.log(commandHelp)
    return command === undefined ? 2 : 0
  }
  throw new UsageError(
    `Unknown command ${JSON.stringify(command)}: the commands are ${Object.keys(commands).join(', ')}`,
  )
}

const command = process.argv[2] ?? ''

/** What an error of the database has prevented. */
const doing =
  new Map([
    ['init', 'read the schema'],
    ['migrate', 'migrate'],
    ['grants', 'read the players table'],
  ]).get(command) ?? 'look up'

function printError(error: unknown): void {
  if (error instanceof UsageError || (isToolError(error) && error.code === 'INVALID_OPTIONS'))
    console.error(
      `${messageOf(error)}\n\nSee bet-wallet ${Object.hasOwn(commands, command) ? `${command} ` : ''}--help.`,
    )
  else if (error instanceof AuditError)
    console.error(
      `${error.code === 'SETTLEMENT_FAILED' ? 'Cannot judge' : 'Cannot start'}: ${messageOf(error)}`,
    )
  else if (error instanceof ReconcileError) console.error(`Cannot compare: ${messageOf(error)}`)
  else if (isStoreError(error)) console.error(`Cannot ${doing}: ${messageOf(error)}${adviceFor(error)}`)
  // Never the error itself: drivers put what they were given into its properties.
  else console.error(messageOf(error))
}

const isToolError = (error: unknown): error is AuditError | ReconcileError =>
  error instanceof AuditError || error instanceof ReconcileError

/** By name: a config file may make its lookups with another copy of the package. */
const isStoreError = (error: unknown): error is Error & { code: string } =>
  isA(error, Error) && error.name === 'StoreError'

const adviceFor = ({ code }: { code: string }) =>
  code === 'LOOKUP_INDEX_MISSING' ? '. Here, allowScan is --scan.' : ''

/** A config file may have left a pool open, which would keep the process. */
function exit(code: number): void {
  process.exitCode = code
  process.stdout.write('', () => process.exit())
}

function fail(error: unknown): void {
  if (process.stderr.isTTY) overwriteLine('')
  printError(error)
  exit(2)
}

process.on('uncaughtException', fail)
// With a promise that nothing will settle, Node.js would end with exit code 0, which is that of success.
process.once('beforeExit', () =>
  fail(new Error('The command ended without a result: the answer that it waited for cannot come any more')),
)
main(process.argv.slice(2)).then(exit, fail)
