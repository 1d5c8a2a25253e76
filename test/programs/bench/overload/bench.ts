/**
 * `npm run bench -- overload`: several times the capacity for a minute, on the store over PostgreSQL of the built
 * package: goodput, latencies, recovery, memory and books. Exit code 1 if a limit is exceeded.
 *
 * `--connections 1000,4000,12000`: one run for each. The first two fit into the queue, so nothing is shed; the third
 * does not, and sends the rollbacks of what is shed. `--seconds`, `--times`, `--calm`: see OverloadOptions.
 * `--http`: over HTTP instead of in process; sender and wallet then share the cores, so the sender takes a part
 * of the capacity.
 */
import { parseArgs } from 'node:util'
import { openPostgres } from '../../../postgres/server.js'
import { optionsFrom } from '../options.js'
import { withDatabase } from '../postgres/ground.js'
import { exceededOf } from './limits.js'
import { type OverloadResult, overload } from './overload.js'
import { inProcess, overHttp } from './targets.js'

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '1000,4000' },
    times: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '60' },
    calm: { type: 'string', default: '5' },
    http: { type: 'boolean', default: false },
  },
})

function linesOf(result: OverloadResult): [string, string][] {
  const ms = (value: number | null) => (value === null ? 'none' : `${value.toFixed(0)} ms`)
  const { recoverySeconds, differences } = result
  return [
    ['capacity', `${result.capacityPerSecond.toFixed(0)}/s`],
    ['arrivals', `${result.arrivedPerSecond.toFixed(0)}/s`],
    ['goodput', result.goodput.toFixed(2)],
    ['bets that found no free connection', String(result.turnedAway)],
    ['placebets that failed and were rolled back', String(result.failed)],
    ['rollbacks that failed and were sent again', String(result.rollbacksFailed)],
    [
      'share of failed placebets; of failed rollbacks',
      `${result.failedShare.toFixed(3)}; ${result.rollbacksFailedShare.toFixed(3)}`,
    ],
    ['longest time to an answer', ms(result.slowestMs)],
    ['p99 of accepted placebets at half of the capacity', ms(result.calmP99Ms)],
    ['p99 of accepted placebets', ms(result.acceptedP99Ms)],
    ['p99 of rollbacks, from the failure to the success', ms(result.rollbackP99Ms)],
    [
      'as before after the overload',
      recoverySeconds === null ? 'not within a minute' : `${recoverySeconds.toFixed(1)} s`,
    ],
    ['memory of the process', `${result.rssMegabytes.toFixed(0)} MB`],
    ['books', differences.length === 0 ? 'exact' : `${differences.length} differences: ${differences[0]}`],
  ]
}

const server = await openPostgres()
try {
  for (const connections of values.connections.split(',').map(Number)) {
    const options = optionsFrom('postgres', [], ['overload'])
    const result = await withDatabase({ server, options }, async ({ pool, url }) => {
      const target = values.http ? await overHttp(url, connections) : inProcess(pool)
      try {
        return await overload(
          { ...target, pool },
          {
            connections,
            times: Number(values.times),
            seconds: Number(values.seconds),
            calmSeconds: Number(values.calm),
            recoverySecondsMax: 60,
          },
        )
      } finally {
        await target.stop()
      }
    })
    console.log(
      `\n${values.times} times the capacity for ${values.seconds} s, at most ${connections} calls outstanding`,
    )
    for (const [name, value] of linesOf(result)) console.log(`  ${name.padEnd(52)}${value}`)
    const exceeded = exceededOf(result, connections)
    for (const limit of exceeded) console.log(`  LIMIT EXCEEDED: ${limit}`)
    if (result.differences.length + exceeded.length > 0) process.exitCode = 1
  }
} finally {
  await server.stop()
}
