/** `withinTransaction`: rows of the operator in the same database transaction, refusals, and hooks that fail. */
// cspell:ignore жанна
import { expect, test } from 'vitest'
import { handlePlaceBet } from '../../../src/index.js'
import type { MysqlStoreOptions } from '../../../src/stores/mysql/index.js'
import { placeBet as placement } from '../../fixtures.js'
import { isMysql } from '../../mysql/engine.js'
import { unreadable } from '../../unreadable-errors.js'
import { describeOnServer, placeBet, settle, type Wallet } from './wallet.js'

type Hook = NonNullable<MysqlStoreOptions['withinTransaction']>

describeOnServer('withinTransaction', server => {
  let wallet: Wallet

  const open = async (hook: (ledger: string) => Hook) => {
    let ledger = ''
    wallet = await server.open({
      ddl: [
        'CREATE TABLE SCHEMA.ledger (reference varchar(64) PRIMARY KEY, amount decimal(20,2)) ENGINE = InnoDB',
      ],
      options: { connectionsMax: 1, withinTransaction: (query, pending) => hook(ledger)(query, pending) },
    })
    ledger = `${wallet.schema}.ledger`
    await wallet.store.ready()
  }
  /** Of a commit that is unavailable: what failed in the hook. */
  const failureOf = async (number: number) => {
    const result = await wallet.store.commit(placeBet(number))
    expect(result).toMatchObject({ status: 'unavailable', cause: { code: 'HOOK_FAILED' } })
    return ((result as { cause?: Error }).cause as Error).cause
  }
  const ledgerRows = () => wallet.rows('SELECT COUNT(*) FROM SCHEMA.ledger')

  test('writes its rows, with the references that are answered, once per batch', async () => {
    const calls: number[] = []
    await open(ledger => async (query, pending) => {
      calls.push(pending.length)
      for (const { walletTransactionId, changes } of pending)
        await query(`INSERT INTO ${ledger} VALUES (?, ?)`, [walletTransactionId, changes.transaction.delta])
    })
    const results = await Promise.all([
      wallet.store.commit(placeBet(1, 'alice')),
      wallet.store.commit(placeBet(2, 'bob')),
      wallet.store.commit(placeBet(3, 'unknown-player')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['committed', 'committed', 'conflict'])
    expect(calls).toEqual([2])
    const references = await wallet.rows('SELECT reference FROM SCHEMA.ledger ORDER BY reference')
    expect(references.flat()).toEqual(
      results.flatMap(result => (result.status === 'committed' ? [result.walletTransactionId] : [])).sort(),
    )
  })

  test('a value that the operator’s ledger cannot hold is a fault, never a refusal', async () => {
    await open(ledger => async (query, pending) => {
      for (const { walletTransactionId } of pending)
        await query(`INSERT INTO ${ledger} VALUES (?, 1e30)`, [walletTransactionId])
    })
    expect(await failureOf(1)).toMatchObject({ errno: 1264 })
    expect(await wallet.recorded()).toEqual([])
  })

  test('a reference that the operator’s ledger has already is a fault, no conflict', async () => {
    await open(ledger => async (query, pending) => {
      for (const { walletTransactionId } of [...pending, ...pending])
        await query(`INSERT INTO ${ledger} VALUES (?, 1)`, [walletTransactionId])
    })
    expect(await failureOf(1)).toMatchObject({ errno: 1062 })
    expect(await wallet.recorded()).toEqual([])
  })

  test('a CHECK of the operator’s ledger is a fault, even if it has the name of the CHECK about the balance', async () => {
    await open(ledger => async (query, pending) => {
      for (const { walletTransactionId } of pending)
        await query(`INSERT INTO ${ledger} VALUES (?, -1)`, [walletTransactionId])
    })
    // On MySQL the name of a CHECK is unique in its schema.
    const name = isMysql ? 'ledger_amount' : 'wallet_players_balance'
    await wallet.run(`ALTER TABLE SCHEMA.ledger ADD CONSTRAINT ${name} CHECK (amount >= 0)`)
    expect(await failureOf(1)).toMatchObject({ errno: isMysql ? 3819 : 4025 })
    expect(await wallet.recorded()).toEqual([])
  })

  test('undefined is NULL, as with pg', async () => {
    await open(ledger => async (query, pending) => {
      for (const { walletTransactionId } of pending)
        await query(`INSERT INTO ${ledger} VALUES (?, ?)`, [walletTransactionId, undefined])
    })
    expect(await wallet.store.commit(placeBet(1, 'alice'))).toMatchObject({ status: 'committed' })
    expect(await wallet.rows('SELECT amount FROM SCHEMA.ledger')).toEqual([[null]])
  })

  test('refuses by the operator’s rule; the others of the batch are committed', async () => {
    await open(ledger => async (query, pending) => {
      for (const commit of pending) {
        if (commit.changes.transaction.playerId === 'bob') commit.refuse('LIMIT', 'above the limit')
        await query(`INSERT INTO ${ledger} VALUES (?, ?)`, [commit.walletTransactionId, '1'])
      }
    })
    const results = await Promise.all([
      wallet.store.commit(placeBet(1, 'alice')),
      wallet.store.commit(placeBet(2, 'bob')),
    ])
    expect(results).toMatchObject([{ status: 'committed' }, { status: 'refused', errorCode: 'LIMIT' }])
    expect(await ledgerRows()).toEqual([[1]])
    expect(await wallet.recorded()).toEqual(['placebet t-1 -30'])
  })

  test('that throws: nothing is recorded, and the next commit is not affected', async () => {
    let fails = true
    await open(ledger => async (query, pending) => {
      await query(`INSERT INTO ${ledger} VALUES (?, ?)`, [pending[0]?.walletTransactionId, '1'])
      if (fails) throw new Error('the hook failed')
    })
    expect(await failureOf(1)).toMatchObject({ cause: { message: 'the hook failed' } })
    fails = false
    expect(await wallet.store.commit(placeBet(2))).toMatchObject({ status: 'committed' })
    expect(await ledgerRows()).toEqual([[1]])
    expect(await wallet.recorded()).toEqual(['placebet t-2 -30'])
  })

  test.each(unreadable)(
    'that throws a value %s for one request: the others are committed',
    async (_, make) => {
      await open(() => async (_query, pending) => {
        if (pending.some(({ changes }) => changes.transaction.playerId === 'bob')) throw make()
      })
      const [alice, bob] = await Promise.allSettled([
        wallet.store.commit(placeBet(1, 'alice')),
        wallet.store.commit(placeBet(2, 'bob')),
      ])
      expect(alice).toMatchObject({ value: { status: 'committed' } })
      expect(bob).toMatchObject({ value: { status: 'unavailable' } })
    },
  )

  test('that swallows a deadlock, which has undone everything: nothing is answered as committed', async () => {
    await open(ledger => async query => {
      await query(`INSERT INTO ${ledger} VALUES (?, ?)`, ['a', '1'])
      await query('ROLLBACK').catch(() => {})
    })
    await expect(wallet.store.commit(placeBet(1))).rejects.toThrow(/swallowed a deadlock or ended/)
    expect(await wallet.recorded()).toEqual([])
    expect(await wallet.balanceOf('alice')).toBe('100')
  })

  test('that commits by itself: the recorded transactions are found and replayed', async () => {
    await open(ledger => async (query, pending) => {
      for (const { walletTransactionId } of pending)
        await query(`INSERT INTO ${ledger} VALUES (?, ?)`, [walletTransactionId, '1'])
      await query('COMMIT')
    })
    const placed = [1, 2, 3].map(n =>
      handlePlaceBet(wallet.store, placement({ transactionId: `t-${n}`, betId: `b-${n}`, amount: '30' })),
    )
    for (const outcome of await Promise.all(placed))
      expect(outcome).toMatchObject({ ok: true, replayed: true })
    expect(await wallet.balanceOf('alice')).toBe('10')
    expect(await ledgerRows()).toEqual([[3]])
  })

  test.each<[string, readonly string[]]>([
    ['rolls back to a savepoint of our name', ['ROLLBACK TO SAVEPOINT bet_wallet']],
    ['begins anew with a savepoint of our name', ['ROLLBACK', 'START TRANSACTION', 'SAVEPOINT bet_wallet']],
  ])('that %s: nothing is answered as committed', async (_, statements) => {
    await open(() => async query => {
      for (const statement of statements) await query(statement)
    })
    const placed = wallet.store.commit(placeBet(1)).then(
      ({ status }) => status,
      ({ code }) => code,
    )
    expect(await placed).not.toBe('committed')
    expect(await wallet.recorded()).toEqual([])
    expect(await wallet.balanceOf('alice')).toBe('100')
  })

  test.each([
    'SET NAMES latin1',
    ' set session character_set_results = latin1',
    'SET SESSION character_set_client = latin1',
  ])('that runs %s changes no later answer', async statement => {
    let runs = true
    await open(() => async query => {
      if (runs) await query(statement)
      runs = false
    })
    await wallet.rows("UPDATE SCHEMA.wallet_players SET player_id = 'жанна' WHERE player_id = 'alice'")
    const bet = placement({ playerId: 'жанна', amount: '30' })
    const place = () => handlePlaceBet(wallet.store, bet)
    const first = await place()
    expect(first).toMatchObject({ ok: true, replayed: false })
    expect(await place()).toMatchObject({ ...first, balance: expect.stringMatching(/^70/), replayed: true })
    expect(await wallet.recorded()).toHaveLength(1)
  })

  test('its query does not work afterwards', async () => {
    let late: Parameters<Hook>[0] | null = null
    await open(() => async query => {
      late = query
    })
    await wallet.store.commit(placeBet(1))
    await wallet.store.commit(settle(1))
    await expect((late as unknown as Parameters<Hook>[0])('SELECT 1')).rejects.toThrow(/has ended/)
  })
})
