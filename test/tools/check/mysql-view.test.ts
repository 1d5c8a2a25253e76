/** Which column a view of MySQL or MariaDB shows, from its definition in the catalog. */
import { expect, test } from 'vitest'
import { columnIn, columnsBehind } from '../../../src/tools/check/mysql-view.js'

const cents = { schema: 'pam', table: 'accounts', column: 'cents' }

test.each([
  'select `pam`.`accounts`.`id` AS `id`,`pam`.`accounts`.`cents` AS `balance` from `pam`.`accounts`',
  'select `a`.`id` AS `id`,`a`.`cents` AS `Balance` from `pam`.`accounts` `a`',
  'select `a`.`cents` AS `balance`,`b`.`cents` AS `bonus` from (`pam`.`accounts` `a` join `pam`.`bonuses` `b` on(`b`.`id` = `a`.`id`))',
  'select distinct `a`.`cents` AS `balance` from `pam`.`bonuses` `b` join `pam`.`accounts` `a`',
])('%s', definition => expect(columnIn(definition, 'balance')).toEqual(cents))

test.each([
  'select `a`.`cents` / 100 AS `balance` from `pam`.`accounts` `a`',
  'select `a`.`bonus` + `a`.`cents` AS `balance` from `pam`.`accounts` `a`',
  'select cast(`a`.`cents` as decimal(18,2)) AS `balance` from `pam`.`accounts` `a`',
  'select `a`.`cents` AS `money` from `pam`.`accounts` `a`',
])('computed, or not there: %s', definition => expect(columnIn(definition, 'balance')).toBeNull())

const catalog =
  (views: Record<string, string | null>) =>
  async (text: string, values: unknown[] = []) => {
    const name = String(values[1])
    if (text.includes('TABLE_TYPE'))
      return name in views ? [['VIEW']] : name === 'accounts' ? [['BASE TABLE']] : []
    return name in views ? [[views[name] ?? null]] : []
  }
const view = { schema: 'pam', table: 'v', column: 'balance' }
const inner = { schema: 'pam', table: 'w', column: 'money' }

test('a view over a view', async () => {
  const ask = catalog({
    v: 'select `pam`.`w`.`money` AS `balance` from `pam`.`w`',
    w: 'select `pam`.`accounts`.`cents` AS `money` from `pam`.`accounts`',
  })
  expect(await columnsBehind(ask, view)).toEqual([view, inner, cents])
})

test.each([
  [{ v: null }, 'SHOW VIEW ON pam.v'],
  [{ v: 'select `pam`.`hidden`.`cents` AS `balance` from `pam`.`hidden`' }, 'pam.hidden does not exist, or'],
  [
    { v: 'select `pam`.`accounts`.`cents` / 100 AS `balance` from `pam`.`accounts`' },
    'does not tell which column',
  ],
])('%j: rejects', async (views, problem) => {
  await expect(columnsBehind(catalog(views), view)).rejects.toThrow(problem)
})
