import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noServer } from '../mysql/engine.js'
import { type Replicated, semiSync, startReplicated } from './replica.js'
import { type MariadbServer, withConnection } from './server.js'

const query = (server: MariadbServer, statement: string) =>
  withConnection(server.config, async connection => (await connection.query(statement))[0])

describe('given a primary and a replica', () => {
  let servers: Replicated
  beforeAll(async () => {
    if (noServer !== null) return
    servers = await startReplicated()
    await query(servers.primary, 'CREATE DATABASE shop')
    await query(servers.primary, 'CREATE TABLE shop.paid (amount integer PRIMARY KEY)')
    await servers.caughtUp()
  })
  beforeEach(({ skip }) => skip(noServer !== null, noServer ?? ''))
  afterAll(() => servers?.stop())

  it('the replica refuses writes', async () => {
    await expect(query(servers.replica, 'INSERT INTO shop.paid VALUES (1)')).rejects.toMatchObject({
      errno: 1290,
    })
  })

  it('the replica is behind while it is held, and has everything once it has caught up', async () => {
    await servers.hold()
    // Its commit is answered: the replica has received it.
    await query(servers.primary, 'INSERT INTO shop.paid VALUES (1)')
    expect(await query(servers.replica, 'SELECT * FROM shop.paid')).toEqual([])
    await servers.release()
    await servers.caughtUp()
    expect(await query(servers.replica, 'SELECT * FROM shop.paid')).toEqual([{ amount: 1 }])
  })

  it('a commit waits for the replica', async () => {
    const [status] = (await query(servers.primary, `SHOW STATUS LIKE '${semiSync.status}'`)) as {
      Value: string
    }[]
    expect(status?.Value).toBe('ON')
    servers.replica.pause()
    let answered = false
    const paying = query(servers.primary, 'INSERT INTO shop.paid VALUES (2)').finally(() => {
      answered = true
    })
    // On another connection it can be seen that it waits.
    await expect
      .poll(() => query(servers.primary, `SHOW STATUS LIKE '${semiSync.waiting}'`))
      .toMatchObject([{ Value: '1' }])
    expect(answered).toBe(false)
    servers.replica.resume()
    await paying
  })
})
