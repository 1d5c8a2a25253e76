/** What an audit cannot see, with the options that were given. */
import type { AuditSettings } from './options.js'

type Options = Pick<
  AuditSettings,
  'pauseMs' | 'restart' | 'settle' | 'clawbacks' | 'otherPlayerId' | 'errorCodes' | 'statusCodes' | 'only'
>

const limitations: readonly [applies: (given: Options) => boolean, sentence: string][] = [
  [
    ({ only }) => only !== null,
    'Only some cases were chosen (--only). What the others would find is not seen.',
  ],
  [
    ({ settle }) => settle === 'unsupported',
    'No bet was settled (--settle-url, --settle-command): payouts, voids and their unsettlements are not seen.',
  ],
  [
    ({ clawbacks }) => !clawbacks,
    'Clawbacks are disabled (--no-clawbacks): what an unsettlement debits is not seen.',
  ],
  [
    ({ otherPlayerId }) => otherPlayerId === null,
    'One player only (--other-player): calls that mix up players are not seen.',
  ],
  [
    ({ pauseMs }) => pauseMs === null,
    'All retries came within seconds (--pause): records, tombstones and bets that are forgotten or closed after a minute are not seen.',
  ],
  [
    ({ pauseMs }) => pauseMs !== null,
    'Records, tombstones and bets that are forgotten or closed after more than the given pause are not seen.',
  ],
  [
    ({ restart }) => restart === null,
    'The wallet was not restarted (--restart-command): what it keeps in the memory of its process only is not seen.',
  ],
  [
    ({ errorCodes, statusCodes }) =>
      [...errorCodes.values(), ...statusCodes.values()].some(values => values.some(value => value === '*')),
    'Any error code or status was allowed where it was so agreed: a wrong one is not seen.',
  ],
  [
    () => true,
    'All calls came from one machine, to one address: nodes of a cluster that disagree, a failover and a lost disk are not seen.',
  ],
  [() => true, 'A race that did not happen in this run is not seen: more rounds (--rounds) find rarer ones.'],
  [
    () => true,
    'Deposits, withdrawals and other products that change the balance at the same time were not part of the audit.',
  ],
  [() => true, 'The wallet was judged by its answers. Whether its own ledger agrees with them is not seen.'],
]

/** One sentence each. */
export function limitationsOf(given: Options): string[] {
  return limitations.filter(([applies]) => applies(given)).map(([, sentence]) => sentence)
}
