/** A conflict may return what is current: the next decision needs no load. */
import { expect, test } from 'vitest'
import { handlePlaceBet, handleRollbackBet } from '../src/index.js'
import type { CommitResult, WalletSnapshot } from '../src/store.js'
import { bet, faultOf, placeBet, rollbackBet, snapshot, transaction } from './fixtures.js'
import { scripted } from './scripted-store.js'

const conflictWith = (current: WalletSnapshot): CommitResult => ({ status: 'conflict', snapshot: current })
const committed: CommitResult = { status: 'committed', balance: '70', walletTransactionId: 'W9' }
const never = () => Promise.reject(new Error('must not be called'))

test('given a placebet without a load, when the conflict says that it is recorded, then it is replayed', async () => {
  const recorded = snapshot({ bet: bet(), transaction: transaction() })
  const store = scripted([never], [conflictWith(recorded)], [never])
  expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true, replayed: true })
  expect(store.calls).toEqual(['commit'])
})

test('given a placebet without a load, when the conflict says that nothing hinders it, then it is committed again', async () => {
  const store = scripted([never], [conflictWith(snapshot()), committed], [never])
  expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true, replayed: false })
  expect(store.calls).toEqual(['commit', 'commit'])
})

test('given a rollback that has loaded, when the conflict has the settled bet, then it is decided on that one', async () => {
  const rolledBack = snapshot({ bet: bet({ status: 'ROLLED_BACK', revision: 2 }) })
  const store = scripted([snapshot({ bet: bet() })], [conflictWith(rolledBack), committed], [never])
  expect(await handleRollbackBet(store, rollbackBet())).toMatchObject({ ok: true })
  expect(store.calls).toEqual(['load', 'commit', 'commit'])
  expect(store.committed[1]).toMatchObject({ bet: null, transaction: { reason: 'ALREADY_ROLLED_BACK' } })
})

test('given conflicts, when one has no snapshot, then the records are loaded, and not those of an earlier one', async () => {
  const store = scripted(
    [snapshot({ bet: bet({ status: 'ROLLED_BACK', revision: 2 }) })],
    [conflictWith(snapshot({ bet: bet() })), { status: 'conflict' }, committed],
  )
  expect(await handleRollbackBet(store, rollbackBet())).toMatchObject({ ok: true })
  expect(store.calls).toEqual(['load', 'commit', 'commit', 'load', 'commit'])
})

test('given a conflict, when its snapshot is of another player, then STORE_CONTRACT, and nothing else is called', async () => {
  const [account] = snapshot().accounts
  const foreign = { ...snapshot(), accounts: [{ ...account, playerId: 'eve' }] } as WalletSnapshot
  const store = scripted([never], [conflictWith(foreign)], [never])
  const fault = await faultOf(handlePlaceBet(store, placeBet()))
  expect(fault).toMatchObject({ code: 'STORE_CONTRACT' })
  expect(fault.message).toContain('snapshot.accounts[0].playerId must be')
  expect(store.calls).toEqual(['commit'])
})
