/** `bet-wallet init` on PostgreSQL: what it writes for twelve PAMs is migrated, compiles, and passes kit and audit. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { compile } from './compile.js'
import { passAudit, passKit, prepareFolder, runInit, runProgram, sqlIn } from './operator.js'
import { pamsOn } from './pams.js'

const pams = pamsOn('postgres')
const folders: string[] = []

describe.each(pams)('$name', pam => {
  test('is mapped, migrated with rights of its own, and passes kit and audit', {
    timeout: 600_000,
  }, async () => {
    const { url, pool, drop } = await freshDatabase()
    onTestFinished(drop)
    await pool.query(`CREATE SCHEMA pam; ${pam.ddl.join('; ')}; ${pam.rows}`)
    const folder = prepareFolder('postgres', pam)
    await runInit(folder, pam, url)
    folders.push(folder)
    const statements = sqlIn(folder)
    if (statements.length === 0) expect(await runProgram(folder, 'migrate.ts', url)).toBe('ready\n')
    for (const text of statements) await pool.query(text)
    // Roles belong to the server, which other tests use.
    const suffix = `_${process.pid}_${folders.length}`
    const grants = readFileSync(join(folder, 'grants.sql'), 'utf8').replace(
      / TO "(\w+)";/g,
      ` TO "$1${suffix}";`,
    )
    const roles = [...new Set([...grants.matchAll(/ TO "(\w+)";/g)].map(([, role]) => role))]
    expect(roles).toHaveLength(3)
    for (const role of roles) await pool.query(`CREATE ROLE "${role}" LOGIN PASSWORD 'w'`)
    onTestFinished(async () => {
      for (const role of roles) await pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`)
    })
    await pool.query(grants)
    await passKit(folder, url, pam)
    await passAudit(folder, url.replace(/\/\/[^@]*@/, `//wallet${suffix}:w@`), pam, sql => pool.query(sql))
  })
})

test('all that was written compiles, strictly', { timeout: 300_000 }, () => {
  expect(folders).toHaveLength(pams.length)
  expect(compile(folders)).toBe('')
})
