/** The progress of a run, on one line. */
import { countText, durationText, numberText } from '../report/figures.js'
import type { SimulationProgress } from './report.js'

const barWidth = 24

/**
 * The progress of a run in one line of at most `columns` characters.
 *
 * @param options.bar whether to draw a bar, for a terminal that can overwrite its last line
 */
export function formatSimulationProgress(
  progress: SimulationProgress,
  { bar, columns = 110 }: { bar: boolean; columns?: number },
): string {
  const share = shareOf(progress)
  const filled = Math.round(share * barWidth)
  const parts = [
    bar ? `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}]` : '',
    `${Math.floor(share * 100)} %`.padStart(5),
    progress.phase,
    `${numberText(progress.bets)} bets`,
    `${numberText(progress.requests)} requests`,
    `${numberText(Math.round(progress.requestsPerSecond))}/s`,
    `p99 ${durationText(progress.latencyMs.p99)}`,
    progress.walletUnreachable ? 'THE WALLET DOES NOT ANSWER' : '',
    countText(progress.differencesCount, 'difference'),
    progress.failedCalls === 0 ? '' : `${numberText(progress.failedCalls)} failed calls`,
  ]
  return parts.filter(Boolean).join('  ').slice(0, columns)
}

/** The share of betting that is done: by bets or by time, whichever is further. */
function shareOf({ phase, bets, betsMax, elapsedMs, durationMs }: SimulationProgress): number {
  if (phase === 'opening') return 0
  if (phase !== 'betting') return 1
  return Math.max(partOf(bets, betsMax), partOf(elapsedMs, durationMs))
}

const partOf = (done: number, all: number | null) => (all === null ? 0 : done >= all ? 1 : done / all)
