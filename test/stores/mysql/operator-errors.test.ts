/**
 * Errors of the operator's code: triggers, constraints, foreign keys, generated columns, hooks. Each is a fault of the one
 * player, whatever its number: nothing is recorded, no clawback is given up, and when the cause is gone the same call
 * succeeds.
 */

import { handlePlaceBet, handleUnsettlement, recordSettlement, type WalletError } from 'bet-wallet'
import { describe, expect, it } from 'vitest'
import { serverErrorOf } from '../../../src/stores/mysql/errors.js'
import { placeBet as placeBetRequest, settlement, unsettlement } from '../../fixtures.js'
import { isMysql } from '../../mysql/engine.js'
import { describeOnServer, placeBet, settle, type Wallet } from './wallet.js'

type Operation = 'placebet' | 'unsettlement' | 'settlement'
const operations: readonly Operation[] = ['placebet', 'unsettlement', 'settlement']

/** What makes the calls of alice fail. SCHEMA stands for the schema. */
interface Cause {
  /** The number of the server's error. */
  errno: number
  install: string
  remove: string
  /** More statements before the migration. */
  ddl?: readonly string[]
  /** The operations that fail; default: all. */
  fails?: readonly Operation[]
  /** What withinTransaction runs for alice. */
  hook?: string
}

const trigger = (body: string, time = 'AFTER'): Pick<Cause, 'install' | 'remove'> => ({
  install: `CREATE TRIGGER SCHEMA.rule ${time} UPDATE ON SCHEMA.accounts FOR EACH ROW
    IF NEW.id = 'alice' THEN ${body}; END IF`,
  remove: 'DROP TRIGGER SCHEMA.rule',
})
const audit = (columns: string, value: string): Pick<Cause, 'ddl' | 'install' | 'remove'> => ({
  ddl: [`CREATE TABLE SCHEMA.audit (id integer AUTO_INCREMENT PRIMARY KEY, ${columns}) ENGINE = InnoDB`],
  ...trigger(`INSERT INTO SCHEMA.audit (value) VALUES (${value})`),
})
const signal = (errno: number, text = 'injected') =>
  `SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = '${text}'`

/** A CHECK that a row does not meet. On MySQL the name of a CHECK is unique in its schema. */
const failedCheck = isMysql ? 3819 : 4025

const causes: [name: string, cause: Cause][] = [
  ['an audit column that is too short', { errno: 1406, ...audit('value varchar(3)', "'too long'") }],
  ['an audit column that is too narrow', { errno: 1264, ...audit('value decimal(3,2)', 'NEW.balance') }],
  ['an expression out of range', { errno: 1690, ...audit('value bigint', 'CAST(0 AS unsigned) - 1') }],
  ['a value of another type', { errno: 1366, ...audit('value integer', 'NEW.id') }],
  ['an audit column that is NOT NULL', { errno: 1048, ...audit('value integer NOT NULL', 'NULL') }],
  ['a CHECK of the audit', { errno: failedCheck, ...audit('value integer, CHECK (value < 0)', '1') }],
  [
    'a CHECK of the audit with the name of the minimum balance',
    {
      errno: failedCheck,
      ...audit(`value integer, CONSTRAINT ${isMysql ? 'audit_least' : 'least'} CHECK (value < 0)`, '1'),
    },
  ],
  [
    'a unique index of the audit',
    {
      errno: 1062,
      ...audit('value integer UNIQUE', '1'),
      ddl: [...(audit('value integer UNIQUE', '1').ddl ?? []), 'INSERT INTO SCHEMA.audit (value) VALUES (1)'],
    },
  ],
  [
    'a foreign key of the audit',
    {
      errno: 1452,
      ...audit('', '1'),
      ddl: [
        'CREATE TABLE SCHEMA.kinds (kind integer PRIMARY KEY) ENGINE = InnoDB',
        'CREATE TABLE SCHEMA.audit (value integer, FOREIGN KEY (value) REFERENCES SCHEMA.kinds (kind)) ENGINE = InnoDB',
      ],
    },
  ],
  [
    'a view with a CHECK OPTION',
    {
      errno: 1369,
      ...trigger('INSERT INTO SCHEMA.audit VALUES (1)'),
      ddl: [
        'CREATE TABLE SCHEMA.base (value integer) ENGINE = InnoDB',
        'CREATE VIEW SCHEMA.audit AS SELECT * FROM SCHEMA.base WHERE value < 1 WITH CHECK OPTION',
      ],
    },
  ],
  ['a table that is missing', { errno: 1146, ...trigger('INSERT INTO SCHEMA.nowhere VALUES (1)') }],
  [
    'a CHECK of another column, which a trigger changes',
    { errno: failedCheck, ...trigger("SET NEW.email = 'none'", 'BEFORE') },
  ],
  [
    'a CHECK of the balance and another column, which a trigger changes',
    {
      errno: failedCheck,
      ...trigger("SET NEW.email = 'none@'", 'BEFORE'),
      ddl: ["ALTER TABLE SCHEMA.accounts ADD CONSTRAINT both_of CHECK (balance > 500 OR email LIKE '%@e%')"],
    },
  ],
  [
    'a trigger that debits too much, so that the minimum balance fails',
    {
      errno: failedCheck,
      ...trigger('SET NEW.balance = IF(NEW.balance < OLD.balance, -1, NEW.balance)', 'BEFORE'),
      fails: ['placebet', 'unsettlement'],
    },
  ],
  [
    'a trigger that sets the balance, so that the minimum balance fails',
    { errno: failedCheck, ...trigger('SET NEW.balance = -1', 'BEFORE') },
  ],
  [
    'a generated column that cannot hold its value',
    {
      errno: 1264,
      ddl: [
        'ALTER TABLE SCHEMA.accounts ADD factor integer DEFAULT 0',
        `ALTER TABLE SCHEMA.accounts ADD product decimal(9,2)
          AS (IF(balance = 140, 0, balance * factor)) STORED`,
      ],
      install: "UPDATE SCHEMA.accounts SET factor = 999999 WHERE id = 'alice'",
      remove: "UPDATE SCHEMA.accounts SET factor = 0 WHERE id = 'alice'",
    },
  ],
  [
    'a unique index of the players’ table, by a trigger',
    {
      errno: 1062,
      ...trigger("SET NEW.email = 'bob@e'", 'BEFORE'),
      ddl: ['CREATE UNIQUE INDEX emails ON SCHEMA.accounts (email)'],
    },
  ],
  ...(
    [
      ['wallet_transactions', 'the primary key', 'value varchar(64) PRIMARY KEY', "'one'"],
      ['wallet_bets', 'the primary key', 'value varchar(64) PRIMARY KEY', "'one'"],
      [
        'wallet_transactions',
        'a key of numbers like our ids',
        'value bigint PRIMARY KEY',
        '230000000000000000',
      ],
      ['wallet_transactions', 'a unique index', 'value varchar(64), UNIQUE KEY audit_once (value)', "'one'"],
      [
        'wallet_transactions',
        'a unique index with a value that looks like a message',
        'value varchar(64), UNIQUE KEY audit_once (value)',
        `"' for key 'wallet_bets_bet_id'"`,
      ],
      ['accounts', 'a key of numbers like our ids', 'value bigint PRIMARY KEY', '230000000000000000'],
    ] as const
  ).map(([table, key, columns, value]): [string, Cause] => [
    `${key} of the audit, by a trigger of ${table}`,
    {
      errno: 1062,
      ddl: [
        `CREATE TABLE SCHEMA.audit (${columns}) ENGINE = InnoDB`,
        `INSERT INTO SCHEMA.audit (value) VALUES (${value})`,
      ],
      install: `CREATE TRIGGER SCHEMA.rule AFTER ${table === 'accounts' ? 'UPDATE' : 'INSERT'} ON SCHEMA.${table}
        FOR EACH ROW IF NEW.${table === 'accounts' ? 'id' : 'player_id'} = 'alice' THEN
          INSERT INTO SCHEMA.audit (value) VALUES (${value}); END IF`,
      remove: 'DROP TRIGGER SCHEMA.rule',
      // The others change a bet that is stored.
      ...(table === 'wallet_bets' && { fails: ['placebet'] }),
    },
  ]),
  ...[1264, 1406, 1690, 1062, 1586, 1644, 3819, 4025, 1105, 1317, 1969].map((errno): [string, Cause] => [
    `a trigger that signals ${errno}`,
    { errno, ...trigger(signal(errno)) },
  ]),
  [
    'a trigger whose message names the minimum balance',
    { errno: 4025, ...trigger(signal(4025, 'CONSTRAINT `least` failed for `SCHEMA`.`accounts`')) },
  ],
  ...[1264, 1406, 1062, 1586, 4025].map((errno): [string, Cause] => [
    `a hook whose table signals ${errno}`,
    {
      errno,
      hook: 'INSERT INTO SCHEMA.ledger VALUES (1)',
      ddl: ['CREATE TABLE SCHEMA.ledger (id integer) ENGINE = InnoDB'],
      install: `CREATE TRIGGER SCHEMA.rule BEFORE INSERT ON SCHEMA.ledger FOR EACH ROW
        ${signal(errno, 'CONSTRAINT `least` failed for `SCHEMA`.`accounts`')}`,
      remove: 'DROP TRIGGER SCHEMA.rule',
    },
  ]),
]

describeOnServer("errors of the operator's code", server => {
  let wallet: Wallet

  /** Each player has two bets of 10; the first is settled with 60. Then the cause is installed. */
  async function open({ ddl = [], hook, install }: Cause): Promise<void> {
    wallet = await server.open({
      ddl: [
        `CREATE TABLE SCHEMA.accounts (id varchar(64) PRIMARY KEY, currency char(3) NOT NULL,
          balance decimal(12,2) NOT NULL, email varchar(64),
          CONSTRAINT least CHECK (balance >= 0), CONSTRAINT mail CHECK (email LIKE '%@%'))
          ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
        `INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', 100, 'alice@e'), ('bob', 'EUR', 100, 'bob@e'),
          ('carol', 'EUR', 100, 'carol@e')`,
        ...ddl,
      ],
      options: {
        connectionsMax: 1,
        players: {
          ...{ table: 'SCHEMA.accounts', id: 'id', idCollation: 'utf8mb4_general_ci' },
          ...{ currency: 'currency', balance: 'balance' },
        },
        ...(hook !== undefined && {
          async withinTransaction(query, pending) {
            if (pending.some(({ changes }) => changes.transaction.playerId === 'alice'))
              await query(hook.replaceAll('SCHEMA', wallet.schema))
          },
        }),
      },
    })
    for (const playerId of ['alice', 'bob', 'carol']) {
      for (const n of [1, 2]) await wallet.store.commit(placeBet(`${playerId}-${n}`, playerId, '10'))
      await wallet.store.commit(settle(`${playerId}-1`, playerId, '60'))
    }
    await wallet.run(install)
  }

  function handle(playerId: string, operation: Operation) {
    const { store } = wallet
    const bet = (n: number) => ({
      playerId,
      betId: `b-${playerId}-${n}`,
      transactionId: `new-${playerId}-${n}`,
    })
    return {
      placebet: () => handlePlaceBet(store, placeBetRequest({ ...bet(3), amount: '10' })),
      unsettlement: () => handleUnsettlement(store, unsettlement(bet(1))),
      settlement: () => recordSettlement(store, settlement({ ...bet(2), amount: '20' })),
    }[operation]()
  }
  const endOf = (call: Promise<unknown>) => call.catch((error: unknown) => error)
  const state = async () => [
    await wallet.recorded(),
    await wallet.balanceOf('alice'),
    await wallet.rows('SELECT bet_id, bet_paid_live, bet_paid_owed FROM SCHEMA.wallet_bets ORDER BY bet_id'),
  ]
  const expectFault = (end: unknown, { errno, hook }: Cause) => {
    // In withinTransaction, COMMIT was not sent: no changes were made.
    const code = hook === undefined ? 'COMMIT_UNKNOWN' : 'UNAVAILABLE'
    expect(end).toMatchObject({ name: 'WalletError', code })
    expect(serverErrorOf((end as WalletError).cause)?.number).toBe(errno)
  }

  describe.each(causes)('%s', (_, cause) => {
    const { fails = operations } = cause
    it('fails the call, which succeeds when the cause is gone', async () => {
      await open(cause)
      const before = await state()
      for (const operation of fails) expectFault(await endOf(handle('alice', operation)), cause)
      expect(await state()).toEqual(before)
      await wallet.run(cause.remove)
      for (const operation of operations) expect(await handle('alice', operation)).toMatchObject({ ok: true })
    })

    it('at the same time as those of others: fails the calls of one player, and no other', async () => {
      await open(cause)
      const calls = ['bob', 'alice', 'carol'].flatMap(playerId =>
        fails.map(each => [playerId, each] as const),
      )
      const ends = await Promise.all(calls.map(([playerId, each]) => endOf(handle(playerId, each))))
      for (const [index, [playerId]] of calls.entries()) {
        if (playerId === 'alice') expectFault(ends[index], cause)
        else expect(ends[index]).toMatchObject({ ok: true })
      }
    })
  })
})
