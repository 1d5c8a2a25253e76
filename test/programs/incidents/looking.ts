/** Looks where the runbook says, by the real commands and statements. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import mysql from 'mysql2/promise'
import pg from 'pg'
import type { Incident } from './incident.js'
import { type LookAt, placeholder, printed, statementsOf } from './page.js'
import type { Scene } from './scene.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
export const commandFile = join(root, 'dist/command.cjs')

/** What the command prints, on both streams. Run in the repository, where the drivers are installed. */
export type RunCommand = (words: readonly string[], scene: Scene) => Promise<string>

/** The built command, as `npx bet-wallet` runs it. */
export function runBuiltCommand(words: readonly string[], { database, commandUrl }: Scene): Promise<string> {
  const schema = database.schema === 'bet_wallet' ? [] : ['--schema', database.schema]
  const child = spawn(process.execPath, [commandFile, ...words, ...schema], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', BET_WALLET_DATABASE_URL: commandUrl ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve(text))
  })
}

/** Each look once: rows of one symptom share them. */
export async function outputOf(
  looks: readonly LookAt[],
  incident: Incident,
  scene: Scene,
  run: RunCommand,
): Promise<string> {
  const parts: string[] = []
  for (const look of looks) {
    if (look.kind === 'log') parts.push(scene.log.join('\n'))
    else if (look.kind === 'command') parts.push(await run(wordsFor(look.words, incident, scene), scene))
    else parts.push(await outputOfStatements(look.heading, scene))
  }
  return parts.join('\n')
}

/** The words of the page with the values of the alarm. */
function wordsFor(words: readonly string[], { ids }: Incident, { range, folder }: Scene): string[] {
  const values: Record<string, string | undefined> = {
    ...{ 'b-123': ids.bet, 't-1': ids.transaction, anna: ids.player },
    ...{ '2026-11-22T13:00:00Z': range.from, '2026-11-22T14:30:00Z': range.to },
    ...{ '2026-11-21': range.from, '2026-11-22': range.to, 'platform.csv': join(folder, 'platform.csv') },
  }
  return words.map(word => {
    if (!(word in values)) return word
    const value = values[word]
    if (value === undefined) throw new Error(`The alarm names nothing for ${word}`)
    return value
  })
}

async function outputOfStatements(heading: string, scene: Scene): Promise<string> {
  const { database } = scene
  const statements = statementsOf(heading, database.name).filter(text => !placeholder.test(text))
  const ask = await session(scene)
  try {
    const parts: string[] = []
    for (const statement of statements)
      parts.push(printed(await ask.run(statement.replaceAll('bet_wallet.', `${database.schema}.`))))
    return parts.join('\n\n')
  } finally {
    await ask.end()
  }
}

/** A session of its own, as psql or mariadb open it. */
async function session({ database, commandUrl }: Scene) {
  if (commandUrl === null) return { run: database.run, end: async () => {} }
  if (database.name === 'MySQL or MariaDB') {
    const connection = await mysql.createConnection({ uri: commandUrl })
    return {
      run: async (text: string) => (await connection.query(text))[0] as object[],
      end: () => connection.end(),
    }
  }
  const client = new pg.Client({ connectionString: commandUrl })
  await client.connect()
  return { run: async (text: string) => (await client.query(text)).rows as object[], end: () => client.end() }
}
