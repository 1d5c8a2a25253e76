/** The client that `prisma generate` makes, where docs/drivers.md imports it from. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../docs/pages.js'

/** Without the engine for migrations, which the CLI would download first: it is not used to generate. */
export async function generatePrismaClient(): Promise<void> {
  await promisify(execFile)(process.execPath, ['node_modules/prisma/build/index.js', 'generate'], {
    cwd: join(root, 'test/drivers'),
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  })
}
