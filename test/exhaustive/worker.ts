/** A process of its own, for the second core: does one task after the other, as they are sent. */
import { compare, explore } from './lap.js'
import { type Start, starts } from './starts.js'

export type Task = { start: number } & ({ explore: { attemptsMax: number } } | { compare: { size: number } })

process.on('message', (task: Task) => {
  const start = starts[task.start] as Start
  const work =
    'explore' in task ? explore(start, task.explore.attemptsMax) : compare(start, task.compare.size)
  work.then(
    result => process.send?.({ result }),
    error =>
      process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
