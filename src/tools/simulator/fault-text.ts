/** What faults of the operator's own system have lost, as text. */
import { countText, durationText, numberText } from '../html/figures.js'
import type { InjectedFault, SimulationFaults, WrongReplay } from './report.js'

/** More of them are in the report as data. */
const shownMax = 10

/** What was wrong, one part of a sentence each. */
export function faultProblems({
  stopped,
  lost,
  repeated,
  notRetried,
  costsAfter,
}: SimulationFaults): string[] {
  const were = (list: readonly unknown[]) => (list.length === 1 ? 'was' : 'were')
  return [
    lost.length > 0 ? `${countText(lost.length, 'answered call')} ${were(lost)} lost` : '',
    repeated.length > 0
      ? `${countText(repeated.length, 'call')} ${were(repeated)} decided anew by each retry`
      : '',
    notRetried > 0 ? `${countText(notRetried, 'answered call')} could not be sent again` : '',
    costsAfter.length > 0 ? 'balances are wrong even after the retries' : '',
    stopped ?? '',
  ].filter(Boolean)
}

/** `2 faults, nothing was lost, and the longest silence was 4 s` */
export function faultSuccess({ injected }: SimulationFaults): string {
  const longest = durationText(Math.max(0, ...injected.map(({ silentMs }) => silentMs)))
  return `${countText(injected.length, 'fault')}, nothing was lost, and the longest silence was ${longest}`
}

export const faultColumns = ['Fault', 'Lost', 'Silent for']

export const faultCells = ({ command, lost, silentMs }: InjectedFault): [string, string, string] => [
  command,
  numberText(lost),
  durationText(silentMs),
]

/** What to look at; `null`: nothing was lost. */
export const faultAdvice = ({ lost }: SimulationFaults): string | null =>
  lost.length === 0
    ? null
    : 'bet-wallet check names the durability of the database (docs/operations.md#durability). If it is synchronous, look for an old primary that still accepts writes, a proxy that leads to it, or a wallet that answers before its commit.'

export function faultLines(faults: SimulationFaults): string[] {
  const advice = faultAdvice(faults)
  return [
    ...faults.injected.map(fault => {
      const [command, lost, silent] = faultCells(fault)
      return `fault: lost ${lost}, silent for ${silent}: ${command}`
    }),
    ...callLines('Lost', faults.lost),
    ...callLines('Decided anew by each retry', faults.repeated),
    ...(advice === null ? [] : [advice]),
    '',
  ]
}

function callLines(title: string, calls: readonly WrongReplay[]): string[] {
  if (calls.length === 0) return []
  const more = calls.length - shownMax
  return [
    title,
    ...calls.slice(0, shownMax).map(call => `  ${callText(call)}`),
    ...(more > 0 ? [`  and ${numberText(more)} more (--json)`] : []),
  ]
}

export function callText(call: WrongReplay): string {
  const { operation, transactionId, betId, playerId, amount, currency, answeredAt, answer, retryAnswer } =
    call
  return (
    `${answeredAt} ${operation} ${transactionId} of ${betId}, player ${playerId}, ${amount} ${currency}: ` +
    `answered ${answer}, and its retry ${retryAnswer}`
  )
}

/** How many answered calls were replayed. */
export function replayedText({ answered, lost, repeated, notRetried }: SimulationFaults): string {
  const replayed = answered - lost.length - repeated.length - notRetried
  return `${numberText(answered)}, of which ${numberText(replayed)} were replayed at the end`
}
