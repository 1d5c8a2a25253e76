/** `bet-wallet/batches`: many requests in one statement, for stores of your own. */
export {
  answerEach,
  type Batches,
  type BatchSettings,
  bisect,
  createBatches,
  type Entry,
  type QueueSettings,
  type QueueStats,
  type RowAnswers,
} from './queue.js'
