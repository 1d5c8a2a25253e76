/** What `bet-wallet init` writes for frameworks that the repository has not installed: it compiles, and passes the audit. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root } from '../../docs/pages.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { compile } from '../../tools/init/compile.js'
import { passAudit, prepareFolder, runInit, runProgram } from '../../tools/init/operator.js'
import type { Pam } from '../../tools/init/pams.js'

const nest = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs']

const stacks: readonly { name: string; packages: readonly string[]; isCommonJs?: boolean }[] = [
  { name: 'NestJS on Express', packages: [...nest, '@nestjs/platform-express'] },
  { name: 'NestJS on Fastify', packages: [...nest, '@nestjs/platform-fastify'] },
  { name: 'NestJS in CommonJS', packages: [...nest, '@nestjs/platform-express'], isCommonJs: true },
  { name: 'Fastify', packages: ['fastify'] },
  { name: 'Hono', packages: ['hono', '@hono/node-server'] },
]

const appModule = `import { Module } from '@nestjs/common'
export class AppModule {}
Module({})(AppModule)
`

test.each(stacks)('$name', { timeout: 300_000 }, async ({ name, packages, isCommonJs = false }) => {
  const { url, pool, drop } = await freshDatabase()
  onTestFinished(drop)
  await pool.query(`CREATE SCHEMA pam;
    CREATE TABLE pam.accounts (account_no text PRIMARY KEY, currency text NOT NULL, balance numeric(18,2) NOT NULL);
    INSERT INTO pam.accounts VALUES ('anna', 'EUR', 100), ('ben', 'EUR', 100)`)
  const pam: Pam = {
    ...{ name: `stack ${name}`, ddl: [], rows: '', options: [], players: ['anna', 'ben'], isCommonJs },
    ...{ dependencies: packages, expects: [/table: 'pam.accounts'/] },
  }
  const folder = prepareFolder('postgres', pam)
  for (const each of packages) {
    const link = join(folder, 'node_modules', each)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'test/libraries/node_modules', each), link, 'junction')
  }
  if (name.startsWith('NestJS')) {
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src/app.module.ts'), appModule)
  }
  await runInit(folder, pam, url)
  await runProgram(folder, 'migrate.ts', url)
  expect(compile([folder])).toBe('')
  await passAudit(folder, url, pam)
})
