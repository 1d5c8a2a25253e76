#!/usr/bin/env node
/** The command `bet-wallet`: `audit` and `simulate`, the platform's side from a terminal. */
import { AuditError } from '../audit/errors.js'
import { UsageError } from './arguments.js'
import { audit } from './audit.js'
import { commandHelp } from './help.js'
import { overwriteLine } from './output.js'
import { simulate } from './simulate.js'

/** @returns the exit code */
async function main(words: readonly string[]): Promise<number> {
  const [command, ...rest] = words
  if (command === 'audit') return await audit(rest)
  if (command === 'simulate') return await simulate(rest)
  if (command === undefined || ['--help', '-h', 'help'].includes(command)) {
    console.log(commandHelp)
    return command === undefined ? 2 : 0
  }
  throw new UsageError(`Unknown command ${JSON.stringify(command)}: the commands are audit and simulate`)
}

function printError(error: unknown): void {
  if (error instanceof UsageError || (error instanceof AuditError && error.code === 'INVALID_OPTIONS'))
    console.error(`${error.message}\n\nSee bet-wallet --help.`)
  else if (error instanceof AuditError)
    console.error(`${error.code === 'SETTLEMENT_FAILED' ? 'Cannot judge' : 'Cannot start'}: ${error.message}`)
  else console.error(error)
}

main(process.argv.slice(2)).then(
  code => {
    process.exitCode = code
  },
  (error: unknown) => {
    if (process.stderr.isTTY) overwriteLine('')
    process.exitCode = 2
    printError(error)
  },
)
