/** Start states: an initial balance, and the requests before the search, one after the other. */
import {
  type Letter,
  lostBefore,
  placebet,
  placebetInYen,
  rollbackbet,
  settledBefore,
  unscored,
  voidedBefore,
} from './alphabet.js'

export interface Start {
  name: string
  opening: bigint
  /** Of a second account, in JPY: the home account (D28). */
  yen?: bigint
  before: readonly Letter[]
}

const deposit = (amount: bigint): Letter => ({ name: 'deposit before', step: 'deposit', amount })
const spend = (amount: bigint): Letter => ({ name: 'spend before', step: 'withdraw', amount })

const start = (name: string, opening: bigint, ...before: Letter[]): Start => ({ name, opening, before })

/** After "spent" the balance is 20.00: it covers no clawback, and does after a deposit of 50.00. */
export const starts: readonly Start[] = [
  start('no bet', 100_00n),
  start('placed', 100_00n, placebet),
  start('paid', 100_00n, placebet, settledBefore),
  start('paid and spent', 100_00n, placebet, settledBefore, spend(110_00n)),
  start('voided', 100_00n, placebet, voidedBefore),
  start('voided and spent', 100_00n, placebet, voidedBefore, spend(85_00n)),
  start('paid and voided', 100_00n, placebet, settledBefore, voidedBefore),
  start('paid, voided and spent', 100_00n, placebet, settledBefore, voidedBefore, spend(145_00n)),
  start('uncollected', 100_00n, placebet, settledBefore, spend(110_00n), unscored),
  start('reversed', 100_00n, placebet, settledBefore, unscored),
  start('lost', 100_00n, placebet, lostBefore),
  start('rolled back', 100_00n, placebet, rollbackbet),
  start('tombstone', 100_00n, rollbackbet),
  // The rollback of an unknown bet names another account than its placebet.
  { name: 'two accounts', opening: 100_00n, yen: 7_00n, before: [] },
  { name: 'two accounts, placed in yen', opening: 100_00n, yen: 7_00n, before: [placebetInYen] },
  start('low balance', 20_00n),
  start('placebet refused before', 20_00n, placebet, deposit(50_00n)),
]

export const startNamed = (name: string) => starts.find(start => start.name === name) as Start
