/** What the command line may say. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

export interface BenchOptions {
  /** Which parts to run. */
  only: readonly string[]
  /** How often each two things are measured, one after the other. Their ratio is the median. */
  rounds: number
  /** How long each thing is measured in a round, after a warm-up of a quarter of it; how many bets `sportsbook` has. */
  seconds: number
  /** How many transactions are stored in the large database of `growth`. */
  transactions: number
  /** How many bets the event of `bursts` has. */
  settlements: number
  /**
   * `rising`: the platform's ids rise with time, as those of sequences, snowflakes and UUID 7 do. `random`: anywhere in
   * the index, as UUID 4. For all contestants alike.
   */
  ids: 'rising' | 'random'
  /** Of the store: `connectionsMax` and `batchMax`; its defaults where they are absent. */
  store: { connectionsMax?: number; batchMax?: number }
  /** Where the result is written, as JSON. */
  json: string
  /** The folder that the server's data are made in, and so the disk that is measured. */
  folder: string | undefined
}

/** @throws Error when an option is not what it must be */
export function optionsFrom(args: readonly string[], parts: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: parts.join(',') },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      transactions: { type: 'string', default: '10000000' },
      settlements: { type: 'string', default: '100000' },
      ids: { type: 'string', default: 'rising' },
      connections: { type: 'string' },
      batch: { type: 'string' },
      json: { type: 'string', default: join(tmpdir(), 'bet-wallet-bench-postgres.json') },
      folder: { type: 'string' },
    },
  })
  const only = values.only.split(',')
  for (const name of only) {
    if (!parts.includes(name)) throw new Error(`--only ${name}: there is ${parts.join(', ')}`)
  }
  if (values.ids !== 'rising' && values.ids !== 'random') throw new Error('--ids rising, or --ids random')
  return {
    only,
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    transactions: positive('transactions', values.transactions),
    settlements: positive('settlements', values.settlements),
    ids: values.ids,
    store: {
      ...(values.connections !== undefined && {
        connectionsMax: positive('connections', values.connections),
      }),
      ...(values.batch !== undefined && { batchMax: positive('batch', values.batch) }),
    },
    json: values.json,
    folder: values.folder,
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0) || (name !== 'seconds' && !Number.isSafeInteger(value))) {
    throw new Error(
      `--${name} ${text}: it must be a number above 0${name === 'seconds' ? '' : ', and whole'}`,
    )
  }
  return value
}
