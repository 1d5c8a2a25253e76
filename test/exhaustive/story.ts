/** How it came to something broken, told step by step. */
import type { Bet, Player, Transaction, WalletChanges, WalletSnapshot } from 'bet-wallet'
import { type Letter, letters } from './alphabet.js'
import type { Story } from './explorer.js'
import { euros } from './money.js'
import type { Deed, Place, StoreState, Universe } from './universe.js'

export function tell(universe: Universe, { word, steps, moments, flaws }: Story): string {
  const together = word.map(nameOf).join(' | ')
  const lines = [`From "${universe.start.name}"${together === '' ? '' : `: ${together}, at once`}.`, '']
  for (const { letter, ending } of universe.before) lines.push(`before: ${letter.name}: ${ending.text}`)
  for (const [index, { slot, action }] of steps.entries()) {
    const [before, after] = [moments[index], moments[index + 1]]
    if (before === undefined || after === undefined) break
    const balance = `the balance is ${euros((universe.stores[after.store] as StoreState).balance)}`
    const wrote = after.store === before.store ? 'nothing is written' : `written, ${balance}`
    if (slot === -1) {
      lines.push(
        `${index + 1}. the late commit lands (${deedText(universe.deeds[before.late] as Deed)}): ${wrote}`,
      )
      continue
    }
    const place = universe.places[before.places[slot] as number] as Place
    const next = universe.places[after.places[slot] as number] as Place
    const copies = word.filter(letter => letter === word[slot]).length
    const which =
      copies > 1 ? ` (copy ${word.slice(0, slot + 1).filter(letter => letter === word[slot]).length})` : ''
    const who = `${nameOf(word[slot] as number)}${which}`
    const snapshot = (universe.stores[before.store] as StoreState).snapshots[place.letter] as number
    const what =
      place.at === 'load'
        ? action === 'is answered'
          ? `looks: ${snapshotText(universe.replies[snapshot] as { value: WalletSnapshot })}`
          : `looks: ${action}`
        : place.at === 'commit'
          ? `commits (${deedText(universe.deeds[place.deed] as Deed)})${action === 'is answered' ? '' : `, which ${action}`}: ${wrote}`
          : `happens: ${wrote}`
    const ended = next.ending === null || place.at === 'move' ? '' : `; it is answered "${next.ending.text}"`
    lines.push(`${index + 1}. ${who} ${what}${ended}`)
  }
  for (const { broken, expected, found } of flaws) {
    lines.push('', `Broken: ${broken}`, `  expected: ${expected}`, `  found:    ${found}`)
  }
  return lines.join('\n')
}

function nameOf(letter: number): string {
  const { name, ...rest } = letters[letter] as Letter
  return 'request' in rest ? `${name} ${rest.request.transactionId}` : `${name} ${euros(rest.amount)}`
}

function deedText(deed: Deed): string {
  if ('move' in deed) return deed.move.name
  const { transaction, bet, balance }: WalletChanges = deed.changes
  const parts = [
    transaction.refusal === null ? 'success' : `refusal ${transaction.refusal.errorCode}`,
    balance === null ? 'no money' : balance.delta,
    bet === null ? 'no bet' : betText(bet),
  ]
  return parts.join(', ')
}

function snapshotText({ value: { player, bet, transaction } }: { value: WalletSnapshot }): string {
  return [playerText(player), bet === null ? 'no bet' : betText(bet), transactionText(transaction)].join(', ')
}

const playerText = (player: Player | null) => (player === null ? 'no player' : `balance ${player.balance}`)

function transactionText(transaction: Transaction | null): string {
  if (transaction === null) return 'transaction not recorded'
  return `transaction recorded: ${transaction.refusal?.errorCode ?? transaction.delta}`
}

function betText({ betId, status, stake, credits, revision }: Bet): string {
  const told = Object.entries(credits).map(
    ([type, { live, reversed, owed }]) => ` ${type} live ${live} reversed ${reversed} owed ${owed}`,
  )
  return `${betId} ${status} stake ${stake}${told.join('')} revision ${revision}`
}
