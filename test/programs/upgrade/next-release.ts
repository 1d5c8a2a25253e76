/**
 * The next release: a copy of this repository's source with a new version of the schema, built. It has one more column of
 * the recorded transactions, which it writes, and records acceptances with a reason that this release does not know.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bin, root } from '../../package/project.js'

/** What it records with every acceptance. */
export const nextReason = 'ACCEPTED_BY_NEXT'

const version = { 'schemaVersion = 1': 'schemaVersion = 2' }

/** MySQL has no ADD COLUMN IF NOT EXISTS. The comment of a table has the version. */
const mysqlMigration = `proofsTable(schema),
    sql\`
      SET @next = IF(
        EXISTS (
          SELECT 1 FROM information_schema.COLUMNS
          WHERE TABLE_SCHEMA = \${literal(tables.schemaName)} AND TABLE_NAME = 'wallet_transactions'
            AND COLUMN_NAME = 'decided_by'
        ),
        'DO 0',
        \${literal(\`ALTER TABLE \${schema}.wallet_transactions ADD COLUMN decided_by varchar(16)\`)}
      )\`,
    'PREPARE next_release FROM @next',
    'EXECUTE next_release',
    'DEALLOCATE PREPARE next_release',
    ...['wallet_bets', 'wallet_transactions', 'wallet_proofs'].map(
      name => \`ALTER TABLE \${schema}.\${name} COMMENT 'bet-wallet \${schemaVersion}'\`,
    ),`

/** By file: what is replaced, and by what. */
const changes: Record<string, Record<string, string>> = {
  'src/store.ts': {
    "RecordedReason =\n  | 'ACCEPTED'": `RecordedReason =\n  | 'ACCEPTED'\n  | '${nextReason}'`,
  },
  'src/decide/decision.ts': { "reason = 'ACCEPTED'": `reason = '${nextReason}'` },
  'src/lookups/rules.ts': {
    '  ACCEPTED: call =>': `  ${nextReason}: call => accepted[call.operation](call),\n  ACCEPTED: call =>`,
  },
  'src/stores/postgres/sql/version.ts': version,
  'src/stores/postgres/sql/schema.ts': {
    '    transactionsTable(schema),\n':
      // biome-ignore lint/suspicious/noTemplateCurlyInString: source code to insert
      '    transactionsTable(schema),\n    `ALTER TABLE ${schema}.transactions ADD COLUMN IF NOT EXISTS decided_by text`,\n',
  },
  'src/stores/postgres/sql/fragments.ts': {
    ' description, reason,\n  transaction_date,': ' description, reason, decided_by,\n  transaction_date,',
    'item.description, item.reason,': "item.description, item.reason, 'next',",
  },
  'src/stores/mysql/sql/version.ts': version,
  'src/stores/mysql/sql/schema.ts': { 'proofsTable(schema),': mysqlMigration },
  'src/stores/mysql/sql/fragments.ts': {
    "'balance_after', 'recorded_at'])": "'balance_after', 'recorded_at', 'decided_by'])",
    "balanceAfter, 'recorded_time'])": "balanceAfter, 'recorded_time', \"'next'\"])",
  },
  // The types are those of this release.
  'tsup.config.ts': {
    '    dts: { entry: { ...library, testing: servers.testing } },\n': '',
    '    dts: { entry: { ...library, ...servers } },\n': '',
    '    dts: { entry: tools },\n': '',
  },
}

/** @returns the folder, with `dist`, and what removes it */
export function buildNextRelease(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-next-'))
  for (const name of ['src', 'package.json', 'tsup.config.ts', 'tsconfig.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(bin(''), join(folder, 'node_modules'), 'junction')
  for (const [name, replaced] of Object.entries(changes)) {
    const file = join(folder, name)
    const text = Object.entries(replaced).reduce(
      (before, [old, by]) => {
        if (before.split(old).length !== 2) throw new Error(`${name} has not exactly once: ${old}`)
        return before.replace(old, () => by)
      },
      readFileSync(file, 'utf8'),
    )
    writeFileSync(file, text)
  }
  execFileSync(process.execPath, [bin('tsup/dist/cli-default.js'), '--silent'], {
    cwd: folder,
    stdio: 'pipe',
  })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
