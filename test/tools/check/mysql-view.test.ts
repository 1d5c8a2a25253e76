/** Which columns a view of MySQL or MariaDB shows, from its definition in the catalog. */
import { expect, test } from 'vitest'
import { columnsBehind } from '../../../src/tools/check/mysql-view.js'

const catalog =
  (views: Record<string, string | null>) =>
  async (_: string, values: unknown[] = []) => {
    const name = String(values[1])
    return name in views ? [[views[name] ?? null]] : []
  }
const view = { schema: 'pam', table: 'v', column: 'balance' }
const cents = { schema: 'pam', table: 'accounts', column: 'cents' }

test.each([
  'select `pam`.`accounts`.`id` AS `id`,`pam`.`accounts`.`cents` AS `balance` from `pam`.`accounts`',
  'select `a`.`id` AS `id`,`a`.`cents` AS `Balance` from `pam`.`accounts` `a`',
  'select distinct `a`.`cents` AS `balance` from `pam`.`accounts` `a`',
])('%s', async v => expect(await columnsBehind(catalog({ v }), view)).toEqual([view, cents]))

test('of a join, each table with this column', async () => {
  const v =
    'select `a`.`cents` AS `balance`,`b`.`cents` AS `bonus` from (`pam`.`accounts` `a` join `pam`.`bonuses` `b` on(`b`.`id` = `a`.`id`))'
  expect(await columnsBehind(catalog({ v }), view)).toEqual([view, cents, { ...cents, table: 'bonuses' }])
})

test.each([
  'select `a`.`cents` / 100 AS `balance` from `pam`.`accounts` `a`',
  'select `a`.`bonus` + `a`.`cents` AS `balance` from `pam`.`accounts` `a`',
  'select cast(`a`.`cents` as decimal(18,2)) AS `balance` from `pam`.`accounts` `a`',
])('computed, so that any column may be it: %s', async v => {
  expect(await columnsBehind(catalog({ v }), view)).toEqual([view, { ...cents, column: null }])
})

test('a view over a view', async () => {
  const ask = catalog({
    v: 'select `pam`.`w`.`money` AS `balance` from `pam`.`w`',
    w: 'select `pam`.`accounts`.`cents` AS `money` from `pam`.`accounts`',
  })
  const inner = { schema: 'pam', table: 'w', column: 'money' }
  expect(await columnsBehind(ask, view)).toEqual([view, inner, cents])
})

test('a definition that this user may not see: the right that it needs', async () => {
  await expect(columnsBehind(catalog({ v: null }), view)).rejects.toThrow('SHOW VIEW ON pam.v')
})
