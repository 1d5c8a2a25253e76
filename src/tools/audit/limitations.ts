/** What an audit cannot see, with the options that were given. */
import { type AuditSettings, anyAgreed } from './options.js'

/** One sentence each. */
export function limitationsOf(given: AuditSettings): string[] {
  const { only, settle, clawbacks, otherPlayerId, pauseMs, restart } = given
  const agreed: unknown[] = [...given.errorCodes.values(), ...given.statusCodes.values()].flat()
  const sentences = [
    only !== null && 'Only some cases were chosen (--only). What the others would find is not seen.',
    settle === 'unsupported' &&
      'No bet was settled (--settle-url, --settle-command): payouts, voids and their unsettlements are not seen.',
    !clawbacks && 'Clawbacks are disabled (--no-clawbacks): what an unsettlement debits is not seen.',
    otherPlayerId === null && 'One player only (--other-player): calls that mix up players are not seen.',
    pauseMs === null
      ? 'All retries came within seconds (--pause): records, tombstones and bets that are forgotten or closed after a minute are not seen.'
      : 'Records, tombstones and bets that are forgotten or closed after more than the given pause are not seen.',
    restart === null &&
      'The wallet was not restarted (--restart-command): what it keeps in the memory of its process only is not seen.',
    agreed.includes(anyAgreed) &&
      'Any error code or status was allowed where it was so agreed: a wrong one is not seen.',
    'All calls came from one machine, to one address: nodes of a cluster that disagree, a failover and a lost disk are not seen.',
    'A race that did not happen in this run is not seen: more rounds (--rounds) find rarer ones.',
    'Deposits, withdrawals and other products that change the balance at the same time were not part of the audit.',
    'The wallet was judged by its answers. Whether its own ledger agrees with them is not seen.',
  ]
  return sentences.filter(sentence => sentence !== false)
}
