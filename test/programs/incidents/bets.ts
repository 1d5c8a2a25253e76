/** Incidents about one bet, one player, or one call that is refused. */
import { WalletRefusal } from '../../../src/index.js'
import { hasBalance, uncollected } from './accounts.js'
import type { Incident } from './incident.js'

export const betIncidents: readonly Incident[] = [
  {
    title: 'a duplicate of a placebet, which was replayed',
    alarm: () => 'Player anna says that bet b-17 was taken twice: her app shows two notices about 30.00 EUR.',
    symptom: 'A bet was taken twice; its betId is known',
    ids: { bet: 'b-17' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-17', betId: 'b-17' }, 'lost')
      await platform.placebet({ transactionId: 't-17', betId: 'b-17' })
      await platform.placebet({ transactionId: 't-17', betId: 'b-17' })
    },
    solution: 'The stake was debited once',
  },
  {
    title: 'two transactions for one bet',
    alarm: () =>
      'The platform: our transactions t-21 and t-22 are both for bet b-21. Did you take the stake twice?',
    symptom: 'A bet was taken twice; its betId is known',
    ids: { bet: 'b-21' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-21', betId: 'b-21' })
      await platform.placebet({ transactionId: 't-22', betId: 'b-21' }, 400)
    },
    solution: 'The stake was debited once',
  },
  {
    title: 'a store that breaks its contract',
    alarm: () => 'The platform: bet b-25 was taken twice, by t-25 and t-26. Both were answered 200.',
    symptom: 'A bet was taken twice; its betId is known',
    ids: { bet: 'b-25' },
    async arise({ platform, database }) {
      await platform.placebet({ transactionId: 't-25', betId: 'b-25' })
      await platform.placebet({ transactionId: 't-26', betId: 'b-26' })
      await database.run("UPDATE TRANSACTIONS SET bet_id = 'b-25' WHERE transaction_id = 't-26'")
    },
    solution: 'breaks its contract',
  },
  {
    title: 'two bets with two betIds',
    alarm: () =>
      'Player anna says that 60.00 EUR are missing, but she placed one bet of 30.00 EUR. She knows no betId.',
    symptom: 'Money of a player is missing, or there is too much; no betId is known',
    ids: { player: 'anna' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-31', betId: 'b-31' })
      await platform.placebet({ transactionId: 't-32', betId: 'b-32' })
    },
    solution: 'a bet of its own',
  },
  {
    title: 'other code changed the balance',
    alarm: () => 'Player lena says that 20.00 EUR are missing since her last bets.',
    symptom: 'Money of a player is missing, or there is too much; no betId is known',
    ids: { player: 'lena' },
    async arise({ platform, database }) {
      await platform.placebet({ transactionId: 't-41', betId: 'b-41', playerId: 'lena' })
      await database.run("UPDATE PLAYERS SET balance = balance - 20 WHERE player_id = 'lena'")
      await platform.placebet({ transactionId: 't-42', betId: 'b-42', playerId: 'lena' })
    },
    solution: "Look in the PAM's own ledger",
  },
  {
    title: 'other code changed the balance after the last bet',
    alarm: () => 'Player lena says that 20.00 EUR are missing. She placed one bet of 30.00 EUR.',
    symptom: 'Money of a player is missing, or there is too much; no betId is known',
    ids: { player: 'lena' },
    async arise({ platform, database }) {
      await platform.placebet({ transactionId: 't-45', betId: 'b-45', playerId: 'lena' })
      await database.run("UPDATE PLAYERS SET balance = balance - 20 WHERE player_id = 'lena'")
    },
    solution: "Look in the PAM's own ledger",
  },
  {
    title: 'a bet that a rule of the operator refused',
    alarm: () => 'The platform: placebet t-57 of bet b-57 was refused with LIMIT_EXCEEDED. Why?',
    symptom: 'A placebet was refused, and the platform or the player asks why',
    ids: { bet: 'b-57' },
    async arise({ platformOn, database }) {
      const platform = await platformOn(database.store, {
        authorizeRequest() {
          throw new WalletRefusal('LIMIT_EXCEEDED', 'the limit of the day is reached')
        },
      })
      await platform.placebet({ transactionId: 't-57', betId: 'b-57' }, 400)
    },
    solution: 'your own rule refused it',
  },
  {
    title: 'a late bet after its rollback',
    alarm: () =>
      'The platform: you refused the placebet of bet b-51 with INVALID_BET, and player anna has the funds. Why?',
    symptom: 'A placebet was refused, and the platform or the player asks why',
    ids: { bet: 'b-51' },
    async arise({ platform }) {
      await platform.rollback({ transactionId: 'r-51', betId: 'b-51' })
      await platform.placebet({ transactionId: 't-51', betId: 'b-51' }, 400)
    },
    solution: 'overtook',
  },
  {
    title: 'a bet without the funds for it',
    alarm: () => 'Player anna: my bet b-55 was refused, and I have 100.00 EUR.',
    symptom: 'A placebet was refused, and the platform or the player asks why',
    ids: { bet: 'b-55' },
    async arise({ platform, database }) {
      await database.run("UPDATE PLAYERS SET balance = 10 WHERE player_id = 'anna'")
      await platform.placebet({ transactionId: 't-55', betId: 'b-55' }, 402)
      await database.run("UPDATE PLAYERS SET balance = 100 WHERE player_id = 'anna'")
    },
    solution: 'lower than the stake at that moment',
  },
  {
    title: "a bet in a currency that is not the player's",
    alarm: () => "The platform: all of player kenji's bets are refused since this evening, b-61 for example.",
    symptom: 'A placebet was refused, and the platform or the player asks why',
    ids: { bet: 'b-61' },
    async arise({ platform }) {
      await platform.placebet(
        { transactionId: 't-61', betId: 'b-61', playerId: 'kenji', amount: '12.50' },
        400,
      )
    },
    solution: 'never converts money',
  },
  {
    title: 'an answer that was lost, and the rollback after it',
    alarm: () => 'Player anna: my bet b-71 of 30.00 EUR was confirmed and has vanished. Where is my money?',
    symptom: 'A bet has vanished',
    ids: { bet: 'b-71' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-71', betId: 'b-71' }, 'lost')
      await platform.rollback({ transactionId: 'r-71', betId: 'b-71' })
    },
    solution: 'The player has the stake back',
  },
  {
    title: 'a settlement that the platform never sent',
    alarm: () => 'Player anna won bet b-81 on Saturday. The money is not there.',
    symptom: 'A bet is over, and nothing was credited',
    ids: { bet: 'b-81' },
    arise: ({ platform }) => platform.placebet({ transactionId: 't-81', betId: 'b-81' }),
    solution: 'If it has no credit either, [send the settlement again]',
    async solve({ platform, database }) {
      await platform.settle({ transactionId: 's-81', betId: 'b-81', amount: '55.50' })
      await platform.settle({ transactionId: 's-81', betId: 'b-81', amount: '55.50' })
      await hasBalance(database, 'anna', 125.5)
    },
  },
  {
    title: 'a settlement of a bet that was refused',
    alarm: () => 'Our settlement code: the settlement of bet b-85 is refused with INVALID_BET.',
    symptom: 'A bet is over, and nothing was credited',
    ids: { bet: 'b-85' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-85', betId: 'b-85', amount: '500' }, 402)
      await platform.settle({ transactionId: 's-85', betId: 'b-85' }, 400)
    },
    solution: 'nothing is owed. The platform must not settle it',
  },
  {
    title: "a settlement of an old integration's bet, which was not imported",
    alarm: () =>
      'Our settlement code: the settlement of bet b-91 is refused with INVALID_BET. The player has waited for two days.',
    symptom: 'A bet is over, and nothing was credited',
    ids: { bet: 'b-91' },
    arise: ({ platform }) => platform.settle({ transactionId: 's-91', betId: 'b-91' }, 400),
    solution: 'was not imported',
  },
  {
    title: "a rollback of an old integration's bet, which was not imported",
    alarm: () =>
      'Player anna: bet b-101 was cancelled, and I did not get my 30.00 EUR back. The platform: your answer to our rollback was 200.',
    symptom: 'A rollback was answered 200, and the balance did not change',
    ids: { bet: 'b-101' },
    arise: ({ platform }) => platform.rollback({ transactionId: 'r-101', betId: 'b-101' }),
    solution: 'cut-over',
  },
  {
    title: 'a second rollback',
    alarm: () =>
      'The platform: rollback r-112 of bet b-111 was answered 200, but the balance in the answer did not rise.',
    symptom: 'A rollback was answered 200, and the balance did not change',
    ids: { bet: 'b-111' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-111', betId: 'b-111' })
      await platform.rollback({ transactionId: 'r-111', betId: 'b-111' })
      await platform.rollback({ transactionId: 'r-112', betId: 'b-111' })
    },
    solution: 'once',
  },
  {
    title: 'a rollback of a settled bet',
    alarm: () => 'The platform: rollback r-121 of bet b-121 has been refused with INVALID_BET for an hour.',
    symptom: 'A rollback is refused: `INVALID_BET`',
    ids: { bet: 'b-121' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-121', betId: 'b-121' })
      await platform.settle({ transactionId: 's-121', betId: 'b-121', amount: '30', type: 'VOIDED' })
      await platform.rollback({ transactionId: 'r-121', betId: 'b-121' }, 400)
    },
    solution: 'first sends the unsettlement',
    async solve({ platform, database }) {
      await platform.unsettle({ transactionId: 'u-121', betId: 'b-121', type: 'UNVOIDED' })
      await platform.rollback({ transactionId: 'r-121', betId: 'b-121' })
      await hasBalance(database, 'anna', 100)
    },
  },
  {
    title: 'a player whose currency the PAM changed while bets were open',
    alarm: () =>
      'The platform: rollback r-131 of bet b-131 (player anna) has been refused with INVALID_CURRENCY for an hour.',
    symptom: 'A call for a bet that was taken is refused: `INVALID_CURRENCY`',
    ids: { bet: 'b-131', player: 'anna' },
    async arise({ platform, database }) {
      await platform.placebet({ transactionId: 't-131', betId: 'b-131' })
      await database.run("UPDATE PLAYERS SET currency = 'USD' WHERE player_id = 'anna'")
      await platform.rollback({ transactionId: 'r-131', betId: 'b-131' }, 400)
    },
    solution: 'back to the currency of the bet',
    async solve({ platform, database }) {
      await database.run("UPDATE PLAYERS SET currency = 'EUR' WHERE player_id = 'anna'")
      await platform.rollback({ transactionId: 'r-131', betId: 'b-131' })
      await hasBalance(database, 'anna', 100)
    },
  },
  {
    title: 'a player whom the wallet does not know',
    alarm: () =>
      'The platform: every call for player Anna is refused with INVALID_PLAYER; the last was bet b-141.',
    symptom: 'A call is refused: `INVALID_PLAYER`',
    ids: { bet: 'b-141', player: 'Anna' },
    arise: ({ platform }) =>
      platform.placebet({ transactionId: 't-141', betId: 'b-141', playerId: 'Anna' }, 400),
    solution: 'Compare the id',
  },
  {
    title: 'a player who was forgotten',
    alarm: () => 'The platform: settlement s-151 of bet b-151 (player lena) is refused with INVALID_PLAYER.',
    symptom: 'A call is refused: `INVALID_PLAYER`',
    ids: { bet: 'b-151', player: 'lena' },
    async arise({ platform, database }) {
      await platform.placebet({ transactionId: 't-151', betId: 'b-151', playerId: 'lena' })
      await database.forgetPlayer('lena')
      await database.run("DELETE FROM PLAYERS WHERE player_id = 'lena'")
      await platform.settle({ transactionId: 's-151', betId: 'b-151', playerId: 'lena' }, 400)
    },
    solution: 'was forgotten',
  },
  {
    title: 'a transactionId that was used twice',
    alarm: () => 'The platform: placebet t-161 is answered 409 TRANSACTION_CONFLICT.',
    symptom: 'A call is refused: `TRANSACTION_CONFLICT`',
    ids: { transaction: 't-161' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-161', betId: 'b-161' })
      await platform.placebet({ transactionId: 't-161', betId: 'b-162', amount: '5' }, 409)
    },
    solution: 'an id of its own',
  },
  {
    title: 'an unsettlement, sent twice under two ids',
    alarm: () => 'The platform: unsettlement u-172 of bet b-171 is refused with INVALID_BET.',
    symptom: 'An unsettlement is refused: `INVALID_BET`',
    ids: { bet: 'b-171' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-171', betId: 'b-171' })
      await platform.settle({ transactionId: 's-171', betId: 'b-171', amount: '75' })
      await platform.unsettle({ transactionId: 'u-171', betId: 'b-171' })
      await platform.unsettle({ transactionId: 'u-172', betId: 'b-171' }, 400)
    },
    solution: 'reversed once',
  },
  {
    title: 'an unsettlement that overtook its settlement',
    alarm: () =>
      'The platform: unsettlement u-181 of bet b-181 is answered 503 SETTLEMENT_NOT_FOUND, again and again.',
    symptom: 'An unsettlement is answered 503: `SETTLEMENT_NOT_FOUND`',
    ids: { bet: 'b-181' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-181', betId: 'b-181' })
      await platform.unsettle({ transactionId: 'u-181', betId: 'b-181' }, 503)
    },
    solution: "If the PAM's own ledger has no credit either, [send the settlement]",
    async solve({ platform, database }) {
      await platform.settle({ transactionId: 's-181', betId: 'b-181', amount: '75' })
      await platform.unsettle({ transactionId: 'u-181', betId: 'b-181' })
      await hasBalance(database, 'anna', 70)
    },
  },
  {
    title: 'a resettlement after an unsettlement',
    alarm: () => 'Finance: bet b-191 was paid twice, 75.00 EUR and 60.00 EUR.',
    symptom: 'A bet was paid twice',
    ids: { bet: 'b-191' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-191', betId: 'b-191' })
      await platform.settle({ transactionId: 's-191', betId: 'b-191', amount: '75' })
      await platform.unsettle({ transactionId: 'u-191', betId: 'b-191' })
      await platform.settle({ transactionId: 's-192', betId: 'b-191', amount: '60' })
    },
    solution: 'was corrected',
  },
  {
    title: 'two settlements of one bet',
    alarm: () => 'Finance: bet b-201 was paid twice, 20.00 EUR and 35.50 EUR.',
    symptom: 'A bet was paid twice',
    ids: { bet: 'b-201' },
    async arise({ platform }) {
      await platform.placebet({ transactionId: 't-201', betId: 'b-201' })
      await platform.settle({ transactionId: 's-201', betId: 'b-201', amount: '20' })
      await platform.settle({ transactionId: 's-202', betId: 'b-201', amount: '35.5' })
    },
    solution: 'may have several settlements',
  },
  {
    title: 'a win from which the platform has netted off an uncollected clawback',
    alarm: () => 'Player anna won 80.00 EUR with bet b-212 and got 5.00 EUR.',
    symptom: 'A win was credited too low',
    ids: { player: 'anna' },
    async arise({ platform, database }) {
      await uncollected({ platform, database }, '211')
      await platform.placebet({ transactionId: 't-212', betId: 'b-212', amount: '5' })
      await platform.settle({ transactionId: 's-212', betId: 'b-212', amount: '5' })
    },
    solution: 'nets it off',
  },
  {
    title: 'the same, more than one page ago',
    alarm: () => 'Player anna won 80.00 EUR with bet b-222 and got 5.00 EUR. She plays a lot.',
    symptom: 'A win was credited too low',
    ids: { player: 'anna' },
    async arise({ platform, database }) {
      await uncollected({ platform, database }, '221')
      for (let bet = 1000; bet < 1060; bet += 1)
        await platform.placebet({ transactionId: `t-${bet}`, betId: `b-${bet}`, amount: '0.01' })
      await platform.placebet({ transactionId: 't-222', betId: 'b-222', amount: '1' })
      await platform.settle({ transactionId: 's-222', betId: 'b-222', amount: '5' })
    },
    solution: 'nets it off',
  },
]
