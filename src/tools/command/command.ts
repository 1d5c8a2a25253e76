#!/usr/bin/env node
/** The command `bet-wallet`: the platform's side from a terminal, and lookups in the operator's database. */
import { createRequire } from 'node:module'
import { ReconcileError } from '../reconcile/errors.js'
import { AuditError } from '../wire/errors.js'
import { commandNames, loadCommand, overview } from './commands.js'
import { messageOf, overwriteLine } from './output.js'
import { UsageError } from './usage-error.js'

const [name, ...words] = process.argv.slice(2)

async function main(): Promise<number> {
  const command = await loadCommand(name)
  if (command !== null) return await command.run(words)
  if (name === '--version') {
    console.log(createRequire(import.meta.url)('bet-wallet/package.json').version)
    return 0
  }
  if (name === undefined || ['--help', '-h', 'help'].includes(name)) {
    console.log(await overview())
    return name === undefined ? 2 : 0
  }
  throw new UsageError(`Unknown command ${JSON.stringify(name)}: the commands are ${commandNames.join(', ')}`)
}

function printError(error: unknown): void {
  if (error instanceof UsageError)
    console.error(
      `${messageOf(error)}\n\nSee bet-wallet ${commandNames.includes(name ?? '') ? `${name} ` : ''}--help.`,
    )
  else if (error instanceof AuditError)
    console.error(
      `${error.code === 'SETTLEMENT_FAILED' ? 'Cannot judge' : 'Cannot start'}: ${messageOf(error)}`,
    )
  else if (error instanceof ReconcileError) console.error(`Cannot compare: ${messageOf(error)}`)
  // Never the error itself: drivers put what they were given into its properties.
  else console.error(messageOf(error))
}

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
main().then(exit, fail)
