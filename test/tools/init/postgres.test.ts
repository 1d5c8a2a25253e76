/** `bet-wallet init` on PostgreSQL: what it writes for thirteen PAMs is migrated, compiles, and passes kit and audit. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { compile } from './compile.js'
import { passAudit, passKit, prepareFolder, runInit } from './operator.js'
import { pamsOn } from './pams.js'

const pams = pamsOn('postgres')
const folders: string[] = []

describe.each(pams)('$name', pam => {
  test('is mapped, migrated with rights of its own, and passes kit and audit', async () => {
    const { url, pool, drop } = await freshDatabase()
    onTestFinished(drop)
    await pool.query(`CREATE SCHEMA pam; ${pam.ddl.join('; ')}; ${pam.rows}`)
    const folder = prepareFolder('postgres', pam)
    // Roles belong to the server, which other tests use.
    const role = `wallet_${process.pid}_${folders.length}`
    const grants = await runInit(folder, pam, { url, role, run: sql => pool.query(sql) })
    folders.push(folder)
    await pool.query(`CREATE ROLE "${role}" LOGIN PASSWORD 'w'`)
    onTestFinished(async () => {
      await pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`)
    })
    await pool.query(grants.join('\n'))
    await passKit(folder, url, pam)
    await passAudit(folder, url.replace(/\/\/[^@]*@/, `//${role}:w@`), pam, sql => pool.query(sql))
  })
})

test('all that was written compiles, strictly', () => {
  expect(folders).toHaveLength(pams.length)
  expect(compile(folders)).toBe('')
})
