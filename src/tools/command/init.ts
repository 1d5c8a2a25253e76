/** `bet-wallet init`: writes store, server and kit for the operator's schema. */
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { existing, projectFiles, writeFiles } from '../init/files.js'
import { type Mapping, moreGrants, playersWords, viewStatement } from '../init/mapping.js'
import { type Answers, type Proposal, propose, type Question, type Reason } from '../init/propose.js'
import { type DatabaseSchema, readSchema } from '../init/schema.js'
import { shellWord } from '../wire/curl.js'
import { withDatabase } from './database.js'
import { databaseUrlOf, urlOption } from './database-url.js'
import { option, otherwise, several, text } from './option.js'
import { forTerminal } from './output.js'
import { command } from './subcommand.js'
import { UsageError } from './usage-error.js'

/** Who answers questions. */
export interface Terminal {
  /** `null`: there is no terminal. */
  ask: ((question: string) => Promise<string>) | null
  print(line: string): void
}

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
    'decimals of an integer balance: 2 for cents; by currency: EUR=2,JPY=0; none: a text, or a numeric' +
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
  about: `Reads the catalog of your database (no rows), proposes which table, id, currency, balance and unit
the wallet uses, each with its reason, and asks who may bet. It writes the files of
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
    const project = projectIn(cwd)
    const url = databaseUrlOf(databaseUrl)
    const schema = await withDatabase(url, readSchema)
    return await withTerminal(async terminal => {
      const proposal = await decide(schema, answers, terminal)
      if (proposal === null) return 2
      printReasons(proposal.reasons, terminal)
      for (const note of proposal.notes) terminal.print(`Note: ${note}`)
      const needsUrl = url !== process.env.DATABASE_URL
      return await write({ cwd, folder, project, mapping: proposal.mapping, needsUrl }, terminal)
    })
  },
})

interface Project {
  /** `false`: CommonJS. */
  isModule: boolean
  has(dependency: string): boolean
}

function projectIn(cwd: string): Project {
  const file = join(cwd, 'package.json')
  if (!existsSync(file))
    throw new UsageError(`There is no package.json in ${cwd}: npm init -y && npm pkg set type=module`)
  try {
    const { type, dependencies, devDependencies } = JSON.parse(readFileSync(file, 'utf8'))
    const names = Object.keys({ ...dependencies, ...devDependencies })
    return { isModule: type === 'module', has: name => names.includes(name) }
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

function folderOf(path: string): string {
  const folder = relative('.', path).replaceAll('\\', '/')
  if (folder.startsWith('..')) throw new UsageError('--folder must be below the current folder')
  return folder === '' ? '.' : folder
}

async function withTerminal<T>(work: (terminal: Terminal) => Promise<T>): Promise<T> {
  const print = (line: string) => console.log(forTerminal(line))
  if (!process.stdin.isTTY || !process.stdout.isTTY) return await work({ ask: null, print })
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  // Ctrl+D closes the input: a question would never get an answer.
  const closed = new Promise<never>((_, reject) =>
    lines.once('close', () => reject(new UsageError('No answer: nothing was written'))),
  )
  closed.catch(() => {})
  try {
    return await work({ ask: question => Promise.race([lines.question(question), closed]), print })
  } finally {
    lines.close()
  }
}

type Ready = Extract<Proposal, { status: 'ready' }>

/**
 * Asks until nothing is unclear.
 *
 * @returns `null`: it is unclear, and there is no terminal; the questions are printed
 * @throws {UsageError} for options that cannot be, and for a schema without a players' table
 */
export async function decide(
  schema: DatabaseSchema,
  given: Answers,
  terminal: Terminal,
): Promise<Ready | null> {
  const answers = { ...given }
  let last: keyof Answers | null = null
  const known = new Set<string>()
  for (;;) {
    const proposal = propose(schema, answers)
    if (proposal.status === 'ready') return proposal
    if (proposal.status === 'impossible') {
      if (last === null) throw new UsageError(proposal.problem)
      terminal.print(proposal.problem)
      delete answers[last]
      last = null
      continue
    }
    // What is known already, once.
    printReasons(
      proposal.reasons.filter(({ part, value }) => !known.has(`${part} ${value}`)),
      terminal,
    )
    for (const { part, value } of proposal.reasons) known.add(`${part} ${value}`)
    const answer = await answerTo(proposal.questions, terminal)
    if (answer === null) return null
    ;[last] = answer
    answers[answer[0]] = answer[1]
  }
}

/** The answer to the first question; without a terminal the missing options are printed. */
async function answerTo(
  questions: readonly Question[],
  { ask, print }: Terminal,
): Promise<[keyof Answers, string] | null> {
  for (const { option, text, choices, free } of ask === null ? questions : questions.slice(0, 1)) {
    print(ask === null ? `${text} State it: --${option}` : text)
    const width = Math.max(...choices.map(({ value }) => value.length))
    for (const [index, { value, reason }] of choices.entries()) {
      // Not numbered where a number may be the answer.
      const mark = ask === null ? `--${option}` : free ? '-' : index + 1
      print(`  ${mark} ${value.padEnd(width)}  ${reason}`)
    }
  }
  const [question] = questions
  if (ask === null || question === undefined) return null
  const { option, choices, free } = question
  for (;;) {
    const line = (await ask(free ? 'Answer: ' : 'Number or name: ')).trim()
    if (free ? line !== '' : choices.some(({ value }) => value === line)) return [option, line]
    const choice = !free && /^[0-9]+$/.test(line) ? choices[Number(line) - 1] : undefined
    if (choice !== undefined) return [option, choice.value]
  }
}

function printReasons(reasons: readonly Reason[], { print }: Terminal): void {
  const width = Math.max(...reasons.map(({ value }) => value.length))
  for (const { part, value, reason } of reasons) print(`${part.padEnd(9)}  ${value.padEnd(width)}  ${reason}`)
}

interface Writing {
  cwd: string
  folder: string
  project: Project
  mapping: Mapping
  /** Whether the URL is not in DATABASE_URL, which the programs read. */
  needsUrl: boolean
}

async function write(writing: Writing, terminal: Terminal): Promise<number> {
  const { cwd, folder, project, mapping } = writing
  const files = projectFiles(mapping, project.isModule, folder)
  const paths = files.map(({ path }) => path)
  const there = existing(cwd, paths)
  if (there.length > 0)
    throw new UsageError(
      `${there.join(', ')} ${there.length === 1 ? 'exists' : 'exist'}, and nothing is overwritten: no file was written. --folder names another folder`,
    )
  if (terminal.ask !== null) {
    const answer = await terminal.ask(`Write ${paths.join(', ')}? (Y/n) `)
    if (!/^(?:y(?:es)?)?$/i.test(answer.trim())) {
      terminal.print('Nothing was written.')
      return 2
    }
  }
  writeFiles(cwd, files)
  for (const path of paths) terminal.print(`Written: ${path}`)
  for (const line of nextSteps(writing)) terminal.print(line)
  return 0
}

function nextSteps({ project, folder, mapping, needsUrl }: Writing): string[] {
  const missing = ['fast-check', 'tsx'].filter(name => !project.has(name))
  const at = (name: string) => `npx tsx ${folder === '.' ? name : `${folder}/${name}`}`
  const table = playersWords(mapping).map(shellWord).join(' ')
  const view = viewStatement(mapping)
  const steps = [
    needsUrl && 'export DATABASE_URL=…  # the URL of this database: the programs read it',
    missing.length > 0 && `npm install --save-dev ${missing.join(' ')}`,
    view !== null && `${view};  # SQL: the wallet reads your table by this view`,
    `npx bet-wallet migrate ${table} --lookup-indexes  # creates the library's tables; with --print, SQL for your migration tool`,
    `${at('kit.ts')}  # fills the schema bet_wallet_kit, and drops it: on a copy of your database`,
    `${at('server.ts')}  # serves the calls; the password is in BET_WALLET_PASSWORD. For the audit: AUDIT=1`,
    'npx bet-wallet audit http://127.0.0.1:3000/wallet --player … --other-player … --currency … --user platform --settle-url /settlement  # tests the running server with two of your players, who have funds',
    'npx bet-wallet grants wallet  # prints the rights of the role wallet; for other roles --for lookups, --for settlements',
    ...moreGrants(mapping, 'wallet').map(statement => `${statement}  # SQL: and these`),
    "npx bet-wallet check  # tests the database, as the wallet's user",
  ]
  const shown = steps.filter(step => step !== false)
  return ['', 'Next (docs/first-hour.md):', ...shown.map(step => `  ${step}`)]
}
