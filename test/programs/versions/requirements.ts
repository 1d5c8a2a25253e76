/** The table of requirements in docs/first-hour.md: what it says of versions comes from the last run of `npm run test:versions`. */
import { readFileSync } from 'node:fs'
import { type Engine, endOfLifeSources, notRun, type Result, versions } from './versions.js'

export const resultsFile = new URL('results.json', import.meta.url)

export const readResults = (): Result[] => JSON.parse(readFileSync(resultsFile, 'utf8')) as Result[]

/** The other rows of the table. */
const others = [
  ['PGlite, for `bet-wallet/postgres`', 'yes', 'in CI'],
  [
    'Express, Fastify, NestJS, Koa, Hono, Next.js, `node:http`',
    '[one line each](http.md#frameworks); a few lines for any other',
    'Express 4 and 5, Koa 3, Fastify 5, NestJS 12, Hono 4, Next.js 16',
  ],
  [
    'pg, postgres.js, Drizzle, Kysely, Knex, TypeORM, Slonik, Prisma, Sequelize, MikroORM, mysql2',
    '[a line each](postgres.md#drivers)',
    'all of them, with the kit',
  ],
  [
    'TypeScript',
    '5.4 to 7, also with `skipLibCheck: false`; with `moduleResolution: node10`, the kit needs `skipLibCheck`',
    '5.4, 5.9, 6, 7',
  ],
  ['Other databases', 'any, with a store you write', 'the [kit](own-store.md#the-kit) tests it'],
]

/** Which are no longer maintained on a day. */
const endOf = (endOfLife: string, today: string) => (endOfLife < today ? ` (end of life ${endOfLife})` : '')

/** The releases of an engine that passed, and which of them are no longer maintained. */
export function testedOf(engine: Engine, results: readonly Result[], today: string): string {
  const tested = versions.flatMap(({ engine: its, version, endOfLife }) => {
    const result = results.find(run => run.engine === engine && run.version === version)
    if (its !== engine || result === undefined || result.failed > 0 || result.passed === 0) return []
    return `${result.release}${result.suite === 'quick' ? '*' : ''}${endOf(endOfLife, today)}`
  })
  return tested.length === 0 ? 'not run' : tested.join(', ')
}

/** The table, and the line below it, as of the day of the last run. */
export function requirements(results: readonly Result[]): string {
  const today =
    results
      .map(({ date }) => date)
      .sort()
      .at(-1) ?? ''
  /** With what CI runs in any case, and what is supported and was not run. */
  const tested = (engine: Engine, inCi: string) => {
    const rest = notRun
      .filter(version => version.engine === engine)
      .map(({ version, endOfLife }) => `${version}${endOf(endOfLife, today)}`)
    return [
      ...[testedOf(engine, results, today)].filter(text => text !== 'not run'),
      `in CI ${inCi}`,
      ...(rest.length === 0 ? [] : [`not run ${rest.join(', ')}`]),
    ].join('; ')
  }
  const rows = [
    ['Node.js', '20 and newer', tested('Node.js', '20, 22, 24, 26')],
    ['PostgreSQL, for `bet-wallet/postgres`', '14 and newer', tested('PostgreSQL', '18, and 14*')],
    [
      'MariaDB, for `bet-wallet/mysql`',
      '10.6 and newer',
      tested('MariaDB', '10.11, also three nodes of a Galera cluster, and 11.8*'),
    ],
    ['MySQL, for `bet-wallet/mysql`', '8.0.29 and newer', tested('MySQL', '9.7')],
    ...others,
  ]
  const links = Object.entries(endOfLifeSources).map(([engine, source]) => `[${engine}](${source})`)
  return [
    '| | Supported | Tested |',
    '|---|---|---|',
    ...rows.map(cells => `| ${cells.join(' | ')} |`),
    '',
    `Versions of the last run of \`npm run test:versions\`, ${today}; * marks versions on which only the short suite of CI ran, the others ran every test. ` +
      `Ends of life by ${links.join(', ')}.`,
  ].join('\n')
}
