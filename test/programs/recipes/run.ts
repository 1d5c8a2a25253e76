/**
 * `bet-wallet simulate --fault` on real clusters: default and strict Patroni, Galera, Group Replication, one PostgreSQL.
 * Prints each result; exit code 1 if a run, or `bet-wallet check`, has not found what it must find.
 *
 *     npm run build && npx tsx --tsconfig examples/tsconfig.json test/programs/recipes/run.ts
 *
 * `--only patroni-strict --rounds 10`: one set-up, its three faults ten times each. `--html <folder>`: the pages.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { credentials } from '../soak/server-child.js'
import { createServerProcess } from '../soak/server-process.js'
import { openControls } from './controls.js'
import { type SetUp, setUps } from './set-ups.js'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '1' },
    html: { type: 'string' },
  },
})

const command = fileURLToPath(new URL('../../../dist/command.cjs', import.meta.url))
const players = Array.from({ length: 12 }, (_, index) => `sim-${index + 1}`)

async function run(words: readonly string[]): Promise<{ code: number | null; page: string }> {
  const child = spawn(process.execPath, [command, ...words], {
    env: { ...process.env, BET_WALLET_PASSWORD: credentials.password },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let page = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    page += text
  })
  const [code] = await once(child, 'close')
  return { code, page }
}

/** @returns what is not as expected */
async function tryOut(name: string, setUp: SetUp): Promise<string[]> {
  const opened = await setUp.open(players)
  const controls = await openControls(opened.actions)
  const problems: string[] = []
  const listener = { fault: () => {}, died: (how: string) => problems.push(`the wallet has ended: ${how}`) }
  const wallet = createServerProcess(opened.wallet.script, opened.wallet.settings, listener)
  try {
    await wallet.start()
    const { code, page } = await run([
      ...['simulate', wallet.url, '--staging', new URL(wallet.url).host, '--user', credentials.username],
      ...['--players', `${players.length}`, '--settle-url', '/settlement'],
      ...['--rate', '300', '--every', '20s'],
      ...Array.from({ length: Number(values.rounds) }, () => opened.faults)
        .flat()
        .flatMap(([fault, repair]) => [
          '--fault',
          `${controls.command(fault)} && sleep 10 && ${controls.command(repair)}`,
        ]),
      ...(values.html === undefined ? [] : ['--html', `${values.html}/${name}.html`]),
    ])
    console.log(`\n── ${name}, exit code ${code}\n\n${page}`)
    const { expected } = setUp
    if (code !== expected.code) problems.push(`the exit code is ${code}, and not ${expected.code}`)
    for (const pattern of expected.page) if (!pattern.test(page)) problems.push(`the page has no ${pattern}`)
    const checked = await run([
      'check',
      '--own-players',
      ...opened.databaseUrls.flatMap(url => ['--database-url', url]),
    ])
    console.log(checked.page)
    if (!expected.durability.test(checked.page)) problems.push(`check does not say ${expected.durability}`)
    return problems
  } finally {
    await wallet.end()
    controls.close()
    await opened.close()
  }
}

let isWrong = false
for (const [name, setUp] of Object.entries(setUps)) {
  if (values.only !== undefined && values.only !== name) continue
  const unavailable = setUp.unavailable()
  if (unavailable !== null) {
    console.log(`── ${name}: SKIPPED: ${unavailable}`)
    continue
  }
  const problems = await tryOut(name, setUp)
  for (const problem of problems) console.log(`${name}: ${problem}`)
  isWrong ||= problems.length > 0
}
process.exitCode = isWrong ? 1 : 0
