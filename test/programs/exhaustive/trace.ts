/** Formats the steps that lead to a violated invariant. */
import type { Account, Bet, Transaction, WalletChanges, WalletSnapshot } from 'bet-wallet'
import { type Letter, letters } from './alphabet.js'
import type { Trace } from './explorer.js'
import { euros } from './money.js'
import type { HandlerState, StateSpace, StoreState, Write } from './state-space.js'

export function formatTrace(space: StateSpace, { word, steps, moments, violations }: Trace): string {
  const together = word.map(nameOf).join(' | ')
  const lines = [`From "${space.start.name}"${together === '' ? '' : `: ${together}, concurrently`}.`, '']
  for (const { letter, ending } of space.before) lines.push(`before: ${letter.name}: ${ending.text}`)
  for (const [index, { slot, action }] of steps.entries()) {
    const [before, after] = [moments[index], moments[index + 1]]
    if (before === undefined || after === undefined) break
    const balance = `the balance is ${euros((space.stores[after.store] as StoreState).balance)}`
    const wrote = after.store === before.store ? 'no changes' : `changed, ${balance}`
    if (slot === -1) {
      lines.push(
        `${index + 1}. the delayed commit is delivered (${writeText(space.writes[before.delayed] as Write)}): ${wrote}`,
      )
      continue
    }
    const handler = space.handlers[before.handlers[slot] as number] as HandlerState
    const next = space.handlers[after.handlers[slot] as number] as HandlerState
    const copies = word.filter(letter => letter === word[slot]).length
    const which =
      copies > 1 ? ` (copy ${word.slice(0, slot + 1).filter(letter => letter === word[slot]).length})` : ''
    const request = `${nameOf(word[slot] as number)}${which}`
    const snapshot = (space.stores[before.store] as StoreState).snapshots[handler.letter] as number
    const what =
      handler.at === 'load'
        ? action === 'is answered'
          ? `loads: ${snapshotText(space.replies[snapshot] as { value: WalletSnapshot })}`
          : `loads: ${action}`
        : handler.at === 'commit'
          ? `commits (${writeText(space.writes[handler.write] as Write)})${action === 'is answered' ? '' : `, which ${action}`}: ${wrote}`
          : `is performed: ${wrote}`
    const ended =
      next.ending === null || handler.at === 'move' ? '' : `; the request ends with "${next.ending.text}"`
    lines.push(`${index + 1}. ${request} ${what}${ended}`)
  }
  for (const { invariant, expected, actual } of violations) {
    lines.push('', `Violated: ${invariant}`, `  expected: ${expected}`, `  actual:   ${actual}`)
  }
  return lines.join('\n')
}

function nameOf(letter: number): string {
  const { name, ...rest } = letters[letter] as Letter
  return 'request' in rest ? `${name} ${rest.request.transactionId}` : `${name} ${euros(rest.amount)}`
}

function writeText(write: Write): string {
  if ('move' in write) return write.move.name
  const { transaction, bet, account }: WalletChanges = write.changes
  const parts = [
    transaction.refusal === null ? 'success' : `refusal ${transaction.refusal.errorCode}`,
    account.delta === '0' ? 'balance unchanged' : account.delta,
    bet === null ? 'no bet' : betText(bet),
  ]
  return parts.join(', ')
}

function snapshotText({ value: { accounts, bet, transaction } }: { value: WalletSnapshot }): string {
  return [
    accounts.map(playerText).join() || 'no player',
    bet === null ? 'no bet' : betText(bet),
    transactionText(transaction),
  ].join(', ')
}

const playerText = ({ balance }: Account) => `balance ${balance}`

function transactionText(transaction: Transaction | null): string {
  if (transaction === null) return 'transaction not recorded'
  return `transaction recorded: ${transaction.refusal?.errorCode ?? transaction.delta}`
}

function betText({ betId, status, stake, credits, revision }: Bet): string {
  const texts = Object.entries(credits).map(
    ([type, { live, reversed, owed }]) => ` ${type} live ${live} reversed ${reversed} owed ${owed}`,
  )
  return `${betId} ${status} stake ${stake}${texts.join('')} revision ${revision}`
}
