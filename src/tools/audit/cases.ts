/**
 * All cases in the order in which they run: from the plainest to the most involved. A case stands after those
 * by whose defect it fails too, so that the first failed case names the defect.
 */
import type { AuditCase } from './audit-case.js'
import { accountCases } from './cases/accounts.js'
import { authentication } from './cases/authentication.js'
import { basics } from './cases/basics.js'
import { clawbacks } from './cases/clawbacks.js'
import { connections } from './cases/connections.js'
import { errors } from './cases/errors.js'
import { funds } from './cases/funds.js'
import { hostile } from './cases/hostile.js'
import { lateBets } from './cases/late-bets.js'
import { later } from './cases/later.js'
import { oldTransactionCases } from './cases/old-transactions.js'
import { replays } from './cases/replays.js'
import { settlements } from './cases/settlements.js'
import { wholeAudit } from './cases/whole-audit.js'

const subjects: readonly AuditCase[] = [
  ...basics,
  ...replays,
  ...lateBets,
  ...funds,
  ...clawbacks,
  ...settlements,
  ...errors,
  ...authentication,
  ...hostile,
  ...connections,
  ...oldTransactionCases,
  ...accountCases,
]

export const cases: readonly AuditCase[] = [
  ...subjects.filter(({ runLast }) => !runLast),
  ...later,
  ...subjects.filter(({ runLast }) => runLast),
  ...wholeAudit,
]
