/** A worker process: performs one task after the other, as it receives them. */

import { type Start, starts } from './starts.js'
import { compare, type ExploreOptions, explore } from './tasks.js'

export type Task = { start: number } & ({ explore: ExploreOptions } | { compare: { size: number } })

process.on('message', (task: Task) => {
  const start = starts[task.start] as Start
  const work = 'explore' in task ? explore(start, task.explore) : compare(start, task.compare.size)
  work.then(
    result => process.send?.({ result }),
    error =>
      process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
