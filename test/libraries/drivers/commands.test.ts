/** The commands in a folder that has postgres.js and not pg, and below the project: a folder of tools of its own. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { root } from '../../docs/pages.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { runCommand } from '../../tools/command/running.js'

const project = mkdtempSync(join(tmpdir(), 'bet-wallet-postgres-js-'))
afterAll(() => rmSync(project, { recursive: true, force: true }))

test('init, migrate, grants, check and the lookups over postgres.js', async () => {
  const { url, pool, drop } = await freshDatabase()
  onTestFinished(drop)
  await pool.query(`CREATE SCHEMA pam;
    CREATE TABLE pam.accounts (account_no text PRIMARY KEY, currency char(3) NOT NULL, balance numeric(20,0) NOT NULL);
    INSERT INTO pam.accounts VALUES ('anna', 'EUR', 10000)`)
  const tools = join(project, 'tools')
  mkdirSync(join(tools, 'node_modules'), { recursive: true })
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
  symlinkSync(
    join(root, 'test/libraries/node_modules/postgres'),
    join(tools, 'node_modules/postgres'),
    'junction',
  )
  const run = async (...words: string[]) => {
    const ran = await runCommand(words, { cwd: tools, environment: { DATABASE_URL: url } })
    expect(ran.error).toBe('')
    return ran
  }
  const wrote = await run('init', '--minor-units', '2', '--may-bet', 'anyone', '--folder', '../')
  expect(wrote.out).toContain('EUR 10000 → 100.00 EUR, one of 1 account')
  expect(wrote.out).toContain('WRITTEN: ../store.ts, ../server.ts, ../kit.ts')
  const [, words = ''] = /npx bet-wallet (migrate .*?) {2}#/.exec(wrote.out) ?? []
  expect((await run(...words.split(' '))).out).toContain('MIGRATED')
  expect((await run('grants', 'wallet')).out).toContain('TO "wallet"')
  const checked = await run('check')
  expect(checked.out).toMatch(/lookup indexes +of a bet/)
  expect(checked.out).toContain('EUR 10000 → 100.00 EUR')
  expect(checked.code).toBe(0)
  expect((await run('player', 'anna')).out).toContain('100.00')
})
