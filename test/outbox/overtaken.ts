/** A claim that has seen an earlier event of its bet, which another relay removes before the claim is committed. */
import { setTimeout as sleep } from 'node:timers/promises'
import mysql, { type Pool, type RowDataPacket } from 'mysql2/promise'
import { expect } from 'vitest'
import { handlePlaceBet, recordSettlement } from '../../src/index.js'
import type { WalletStore } from '../../src/store.js'
import type { OutboxTable } from '../../src/stores/database/outbox.js'
import { createMysqlStore, migrateMysql } from '../../src/stores/mysql/index.js'
import { mysqlOutbox } from '../../src/stores/mysql/relay.js'
import { placeBet, settlement } from '../fixtures.js'
import type { MariadbServer } from '../mariadb/server.js'

/** Holds updates of the outbox when a relay has decided, and not committed. */
export interface Held {
  store: WalletStore
  /** Of the relay that is held. */
  claiming: OutboxTable
  removing: OutboxTable
  hold(): Promise<void>
  /** Whether an update of `claiming` is held. */
  isHeld(): Promise<boolean>
  /** Whether a session waits for a row that it has locked. */
  isAwaited(): Promise<boolean>
  letGo(): Promise<void>
}

/** `INNODB_TRX` is a copy. InnoDB renews it only if it was not read for 100 ms. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(200)
}

/** The later event must be claimed at once, whatever the order of the two commits. */
export async function overtake(held: Held): Promise<void> {
  const { store, claiming, removing } = held
  const ids = (transactionId: string) => ({ betId: 'held', transactionId, amount: '1' })
  expect(await handlePlaceBet(store, placeBet(ids('p')))).toMatchObject({ ok: true })
  const { claimed: first } = await removing.claim(10, 600_000)
  expect(first.map(({ event }) => event.transactionId)).toEqual(['p'])
  expect(await recordSettlement(store, settlement(ids('s')))).toMatchObject({ ok: true })
  await held.hold()
  const claim = Promise.allSettled([claiming.claim(10, 600_000)])
  await until(held.isHeld)
  let isRemoved = false
  const removal = removing.remove(first).then(errors => {
    isRemoved = true
    return errors
  })
  await until(async () => isRemoved || (await held.isAwaited()))
  await held.letGo()
  const [result] = await claim
  if (result.status === 'fulfilled') expect(result.value.claimed).toEqual([])
  expect(await removal).toEqual([])
  const { claimed: next } = await claiming.claim(10, 600_000)
  expect(next.map(({ event }) => event.transactionId)).toEqual(['s'])
}

/** @param nodes of the relay that is held, and of the other one; twice the same server without a cluster */
export async function overtakeOnMysql(
  nodes: readonly [Pick<MariadbServer, 'config'>, Pick<MariadbServer, 'config'>],
): Promise<void> {
  const schema = 'overtaken'
  const pools = nodes.map(({ config }) => mysql.createPool({ ...config, connectionLimit: 4 })) as [Pool, Pool]
  const [first, other] = pools
  const sessions: number[] = []
  for (const { pool } of pools) pool.on('connection', ({ threadId }) => sessions.push(threadId))
  await first.query(`CREATE DATABASE ${schema}`)
  await migrateMysql(first, { schema, outbox: true })
  await first.query(`INSERT INTO ${schema}.wallet_players VALUES ('alice', 'EUR', 100)`)
  await first.query(
    `CREATE TRIGGER ${schema}.held BEFORE UPDATE ON ${schema}.wallet_outbox FOR EACH ROW
      IF GET_LOCK('${schema}', 60) THEN DO RELEASE_LOCK('${schema}'); END IF`,
  )
  const holder = await first.getConnection()
  // Other tests wait for locks on the same server.
  const count = async (text: string) =>
    Number((await first.query<RowDataPacket[]>(text, [sessions]))[0][0]?.count)
  try {
    await overtake({
      store: createMysqlStore(first, { schema, outbox: true, allowNotDurable: true }),
      claiming: mysqlOutbox(first, schema),
      removing: mysqlOutbox(other, schema),
      hold: async () => void (await holder.query(`SELECT GET_LOCK('${schema}', 60)`)),
      isHeld: async () =>
        (await count(
          "SELECT COUNT(*) AS count FROM information_schema.PROCESSLIST WHERE STATE = 'User lock' AND ID IN (?)",
        )) > 0,
      isAwaited: async () =>
        (await count(
          "SELECT COUNT(*) AS count FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT' AND trx_mysql_thread_id IN (?)",
        )) > 0,
      letGo: async () => void (await holder.query(`SELECT RELEASE_LOCK('${schema}')`)),
    })
  } finally {
    holder.release()
    await first.query(`DROP DATABASE ${schema}`)
    await Promise.all(pools.map(pool => pool.end()))
  }
}
