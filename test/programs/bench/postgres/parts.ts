/** The parts of the bench, by their names for `--only`, in the order in which they run. */

import type { PartResult } from '../report.js'
import { bursts } from './bursts.js'
import { crowd, hotPlayer, lone } from './callers.js'
import { floor } from './floor.js'
import type { Ground } from './ground.js'
import { growth } from './growth.js'
import { hooksPart } from './hooks.js'
import { life } from './life.js'
import { locks } from './locks.js'
import { lookupIndexes } from './lookup-indexes.js'
import { operations } from './operations.js'
import { outbox } from './outbox.js'
import { procedure } from './procedure.js'
import { refusals } from './refusals.js'
import { sportsbook } from './sportsbook.js'

export const parts: ReadonlyMap<string, (ground: Ground) => Promise<PartResult>> = new Map([
  ['crowd', crowd],
  ['procedure', procedure],
  ['floor', floor],
  ['lone', lone],
  ['hot-player', hotPlayer],
  ['life', life],
  ['growth', growth],
  ['lookup-indexes', lookupIndexes],
  ['outbox', outbox],
  ['hooks', hooksPart],
  ['bursts', bursts],
  ['locks', locks],
  ['refusals', refusals],
  ['operations', operations],
  ['sportsbook', sportsbook],
])
