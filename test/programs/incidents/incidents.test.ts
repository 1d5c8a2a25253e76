/**
 * The incidents, solved as on-call would: the alarm names a symptom of docs/runbook.md; what its rows say to run is
 * run; the output must be that of exactly one of them, and that row must have the solution.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { bet, player, transaction } from '../../../src/tools/command/lookups.js'
import { reconcile } from '../../../src/tools/command/reconcile.js'
import { noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import {
  type DatabaseName,
  type IncidentDatabase,
  openPglite,
  openPostgres,
  otherProgram,
} from './databases.js'
import type { Incident } from './incident.js'
import { incidents } from './incidents.js'
import { commandFile, outputOf, type RunCommand, runBuiltCommand } from './looking.js'
import { openOwnMariadb } from './own-mariadb.js'
import { isOutputOf, type LookAt, lookAtsOf, rowsOfSymptom, runbookRows, statementsOf } from './page.js'
import { openScene, type Scene } from './scene.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-incidents-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('finds the command built', () => {
  expect(existsSync(commandFile), 'run `npm test`, which builds first').toBe(true)
})

it('has at least twenty incidents, each with an alarm of its own and a symptom of the runbook', () => {
  expect(incidents.length).toBeGreaterThanOrEqual(20)
  for (const { symptom } of incidents) expect(runbookRows.map(row => row.symptom)).toContain(symptom)
  expect(new Set(incidents.map(({ title }) => title)).size).toBe(incidents.length)
})

const commands = { bet, player, transaction, reconcile }

/** In this process, which is faster; on PGlite nothing else can read it. */
const runHere: RunCommand = async ([name = '', ...words], { database, commandUrl }) => {
  const config = join(folder, 'config.mjs')
  writeFileSync(config, 'export const lookups = globalThis.lookupsOfIncident\n')
  Object.assign(globalThis, { lookupsOfIncident: database.lookups })
  const where =
    commandUrl === null ? ['--config', config] : ['--database-url', commandUrl, '--schema', database.schema]
  const lines: string[] = []
  const spies = (['log', 'error'] as const).map(stream =>
    vi.spyOn(console, stream).mockImplementation((text: unknown) => void lines.push(String(text))),
  )
  try {
    await commands[name as keyof typeof commands].run([...words, ...where])
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
  return `${lines.join('\n')}\n`
}

const built = new Set<string>()

/** By the first call of each command also the built one, as a process of its own: both print the same. */
const runBoth: RunCommand = async (words, scene) => {
  const printed = await runHere(words, scene)
  const [name = ''] = words
  if (!built.has(name)) {
    built.add(name)
    const withoutDurations = (text: string) => text.replace(/(Duration +|\()[\d.,]+ (?:ms|s)\b/g, '$1')
    expect(withoutDurations(await runBuiltCommand(words, scene))).toBe(withoutDurations(printed))
  }
  return printed
}

interface Tested {
  name: DatabaseName
  skipped: string | null
  open(): Promise<{ database: IncidentDatabase; drop(): Promise<void> }>
  run: RunCommand
}

const tested: readonly Tested[] = [
  {
    ...{ name: 'PostgreSQL', skipped: null, run: runBoth },
    async open() {
      const { url, drop } = await freshDatabase()
      return { database: openPostgres(url), drop }
    },
  },
  {
    ...{ name: 'PGlite', skipped: null, run: runHere },
    open: async () => ({ database: await openPglite(), drop: async () => {} }),
  },
  {
    ...{ name: 'MySQL or MariaDB', skipped: noServer, run: runHere },
    open: openOwnMariadb,
  },
]

describe.each(tested)('on $name', ({ name, skipped, open, run }) => {
  describe.skipIf(skipped !== null)(skipped === null ? name : `${name} (skipped: ${skipped})`, () => {
    let database: IncidentDatabase
    let drop = async () => {}
    beforeAll(async () => {
      const opened = await open()
      database = opened.database
      drop = opened.drop
    })
    afterAll(async () => {
      await database?.close()
      await drop()
    })

    const reasonOf = (incident: Incident) => incident.notOn?.[name] ?? null
    const [here, elsewhere] = [
      incidents.filter(incident => reasonOf(incident) === null),
      incidents.filter(incident => reasonOf(incident) !== null),
    ]
    it.skip.each(elsewhere.map(incident => ({ ...incident, reason: reasonOf(incident) })))(
      '$title (skipped: $reason)',
      () => {},
    )

    it.each(here)('$title', async incident => {
      await database.reset()
      const scene = await openScene(database, folder)
      try {
        await incident.arise(scene)
        expect(incident.alarm(scene)).not.toBe('')
        const output = await lookAround(incident, scene, run)
        const rows = rowsOfSymptom(incident.symptom).filter(row => isOutputOf(row, output))
        expect(
          rows.length,
          `The rows that fit:\n${rows.map(({ says }) => says).join('\n')}\n\n${output}`,
        ).toBe(1)
        expect(rows[0]?.whatToDo).toContain(incident.solution)
        await incident.solve?.(scene, output)
      } finally {
        await scene.close()
      }
    })
  })
})

/** Everything that the rows of the symptom say to run, each once. */
async function lookAround(incident: Incident, scene: Scene, run: RunCommand): Promise<string> {
  const looks = new Map<string, LookAt>()
  for (const row of rowsOfSymptom(incident.symptom))
    for (const look of lookAtsOf(row)) looks.set(JSON.stringify(look), look)
  return await outputOf([...looks.values()], incident, scene, run)
}

describe('prepare.ts', () => {
  let url = ''
  let drop = async () => {}
  beforeAll(async () => {
    const database = await freshDatabase()
    url = database.url
    drop = database.drop
  })
  afterAll(() => drop())

  const prepare = (number: number) =>
    spawn(
      process.execPath,
      [
        '--import',
        'tsx',
        join(root, 'test/programs/incidents/prepare.ts'),
        String(number),
        '--database-url',
        url,
      ],
      {
        cwd: root,
        env: { ...process.env, NODE_OPTIONS: '', TSX_TSCONFIG_PATH: join(root, 'examples/tsconfig.json') },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )

  it('prints the alarm and nothing else', async () => {
    const child = prepare(1)
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    const [code] = await once(child, 'close')
    expect([code, printed]).toEqual([0, `${incidents[0]?.alarm({} as Scene)}\n`])
  })

  it('keeps a lock until it is interrupted', async () => {
    const child = prepare(incidents.findIndex(({ title }) => title.startsWith('a row of a player')) + 1)
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    await expect.poll(() => printed).toContain('Ctrl+C')
    const [find = ''] = statementsOf('Locks', 'PostgreSQL')
    const database = openPostgres(url)
    expect(await database.run(find)).toMatchObject([{ application_name: otherProgram }])
    child.kill('SIGINT')
    expect(await once(child, 'close')).toEqual([0, null])
    await expect.poll(() => database.run(find)).toEqual([])
    await database.close()
  })
})
