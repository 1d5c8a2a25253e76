/** The GRANT blocks of the pages, right by right, and the calls that need them. */
import { handlePlaceBet, handleRollbackBet, handleUnsettlement, recordSettlement } from 'bet-wallet'
import { expect } from 'vitest'
import type { WalletStore } from '../../src/store.js'
import { codeBlocksOf, readPage, sectionOf } from '../docs/pages.js'
import { placeBet, rollbackBet, settlement, unsettlement } from '../fixtures.js'

/** One right on one object, or on one column: `SELECT (id) ON pam.accounts`. */
export interface Right {
  role: string
  text: string
}

/** Every right that the section Privileges of a page grants. */
export function rightsOf(path: string): Right[] {
  const block = codeBlocksOf(sectionOf(readPage(path), 'Privileges')).find(
    ({ language }) => language === 'sql',
  )
  const grants = [
    ...(block?.code ?? '').matchAll(/^GRANT (.+) ON (SCHEMA |SEQUENCE |PROCEDURE |)(.+) TO (\w+);$/gm),
  ]
  return grants.flatMap(([, privileges = '', kind, objects = '', role = '']) =>
    objects.split(', ').flatMap(object =>
      privileges
        .split(/, (?![^(]*\))/)
        .flatMap(privilege => {
          const [, name, columns] = /^(.+) \((.+)\)$/.exec(privilege) ?? []
          return columns === undefined
            ? [privilege]
            : columns.split(', ').map(column => `${name} (${column})`)
        })
        .map(privilege => ({ role, text: `${privilege} ON ${kind}${object}` })),
    ),
  )
}

/**
 * Every call of a store, with every outcome that needs a statement of its own. Alice needs 100 EUR.
 *
 * @param run makes the ids unique
 */
export async function useStore(
  store: WalletStore & { ready(): Promise<void>; ping(): Promise<unknown> },
  run: string,
) {
  await store.ready()
  await store.ping()
  const id = (name: string) => ({ transactionId: `${name}-${run}`, betId: `${name}-${run}` })
  const accepted = { ok: true }
  // One alone, then several in a batch.
  expect(await handlePlaceBet(store, placeBet({ ...id('one'), amount: '3' }))).toMatchObject(accepted)
  const several = ['two', 'three', 'four'].map(name =>
    handlePlaceBet(store, placeBet({ ...id(name), amount: '1' })),
  )
  for (const outcome of await Promise.all(several)) expect(outcome).toMatchObject(accepted)
  // Replays and refusals are read again from the primary.
  expect(await handlePlaceBet(store, placeBet({ ...id('one'), amount: '3' }))).toMatchObject({
    replayed: true,
  })
  expect(await handlePlaceBet(store, placeBet({ ...id('rich'), amount: '100000000' }))).toMatchObject({
    errorCode: 'INSUFFICIENT_FUNDS',
  })
  const of = (name: string) => ({ transactionId: `${name}-of-one-${run}`, betId: `one-${run}` })
  expect(await recordSettlement(store, settlement({ ...of('settlement'), amount: '6' }))).toMatchObject(
    accepted,
  )
  expect(await handleUnsettlement(store, unsettlement(of('unsettlement')))).toMatchObject(accepted)
  expect(await handleRollbackBet(store, rollbackBet(of('rollback')))).toMatchObject(accepted)
}
