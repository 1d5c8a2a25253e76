/** What `init` proposes and writes, for people. */
import { posix } from 'node:path'
import { type Report, section } from '../report/model.js'
import { shellWord } from '../wire/curl.js'
import {
  dropViewStatement,
  type Mapping,
  moreGrants,
  ownDecimals,
  playersWords,
  viewStatement,
} from './mapping.js'
import type { Proposal } from './propose.js'
import { present } from './source-text.js'

/**
 * The mapping, its reasons, and what is still to be answered.
 *
 * @param balances of each currency the greatest, as the wallet would read it
 */
export function proposalReport(
  proposal: Exclude<Proposal, { status: 'impossible' }>,
  balances: readonly string[],
): Report {
  const { questions, notes } = { questions: [], notes: [], ...proposal }
  const missing = questions.map(({ option }) => `--${option}`).join(' and ')
  return {
    title: "The mapping of your players' table",
    verdict:
      missing === ''
        ? { tone: 'pass', word: 'Clear', sentence: 'every part of the mapping is known' }
        : { tone: 'warn', word: 'Unclear', sentence: `state ${missing}` },
    facts: proposal.reasons.map(({ part, value, reason }) => [part, `${value}: ${reason}`]),
    sections: [
      ...questions.map(({ option, text, choices }) =>
        section(
          `--${option}`,
          { kind: 'text', text },
          { kind: 'facts', facts: choices.map(({ value, reason }) => [value, reason]) },
        ),
      ),
      section('The greatest balance of each currency: compare it with what the player sees', {
        kind: 'list',
        items: balances,
      }),
      section('Notes', { kind: 'list', items: notes }),
    ],
  }
}

export interface Project {
  mapping: Mapping
  /** Where the files are: `.`, `src/wallet` */
  folder: string
  /** Where the package.json is whose packages they find. */
  packages: string
  paths: readonly string[]
  /** The commands that add the packages that the programs need, and package.json lacks. */
  additions: readonly string[]
  /** Whether the URL is not in DATABASE_URL, which the programs read. */
  needsUrl: boolean
}

/** What was written, and the commands that come next. */
export const projectReport = (project: Project): Report => ({
  title: "A wallet for your players' table",
  verdict: { tone: 'pass', word: 'Written', sentence: project.paths.join(', ') },
  sections: [section('Next (docs/first-hour.md)', { kind: 'code', text: nextSteps(project).join('\n') })],
})

/** A command in another folder. */
export const within = (folder: string, command: string) =>
  folder === '.' ? command : `(cd ${shellWord(folder)} && ${command})`

function nextSteps({ mapping, folder, packages, additions, needsUrl }: Project): string[] {
  const at = (name: string) =>
    within(packages, `npx tsx ${shellWord(posix.relative(packages, posix.join(folder, name)))}`)
  const table = playersWords(mapping).map(shellWord).join(' ')
  const view = viewStatement(mapping)
  const [own] = Object.entries(ownDecimals(mapping))
  const units = own === undefined ? '…' : `${own[0]} --minor-units ${own[1]}`
  const currency = mapping.accountPerCurrency ? `${units} --accounts …` : units
  return present([
    needsUrl && 'export DATABASE_URL=…  # the URL of this database: the programs read it',
    ...additions,
    view !== null &&
      mapping.hasOldView &&
      `${dropViewStatement(mapping)};  # SQL: of an earlier try, which may have other columns`,
    view !== null && `${view};  # SQL: the wallet reads your table by this view`,
    `npx bet-wallet migrate ${table} --lookup-indexes  # creates the library's tables; with --print, SQL for your migration tool`,
    `${at('kit.ts')}  # fills the schema bet_wallet_kit, and drops it: on a copy of your database`,
    `${at('server.ts')}  # serves the calls; the password is in BET_WALLET_PASSWORD. For the audit: AUDIT=1`,
    `npx bet-wallet audit http://127.0.0.1:3000/wallet --player … --other-player … --currency ${currency} --user platform --settle-url /settlement  # tests the running server with two of your players, who have funds${mapping.accountPerCurrency ? '; --accounts: all currencies of the first' : ''}`,
    'npx bet-wallet grants wallet  # prints the rights of the role wallet; for other roles --for lookups, --for settlements',
    ...moreGrants(mapping, 'wallet').map(statement => `${statement}  # SQL: and these`),
    "npx bet-wallet check  # tests the database, as the wallet's user",
  ])
}
