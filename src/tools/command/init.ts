/** `bet-wallet init`: writes store, server and kit for the operator's schema. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { projectFiles, writeFiles } from '../init/files.js'
import { accountsQuery, playersOf } from '../init/mapping.js'
import { projectReport, proposalReport, within } from '../init/printed.js'
import { type Answers, type Proposal, propose } from '../init/propose.js'
import type { DatabaseSchema } from '../init/schema.js'
import { plain } from '../report/text.js'
import type { Database } from './database.js'
import { databaseUrlOf, urlOption, withDatabase } from './database-url.js'
import { option, otherwise, several, text } from './option.js'
import { printReport, wordsOf } from './output.js'
import { command } from './subcommand.js'
import { UsageError } from './usage-error.js'

type Ready = Extract<Proposal, { status: 'ready' }>

/** Asks the person at the terminal; `null`: there is none. */
export type Ask = ((question: string) => Promise<string>) | null

/** By the names of the questions. */
const answerOptions = {
  players: text('--players <table>', 'with its schema, as the catalog spells it: pam.accounts'),
  id: text('--id <column>', 'the playerId that the platform sends'),
  balance: text('--balance <column>', 'the balance that a bet may use'),
  currency: text(
    '--currency <text>',
    'a column; or a code such as EUR, of all players: then the wallet reads your table by a view: the' +
      ' statement is printed',
  ),
  'minor-units': text(
    '--minor-units <number>',
    'decimals of an integer balance, or of a numeric(p,0): 2 for cents; by currency: EUR=2,JPY=0; none: a text, or a numeric' +
      ' without a scale, is in whole units',
  ),
  'may-bet': several(
    '--may-bet <column=values>',
    'refuses the bets of all other players: state=active,trial; is_blocked=false; closed_at=null. Several' +
      ' columns must all agree. anyone: closed and excluded players can bet',
    rules => rules.join(';'),
  ),
}

export const init = command({
  usage: 'init',
  summary: "reads your schema, proposes the mapping of your players' table, and writes store, server and kit",
  about: `Reads the catalog of your database, proposes which table, id, currency, balance and unit the wallet
uses, each with its reason, shows the greatest balance of each currency, and asks who may bet. It writes the files of
docs/first-hour.md into the current folder, and prints the next commands. Without a terminal it
names each option that is missing. It changes nothing in the database, and overwrites no file.`,
  exitCodes: 'The exit code is 0, or 2 if nothing was written.',
  options: {
    databaseUrl: urlOption,
    ...answerOptions,
    folder: otherwise('.', option('--folder <path>', 'where store.ts and the others are written', folderOf)),
  },
  async work({ databaseUrl, folder, ...answers }) {
    const cwd = process.cwd()
    const { kind, packages, additionsOf } = manifestIn(join(cwd, folder))
    const url = databaseUrlOf(databaseUrl)
    return await withTerminal(async ask => {
      const proposal = await withDatabase(url, async database =>
        decide(await database.schema(), answers, ask, database.balances),
      )
      if (proposal === null) return 2
      const files = projectFiles(proposal.mapping, kind, folder)
      const paths = files.map(({ path }) => path)
      checkNew(cwd, paths)
      const answer = (await ask?.(`Write ${paths.join(', ')}? (Y/n) `)) ?? 'y'
      if (!/^(?:y(?:es)?)?$/i.test(answer.trim())) throw new UsageError('Nothing was written')
      writeFiles(cwd, files)
      const needsUrl = url !== process.env.DATABASE_URL
      const additions = additionsOf(proposal.mapping.engine)
      printReport(projectReport({ ...proposal, folder, packages, paths, additions, needsUrl }))
      return 0
    })
  },
})

/** The folder and those above it. */
const upwards = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...upwards(dirname(folder))]

/** By the lock file, also that of a workspace above. */
const adds = { 'pnpm-lock.yaml': 'pnpm add', 'yarn.lock': 'yarn add', 'package-lock.json': 'npm install' }

/** What the programs need beside bet-wallet, and npm does not install with it. */
const drivers = { postgres: ['pg', '@types/pg'], mysql: ['mysql2'] }
const programs = ['fast-check', 'tsx']

/**
 * What the package.json of the project says, the next one above the files. `packages` is its folder.
 * `additionsOf` are the commands that add the packages that it lacks.
 */
function manifestIn(folder: string) {
  const folders = upwards(folder)
  const file = folders.map(each => join(each, 'package.json')).find(each => existsSync(each))
  if (file === undefined)
    throw new UsageError(`There is no package.json in ${folder}: npm init -y && npm pkg set type=module`)
  const [add = adds['package-lock.json']] = folders.flatMap(each =>
    Object.entries(adds).flatMap(([lock, words]) => (existsSync(join(each, lock)) ? [words] : [])),
  )
  try {
    const { type, dependencies, devDependencies } = JSON.parse(readFileSync(file, 'utf8'))
    const known = Object.keys({ ...dependencies, ...devDependencies })
    const packages = folderOf(dirname(file))
    const adding = (command: string, names: readonly string[]) => {
      const missing = names.filter(name => !known.includes(name))
      return missing.length === 0 ? [] : [within(packages, [command, ...missing].join(' '))]
    }
    const hasPostgresJs = known.includes('postgres') && !known.includes('pg')
    const own = known.includes('bet-wallet')
      ? []
      : [`${within(packages, `${add} …`)}  # bet-wallet, as you have installed it here`]
    return {
      kind: { isModule: type === 'module', hasPostgresJs },
      packages,
      additionsOf: (engine: keyof typeof drivers) => [
        ...own,
        ...adding(add, engine === 'postgres' && hasPostgresJs ? [] : drivers[engine]),
        ...adding(`${add} ${add.startsWith('yarn') ? '--dev' : '--save-dev'}`, programs),
      ],
    }
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

function folderOf(path: string): string {
  const folder = relative('.', path).replaceAll('\\', '/')
  return folder === '' ? '.' : folder
}

function checkNew(cwd: string, paths: readonly string[]): void {
  const there = paths.filter(path => existsSync(join(cwd, path)))
  if (there.length > 0)
    throw new UsageError(
      `${there.join(', ')} ${there.length === 1 ? 'exists' : 'exist'}, and nothing is overwritten: no file was written. --folder names another folder`,
    )
}

async function withTerminal<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return await work(null)
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  // Ctrl+D closes the input: a question would never get an answer.
  const closed = new Promise<never>((_, reject) =>
    lines.once('close', () => reject(new UsageError('No answer: nothing was written'))),
  )
  closed.catch(() => {})
  try {
    return await work(question => Promise.race([lines.question(question), closed]))
  } finally {
    lines.close()
  }
}

/** With each unit that is asked for. */
async function balancesOf(
  proposal: Exclude<Proposal, { status: 'impossible' }>,
  read: Database['balances'],
): Promise<{ shown: string[]; codes: string[] }> {
  try {
    if (proposal.status === 'ready') {
      const found = await read(accountsQuery(proposal.mapping), playersOf(proposal.mapping))
      return { shown: [...found.lines, ...found.warnings], codes: found.codes }
    }
    const shown: string[] = []
    for (const minorUnits of proposal.accounts === null ? [] : [2, 0]) {
      const found = await read(proposal.accounts ?? '', {
        ...anyTable,
        balanceType: 'minor-units',
        minorUnits,
      })
      shown.push(...found.lines.map(line => `--minor-units ${minorUnits}: ${line}`))
    }
    return { shown, codes: [] }
  } catch (error) {
    return { shown: [`could not be read: ${wordsOf(error)}`], codes: [] }
  }
}

/** Which columns the accounts are of, their query says. */
const anyTable = { table: 'pam.a', id: 'a', idType: 'bigint', currency: 'a', balance: 'a' } as const

/**
 * Prints the proposal, and asks for what is unclear until nothing is.
 *
 * @returns `null`: it is unclear, and there is no terminal
 * @throws {UsageError} for options that cannot be, and for a schema without a players' table
 */
export async function decide(
  schema: DatabaseSchema,
  given: Answers,
  ask: Ask,
  read: Database['balances'],
): Promise<Ready | null> {
  const answers = { ...given }
  let asked: keyof Answers | undefined
  for (;;) {
    const proposal = propose(schema, answers)
    if (proposal.status !== 'impossible') {
      const { shown, codes } = await balancesOf(proposal, read)
      printReport(proposalReport(proposal, shown))
      if (proposal.status === 'ready') {
        const { mapping } = proposal
        return { ...proposal, mapping: { ...mapping, codes: [...mapping.codes, ...codes] } }
      }
      asked = proposal.questions[0]?.option
    } else if (asked === undefined) throw new UsageError(proposal.problem)
    else console.log(plain(proposal.problem))
    if (ask === null || asked === undefined) return null
    answers[asked] = (await ask(`--${asked}: `)).trim()
  }
}
