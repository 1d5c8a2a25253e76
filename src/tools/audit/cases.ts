/** All cases in the order in which they run. */
import type { AuditCase } from './audit-case.js'
import { authentication } from './cases/authentication.js'
import { availability } from './cases/availability.js'
import { basics } from './cases/basics.js'
import { books } from './cases/books.js'
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

const subjects: readonly AuditCase[] = [
  ...basics,
  ...replays,
  ...oldTransactionCases,
  ...lateBets,
  ...funds,
  ...clawbacks,
  ...settlements,
  ...errors,
  ...authentication,
  ...hostile,
  ...connections,
]

export const cases: readonly AuditCase[] = [
  ...subjects.filter(({ runLast }) => !runLast),
  ...later,
  ...subjects.filter(({ runLast }) => runLast),
  ...availability,
  ...books,
]
