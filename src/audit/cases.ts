/** All cases, in the order in which they are run. */
import type { AuditCase } from './case.js'
import { authentication } from './cases/authentication.js'
import { basics } from './cases/basics.js'
import { books } from './cases/books.js'
import { clawbacks } from './cases/clawbacks.js'
import { errors } from './cases/errors.js'
import { funds } from './cases/funds.js'
import { hostile } from './cases/hostile.js'
import { lateBets } from './cases/late-bets.js'
import { lines } from './cases/lines.js'
import { repeats } from './cases/repeats.js'

export const cases: readonly AuditCase[] = [
  ...basics,
  ...repeats,
  ...lateBets,
  ...funds,
  ...clawbacks,
  ...errors,
  ...authentication,
  ...hostile,
  ...lines,
  ...books,
]
