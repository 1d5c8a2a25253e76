/** What `bet-wallet init` writes where the project has postgres.js and no pg: it compiles and passes the kit. */
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root } from '../../docs/pages.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { runCommand } from '../../tools/command/running.js'
import { compile } from '../../tools/init/compile.js'
import { passKit } from '../../tools/init/operator.js'

const folder = join(root, 'test/.tmp/init/postgres-js')

test('init over postgres.js', { timeout: 600_000 }, async () => {
  const { url, pool, drop } = await freshDatabase()
  onTestFinished(drop)
  await pool.query(`CREATE SCHEMA pam; CREATE TABLE pam.accounts
    (account_no text PRIMARY KEY, currency char(3) NOT NULL, balance numeric(18,2) NOT NULL)`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'node_modules/bet-wallet'), { recursive: true })
  cpSync(join(root, 'package.json'), join(folder, 'node_modules/bet-wallet/package.json'))
  symlinkSync(join(root, 'dist'), join(folder, 'node_modules/bet-wallet/dist'), 'junction')
  symlinkSync(
    join(root, 'test/libraries/node_modules/postgres'),
    join(folder, 'node_modules/postgres'),
    'junction',
  )
  const manifest = { type: 'module', dependencies: { postgres: '3' } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const environment = { DATABASE_URL: url }
  const { code, error } = await runCommand(['init', '--may-bet', 'anyone'], { cwd: folder, environment })
  expect({ code, error }).toEqual({ code: 0, error: '' })
  expect(compile([folder])).toBe('')
  await passKit(folder, url, { name: '', ddl: [], options: [], expects: [], players: ['', ''], rows: '' })
})
