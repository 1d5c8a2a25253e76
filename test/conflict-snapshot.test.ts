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

test('given a conflict of a call that has loaded, when it waits for its next attempt, then it loads again', async () => {
  const placed = snapshot({ bet: bet() })
  const rolledBack = snapshot({ bet: bet({ status: 'ROLLED_BACK', revision: 2 }) })
  const store = scripted([placed, rolledBack], [conflictWith(placed), committed])
  expect(await handleRollbackBet(store, rollbackBet())).toMatchObject({ ok: true })
  expect(store.calls).toEqual(['load', 'commit', 'load', 'commit'])
  expect(store.committed[1]).toMatchObject({ bet: null, transaction: { reason: 'ALREADY_ROLLED_BACK' } })
})

test.each([{ snapshot: null }, { errorCode: null, outcome: null }, {}])(
  'given a conflict with %j, when it has no snapshot, then the records are loaded',
  async fields => {
    const conflict = { status: 'conflict', ...fields } as CommitResult
    const store = scripted([snapshot({ bet: bet(), transaction: transaction() })], [conflict])
    expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true, replayed: true })
    expect(store.calls).toEqual(['commit', 'load'])
    const rolledBack = snapshot({ bet: bet({ status: 'ROLLED_BACK', revision: 2 }) })
    const loading = scripted([snapshot({ bet: bet() }), rolledBack], [conflict, committed])
    expect(await handleRollbackBet(loading, rollbackBet())).toMatchObject({ ok: true })
  },
)

test('given a conflict, when its snapshot is of another player, then STORE_CONTRACT, and nothing else is called', async () => {
  const [account] = snapshot().accounts
  const foreign = { ...snapshot(), accounts: [{ ...account, playerId: 'eve' }] } as WalletSnapshot
  const store = scripted([never], [conflictWith(foreign)], [never])
  const fault = await faultOf(handlePlaceBet(store, placeBet()))
  expect(fault).toMatchObject({ code: 'STORE_CONTRACT' })
  expect(fault.message).toContain('snapshot.accounts[0].playerId must be')
  expect(store.calls).toEqual(['commit'])
})
