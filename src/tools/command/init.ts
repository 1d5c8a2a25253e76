/** `bet-wallet init`: writes store, migration, server, kit and rights for the operator's schema. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { ParseArgsConfig } from 'node:util'
import { existing, writeFiles } from '../init/files.js'
import { type Mapping, playersOf } from '../init/mapping.js'
import { toolFor } from '../init/migration-files.js'
import {
  type Framework,
  frameworks,
  type MigrationTool,
  migrationTools,
  type Project,
  projectOf,
} from '../init/project.js'
import { type Answers, type Proposal, propose, type Question, type Reason } from '../init/propose.js'
import { grantsHead, moreGrants } from '../init/rights.js'
import { type DatabaseSchema, readSchema } from '../init/schema.js'
import { projectFiles } from '../init/write-project.js'
import { noArguments, parseWords, UsageError } from './arguments.js'
import { withDatabase } from './database.js'
import { databaseUrlOf } from './database-url.js'
import { grantsFor, grantsOfHook } from './grants.js'
import { initHelp } from './help.js'
import { forTerminal } from './output.js'

const answerNames = ['players', 'id', 'balance', 'currency', 'minor-units', 'may-bet'] as const

const initArguments = {
  'database-url': { type: 'string' },
  players: { type: 'string' },
  id: { type: 'string' },
  balance: { type: 'string' },
  currency: { type: 'string' },
  'minor-units': { type: 'string' },
  'may-bet': { type: 'string', multiple: true },
  framework: { type: 'string' },
  migrations: { type: 'string' },
  folder: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options']

type Values = ReturnType<typeof parseWords<typeof initArguments>>['values']

/** Who answers questions. */
export interface Terminal {
  /** `null`: there is no terminal. */
  ask: ((question: string) => Promise<string>) | null
  print(line: string): void
}

export async function init(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, initArguments)
  if (values.help) {
    console.log(initHelp)
    return 0
  }
  noArguments('init', positionals)
  const cwd = process.cwd()
  const project = projectIn(cwd)
  const folder = folderOf(values.folder ?? '.')
  const url = databaseUrlOf(values)
  const schema = await withDatabase(url, readSchema)
  return await withTerminal(async terminal => {
    const proposal = await decide(schema, answersOf(values), terminal)
    if (proposal === null) return 2
    const choices = await chosen(proposal.mapping, project, values, terminal)
    if (choices === null) return 2
    printProposal(proposal, terminal)
    const needsUrl = url !== process.env.DATABASE_URL
    return write({ cwd, folder, project, mapping: proposal.mapping, needsUrl, ...choices }, terminal)
  })
}

function projectIn(cwd: string): Project {
  const file = join(cwd, 'package.json')
  if (!existsSync(file))
    throw new UsageError(`There is no package.json in ${cwd}: npm init -y && npm pkg set type=module`)
  try {
    return projectOf(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

function folderOf(path: string): string {
  const folder = relative('.', path).replaceAll('\\', '/')
  if (folder.startsWith('..')) throw new UsageError('--folder must be below the current folder')
  return folder === '' ? '.' : folder
}

function refuseExisting(files: readonly string[]): void {
  if (files.length > 0)
    throw new UsageError(
      `${files.join(', ')} ${files.length === 1 ? 'exists' : 'exist'}, and nothing is overwritten: no file was written. --folder names another folder`,
    )
}

const answersOf = (values: Values): Answers =>
  Object.fromEntries(
    answerNames.flatMap(name => {
      const value = values[name]
      return value === undefined ? [] : [[name, typeof value === 'string' ? value : value.join(';')]]
    }),
  )

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
async function answerTo<Name extends string>(
  questions: readonly (Omit<Question, 'option'> & { option: Name })[],
  { ask, print }: Terminal,
): Promise<[Name, string] | null> {
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

interface Chosen {
  framework: Framework
  tool: MigrationTool
}

/** Taken from the options, package.json, or an answer; `null`: it is unclear, and there is no terminal. */
async function chosen(
  mapping: Mapping,
  project: Project,
  values: Values,
  terminal: Terminal,
): Promise<Chosen | null> {
  const one = async <Name extends string>(
    option: string,
    text: string,
    named: readonly Name[],
    all: readonly Name[],
    value: string | undefined,
    otherwise: Name,
  ): Promise<Name | null> => {
    const found = all.find(each => each === value)
    if (value !== undefined && found === undefined)
      throw new UsageError(`--${option} must be one of ${all.join(', ')}, not ${JSON.stringify(value)}`)
    if (found !== undefined) return found
    if (named.length < 2) return named[0] ?? otherwise
    const choices = named.map(each => ({ value: each, reason: 'in package.json' }))
    const answer = await answerTo([{ option, text, choices, free: false }], terminal)
    return all.find(each => each === answer?.[1]) ?? null
  }
  const framework = await one(
    'framework',
    'Which framework serves the calls?',
    project.frameworks,
    frameworks,
    values.framework,
    'node',
  )
  if (framework === null) return null
  const tools = [...new Set(project.tools.map(tool => toolFor(mapping, tool)))]
  const tool = await one(
    'migrations',
    'Which migration tool creates the tables?',
    tools,
    migrationTools,
    values.migrations,
    'none',
  )
  if (tool === null) return null
  if (tool !== toolFor(mapping, tool))
    throw new UsageError(
      `--migrations must be flyway, typeorm or none on MySQL and MariaDB: in a migration of ${tool} call migrateMysql`,
    )
  return { framework, tool }
}

function printReasons(reasons: readonly Reason[], { print }: Terminal): void {
  const width = Math.max(...reasons.map(({ value }) => value.length))
  for (const { part, value, reason } of reasons) print(`${part.padEnd(9)}  ${value.padEnd(width)}  ${reason}`)
}

function printProposal({ reasons, notes }: Ready, terminal: Terminal): void {
  printReasons(reasons, terminal)
  for (const note of notes) terminal.print(`Note: ${note}`)
}

interface Writing extends Chosen {
  cwd: string
  folder: string
  project: Project
  mapping: Mapping
  /** Whether the URL is not in DATABASE_URL, which the programs read. */
  needsUrl: boolean
}

async function write(
  { cwd, folder, project, mapping, needsUrl, framework, tool }: Writing,
  terminal: Terminal,
): Promise<number> {
  const { isModule } = project
  const migrations = migrationsFolder(cwd, tool)
  const present = existsSync(join(cwd, migrations)) ? readdirSync(join(cwd, migrations)) : []
  const toStore = relative(migrations, join(folder, 'store')).replaceAll('\\', '/')
  const store = toStore.startsWith('.') ? toStore : `./${toStore}`
  const place = { folder: migrations, present, now: new Date(), isModule, store }
  const appModule = ['src/app.module', 'app.module'].find(path => existsSync(join(cwd, `${path}.ts`)))
  const nest = {
    appModule: appModule === undefined ? null : relative(folder, appModule).replaceAll('\\', '/'),
    onFastify: project.has('@nestjs/platform-fastify'),
  }
  const { files, run } = projectFiles(mapping, {
    framework,
    tool,
    folder,
    place,
    nest,
    grants: grantsText(mapping),
  })
  const paths = files.map(({ path }) => path)
  refuseExisting(existing(cwd, paths))
  if (terminal.ask !== null) {
    const answer = await terminal.ask(`Write ${paths.join(', ')}? (Y/n) `)
    if (!/^(?:y(?:es)?)?$/i.test(answer.trim())) {
      terminal.print('Nothing was written.')
      return 2
    }
  }
  writeFiles(cwd, files)
  const missing = missingPackages(project, framework)
  // tsx emits no types for decorators, which the entities of TypeORM need.
  const isCompiled = framework === 'nestjs' && nest.appModule !== null
  for (const line of nextSteps({ paths, run, folder, missing, needsUrl, isCompiled })) terminal.print(line)
  return 0
}

const defaultFolders: Partial<Record<MigrationTool, readonly string[]>> = {
  prisma: ['prisma/migrations'],
  flyway: ['db/migration', 'sql', 'migrations', 'db/migrations', 'database/migrations'],
}

/** The first that exists. */
function migrationsFolder(cwd: string, tool: MigrationTool): string {
  const folders = defaultFolders[tool] ?? [
    'migrations',
    'src/migrations',
    'db/migrations',
    'database/migrations',
  ]
  return folders.find(path => existsSync(join(cwd, path))) ?? (folders[0] as string)
}

function missingPackages(project: Project, framework: Framework): string[] {
  const needed = ['fast-check', 'tsx', ...(framework === 'hono' ? ['@hono/node-server'] : [])]
  return needed.filter(name => !project.has(name))
}

interface Written {
  paths: readonly string[]
  /** Creates the library's tables. */
  run: string
  folder: string
  missing: readonly string[]
  needsUrl: boolean
  /** The server runs only as compiled by the application's own build. */
  isCompiled: boolean
}

function nextSteps({ paths, run, folder, missing, needsUrl, isCompiled }: Written): string[] {
  const at = (name: string) => `npx tsx ${folder === '.' ? name : `${folder}/${name}`}`
  const steps: readonly (readonly [string, string])[] = [
    ...(needsUrl
      ? ([['export DATABASE_URL=…', 'the URL of this database: the programs read it']] as const)
      : []),
    ...(missing.length === 0 ? [] : ([[`npm install --save-dev ${missing.join(' ')}`, '']] as const)),
    [run, "creates the library's tables"],
    [at('kit.ts'), 'fills the schema bet_wallet_kit, and drops it: on a copy of your database'],
    [
      isCompiled ? 'node dist/server.js' : at('server.ts'),
      `serves the calls; the password is in BET_WALLET_PASSWORD. For the audit: AUDIT=1${
        isCompiled ? '. Build it with your application, and run it where your build writes it' : ''
      }`,
    ],
    [
      'npx bet-wallet audit http://127.0.0.1:3000/wallet --player … --other-player … --currency … --user platform --settle-url /settlement',
      'tests the running server with two of your players, who have funds',
    ],
    ['npx bet-wallet check', "tests the database, as the wallet's user, who has the rights of grants.sql"],
  ]
  return [
    ...paths.map(path => `Written: ${path}`),
    '',
    'Next (docs/first-hour.md):',
    ...steps.map(([command, what]) => `  ${command}${what === '' ? '' : `  # ${what}`}`),
  ]
}

const roles = [
  ['The store.', 'store', 'wallet'],
  ['Lookups and the reconciliation.', 'lookups', 'wallet_reader'],
  ['PAM code that credits settlements with credit_bet_v1.', 'settlements', 'settlements'],
] as const

function grantsText(mapping: Mapping): string {
  const tables = { players: playersOf(mapping) }
  return `${[
    ...grantsHead,
    ...roles.flatMap(([text, use, role]) => [
      `-- ${text}`,
      ...grantsFor(mapping.engine, tables, use, role).map(statement => `${statement};`),
      ...(use === 'store' ? [...moreGrants(mapping, role), grantsOfHook] : []),
    ]),
  ].join('\n')}\n`
}
