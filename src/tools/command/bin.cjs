#!/usr/bin/env node
/**
 * What npm links as the command `bet-wallet`. The command itself is built. In a clone before its first build, npx would
 * link nothing, and npm 11 would keep that in its cache: this file is there from the start.
 */
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const command = join(__dirname, '../../../dist/command.cjs')
if (existsSync(command)) require(command)
else {
  console.error(
    'The command bet-wallet is not built yet. Run this in the clone, then try again:\n\n  npm ci && npm run build',
  )
  process.exitCode = 2
}
