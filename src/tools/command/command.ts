#!/usr/bin/env node
/** The command `bet-wallet`: the platform's side from a terminal, and lookups in the operator's database. */
import { AuditError } from '../platform/errors.js'
import { ReconcileError } from '../reconcile/errors.js'
import { UsageError } from './arguments.js'
import { audit } from './audit.js'
import { bet } from './bet.js'
import { commandHelp } from './help.js'
import { messageOf, overwriteLine } from './output.js'
import { player } from './player.js'
import { reconcile } from './reconcile.js'
import { simulate } from './simulate.js'
import { transaction } from './transaction.js'
import { tryWallet } from './try.js'

/** Each is called with the words after its name, and resolves to the exit code. */
const commands = new Map<string, (words: string[]) => Promise<number>>(
  Object.entries({ try: tryWallet, audit, simulate, bet, transaction, player, reconcile }),
)

async function main(words: readonly string[]): Promise<number> {
  const [command, ...rest] = words
  const run = commands.get(command ?? '')
  if (run !== undefined) return await run(rest)
  if (command === undefined || ['--help', '-h', 'help'].includes(command)) {
    console.log(commandHelp)
    return command === undefined ? 2 : 0
  }
  throw new UsageError(
    `Unknown command ${JSON.stringify(command)}: the commands are ${[...commands.keys()].join(', ')}`,
  )
}

function printError(error: unknown): void {
  if (error instanceof UsageError || (isToolError(error) && error.code === 'INVALID_OPTIONS'))
    console.error(`${messageOf(error)}\n\nSee bet-wallet --help.`)
  else if (error instanceof AuditError)
    console.error(
      `${error.code === 'SETTLEMENT_FAILED' ? 'Cannot judge' : 'Cannot start'}: ${messageOf(error)}`,
    )
  else if (error instanceof ReconcileError) console.error(`Cannot compare: ${messageOf(error)}`)
  else if (isStoreError(error)) console.error(`Cannot look up: ${messageOf(error)}${adviceFor(error)}`)
  // Never the error itself: drivers put what they were given into its properties.
  else console.error(messageOf(error))
}

const isToolError = (error: unknown): error is AuditError | ReconcileError =>
  error instanceof AuditError || error instanceof ReconcileError

/** By name: a config file may make its lookups with another copy of the package. */
const isStoreError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && error.name === 'StoreError'

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
main(process.argv.slice(2)).then(exit, fail)
