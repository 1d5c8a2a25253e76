/**
 * Prepares an incident, to try the runbook (docs/runbook.md) as on-call would:
 *
 *     npx tsx --tsconfig examples/tsconfig.json test/programs/incidents/prepare.ts 7 --database-url postgres://…
 *
 * Prints the alarm, and nothing of the solution. Writes `platform.csv` into the current folder if the alarm is about a
 * report. It empties the schema of the wallet in that database first: use one that has nothing else. A lock is kept
 * until Ctrl+C.
 */
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { openByUrl } from './databases.js'
import { incidents } from './incidents.js'
import { openScene } from './scene.js'

const { values, positionals } = parseArgs({
  options: { 'database-url': { type: 'string' } },
  allowPositionals: true,
})
const url = values['database-url'] ?? process.env.BET_WALLET_DATABASE_URL
const number = Number(positionals[0])
const incident = incidents[number - 1]
if (url === undefined || incident === undefined || positionals.length !== 1) {
  console.error(`Usage: prepare.ts <1 to ${incidents.length}> --database-url <postgres://… or mysql://…>`)
  process.exit(2)
}

const database = await openByUrl(url)
const reason = incident.notOn?.[database.name]
if (reason !== undefined) {
  console.error(`Not on ${database.name}: ${reason}`)
  process.exit(2)
}
await database.reset()
const scene = await openScene(database, process.cwd())
await incident.arise(scene)
console.log(incident.alarm(scene))
if (scene.commandUrl !== url) console.log(`The database: ${scene.commandUrl}`)
if (scene.isKept) {
  console.log('(Ctrl+C ends the incident.)')
  await once(process, 'SIGINT')
}
await scene.close()
await database.close()
