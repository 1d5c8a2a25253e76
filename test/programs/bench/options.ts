/** The options of the command line. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

export interface BenchOptions {
  /** Which parts to run. */
  only: readonly string[]
  /** How many times two contestants are measured in turn. The result is the median of their ratios. */
  rounds: number
  /**
   * How long each is measured per round, after a warm-up of a quarter of it; sets the number of bets of
   * `sportsbook`.
   */
  seconds: number
  /** The number of stored transactions in the large database of `growth`. */
  transactions: number
  /** The number of bets of the event in `bursts`. */
  settlements: number
  /**
   * `rising`: ids rise with time, as of sequences, snowflakes and UUID 7. `random`: anywhere in the index, as
   * UUID 4. The same for all contestants.
   */
  ids: 'rising' | 'random'
  /** Options of the store. */
  store: { connectionsMax?: number; batchMax?: number }
  /** The path of the result, as JSON. */
  json: string
  /** The folder for the server's data, and so the disk that is measured. */
  folder: string | undefined
}

/** @throws Error when an option is invalid */
export function optionsFrom(
  database: 'postgres' | 'mysql',
  args: readonly string[],
  parts: readonly string[],
): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: parts.join(',') },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      transactions: { type: 'string', default: database === 'mysql' ? '5000000' : '10000000' },
      settlements: { type: 'string', default: '100000' },
      ids: { type: 'string', default: 'rising' },
      connections: { type: 'string' },
      batch: { type: 'string' },
      json: { type: 'string', default: join(tmpdir(), `bet-wallet-bench-${database}.json`) },
      folder: { type: 'string' },
    },
  })
  const only = values.only.split(',')
  for (const name of only) {
    if (!parts.includes(name)) throw new Error(`--only ${name}: must be one of ${parts.join(', ')}`)
  }
  if (values.ids !== 'rising' && values.ids !== 'random') throw new Error('--ids must be rising or random')
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
    throw new Error(`--${name} ${text}: must be a ${name === 'seconds' ? 'number' : 'whole number'} above 0`)
  }
  return value
}
