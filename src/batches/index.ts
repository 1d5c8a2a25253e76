/** `bet-wallet/batches`: many requests in one statement, for stores of your own. */
export { answerEach, bisect, type RowAnswers } from './answers.js'
export {
  type Batches,
  type BatchSettings,
  createBatches,
  type Entry,
  type QueueSettings,
  type QueueStats,
} from './queue.js'
