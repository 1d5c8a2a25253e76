/** What the programs of drivers.md import: the files that it shows, and the client that Prisma generates. */
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../../docs/pages.js'
import { writeNamedBlocks } from './blocks.js'

const project = join(root, 'test/libraries/drivers')

export default async function setup(): Promise<void> {
  rmSync(join(project, '.blocks'), { recursive: true, force: true })
  writeNamedBlocks()
  const schema = readFileSync(join(project, 'schema.prisma'), 'utf8')
  const onMysql = schema
    .replace('postgresql', 'mysql')
    .replace('./.blocks/drivers/generated/prisma', './prisma-mysql')
  writeFileSync(join(project, '.blocks/mysql.prisma'), onMysql)
  await generate('schema.prisma')
  await generate('.blocks/mysql.prisma')
}

async function generate(schema: string): Promise<void> {
  const cli = '../node_modules/prisma/build/index.js'
  // The CLI would download the engine for migrations first, which it does not use to generate a client.
  await promisify(execFile)(process.execPath, [cli, 'generate', '--schema', schema], {
    cwd: project,
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  })
}
