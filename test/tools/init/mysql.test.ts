/** `bet-wallet init` on MariaDB or MySQL: what it writes for thirteen PAMs is migrated, compiles, and passes kit and audit. */
import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { MariadbServer } from '../../mariadb/server.js'
import { fastSettings, isMysql, noServer, startServer } from '../../mysql/engine.js'
import { compile } from './compile.js'
import { passAudit, passKit, prepareFolder, runInit } from './operator.js'
import { pamsOn } from './pams.js'

const pams = pamsOn('mysql')
const folders: string[] = []
const name = isMysql ? 'MySQL' : 'MariaDB'

describe.skipIf(noServer !== null)(noServer === null ? name : `${name} (skipped: ${noServer})`, () => {
  // A server of its own: the schemas have fixed names.
  let server: MariadbServer
  let pool: mysql.Pool
  beforeAll(async () => {
    server = await startServer({ settings: fastSettings })
    pool = mysql.createPool({ ...server.config, multipleStatements: true })
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  describe.each(pams)('$name', pam => {
    test('is mapped, migrated with rights of its own, and passes kit and audit', async () => {
      onTestFinished(async () => {
        await pool.query('DROP USER IF EXISTS wallet')
        for (const schema of ['pam', 'bet_wallet', 'bet_wallet_kit'])
          await pool.query(`DROP DATABASE IF EXISTS ${schema}`)
      })
      const { host, port, user, password } = server.config
      const urlOf = (role: string, secret: string) => `mysql://${role}:${secret}@${host}:${port}/pam`
      await pool.query(
        `CREATE DATABASE pam CHARACTER SET utf8mb4; USE pam; ${pam.ddl.join('; ')}; ${pam.rows}`,
      )
      const folder = prepareFolder('mysql', pam)
      const grants = await runInit(folder, pam, {
        ...{ url: urlOf(user, password), role: 'wallet', run: sql => pool.query(sql) },
      })
      folders.push(folder)
      await pool.query(`CREATE USER wallet IDENTIFIED BY 'w'; ${grants.join('\n')}`)
      await passKit(folder, urlOf(user, password), pam)
      await passAudit(folder, urlOf('wallet', 'w'), pam, sql => pool.query(sql))
    })
  })

  test('all that was written compiles, strictly', () => {
    expect(folders).toHaveLength(pams.length)
    expect(compile(folders)).toBe('')
  })
})
