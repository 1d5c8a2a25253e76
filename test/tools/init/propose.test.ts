/** What `bet-wallet init` proposes for a schema, and what it asks. */
import { describe, expect, test } from 'vitest'
import { moreGrants, playersOf, playersWords, viewStatement } from '../../../src/tools/init/mapping.js'
import { conditionsSql } from '../../../src/tools/init/may-bet.js'
import { projectReport } from '../../../src/tools/init/printed.js'
import { type Answers, propose as proposeWith } from '../../../src/tools/init/propose.js'
import type { DatabaseSchema, Engine, Table } from '../../../src/tools/init/schema.js'
import { schemaOf, table } from './schemas.js'

const accounts = (columns: readonly string[], keys = ['account_no'], more: Partial<Table> = {}) =>
  table('postgres', 'pam.accounts', columns, keys, more)
const plain = ['account_no text', 'currency char(3)', 'balance numeric(18,2)']

/** Who may bet is always asked. */
const propose = (schema: DatabaseSchema, answers: Answers) =>
  proposeWith(schema, { 'may-bet': 'anyone', ...answers })

/** The options of the store, or the questions, or the problem. */
function proposed(schema: DatabaseSchema, answers: Answers = {}) {
  const proposal = propose(schema, answers)
  switch (proposal.status) {
    case 'ready':
      return playersOf(proposal.mapping)
    case 'unclear':
      return proposal.questions.map(({ option, choices }) => [option, ...choices.map(({ value }) => value)])
    case 'impossible':
      return proposal.problem
  }
}

const noStatus =
  'Closed and excluded players can bet, until you refuse them (docs/your-own-code.md#who-may-bet).'

const inPostgres = (...tables: Table[]) => schemaOf('postgres', ...tables)

describe('given one table of players', () => {
  test('with decimals, then all of it is proposed, with reasons', () => {
    const proposal = propose(inPostgres(accounts(plain)), {})
    expect(proposal).toMatchObject({
      status: 'ready',
      reasons: [
        { part: 'players', value: 'pam.accounts', reason: 'it has an id and a balance' },
        { part: 'id', value: 'account_no', reason: 'text, unique' },
        { part: 'currency', value: 'currency', reason: 'char(3), judged by its name' },
        { part: 'balance', value: 'balance', reason: 'numeric(18,2)' },
        { part: 'unit', value: 'whole units', reason: 'numeric(18,2) has decimals' },
        { part: 'may bet', value: 'anyone', reason: 'as stated' },
      ],
      notes: [noStatus],
    })
    expect(proposed(inPostgres(accounts(plain)))).toEqual({
      ...{ table: 'pam.accounts', id: 'account_no', currency: 'currency', balance: 'balance' },
    })
  })

  test('with an integer balance, then the unit is asked, also where the name says cents', () => {
    const cents = inPostgres(accounts(['account_no text', 'currency char(3)', 'balance_cents bigint']))
    expect(proposed(cents)).toEqual([['minor-units', '2', '0', 'EUR=2,JPY=0']])
    expect(proposed(cents, { 'minor-units': '2' })).toMatchObject({
      balanceType: 'minor-units',
      minorUnits: 2,
    })
    const each = proposed(cents, { 'minor-units': 'EUR=2, JPY=0' })
    expect(each).toMatchObject({ minorUnits: { EUR: 2, JPY: 0 } })
  })

  test.each([
    ['varchar(40)', 'text'],
    ['text', 'text'],
    ['numeric', undefined],
  ])(
    'with a balance of %s, then it is asked whether it is in whole units: it may hold cents',
    (type, balanceType) => {
      const unknown = inPostgres(accounts(['account_no text', 'currency char(3)', `balance ${type}`]))
      expect(proposed(unknown)).toEqual([['minor-units', 'none']])
      expect(propose(unknown, { 'minor-units': 'none' })).toMatchObject({
        reasons: [{}, {}, {}, {}, { part: 'unit', value: 'whole units', reason: `as stated; ${type}` }, {}],
      })
      expect(proposed(unknown, { 'minor-units': 'none' })).toEqual({
        ...{ table: 'pam.accounts', id: 'account_no', currency: 'currency', balance: 'balance' },
        ...(balanceType === undefined ? {} : { balanceType }),
      })
      expect(proposed(unknown, { 'minor-units': '2' })).toMatch(
        /^--minor-units 2 is for integers: .* read as whole/,
      )
    },
  )

  test.each([
    ['balance_cents', 'numeric'],
    ['balance_cents', 'numeric(20,2)'],
    ['balance_minor', 'text'],
  ])('with a balance %s %s, then it is refused: a stake of 5.00 would debit 5 cents', (name, type) => {
    const decimals = inPostgres(accounts(['account_no text', 'currency text', `${name} ${type}`]))
    const why = `${type} is read as whole units, but the name says minor units: make it a bigint; if it holds whole units, offer it under another name in a view`
    expect(proposed(decimals)).toContain(`Not usable: pam.accounts.${name} (${why})`)
    expect(proposed(decimals, { players: 'pam.accounts', balance: name })).toBe(`--balance: ${name}: ${why}`)
  })

  test('with a balance of numeric(64,0), then the unit is asked: it is never taken by itself', () => {
    const whole = inPostgres(accounts(['account_no text', 'currency char(3)', 'balance numeric(64,0)']))
    expect(proposed(whole)).toEqual([['minor-units', '2', '0', 'EUR=2,JPY=0']])
    const units = { balance: 'balance', balanceType: 'minor-units' }
    expect(proposed(whole, { 'minor-units': '2' })).toMatchObject({ ...units, minorUnits: 2 })
    expect(proposed(whole, { 'minor-units': '0' })).toMatchObject({ ...units, minorUnits: 0 })
    expect(propose(whole, {})).toMatchObject({ accounts: expect.stringContaining('FROM "pam"."accounts")') })
    const named = inPostgres(accounts(['account_no text', 'currency char(3)', 'balance_cents numeric(20,0)']))
    expect(proposed(named, { 'minor-units': '2' })).toMatchObject({ balance: 'balance_cents', minorUnits: 2 })
  })

  test.each(['cents', '19', '-1', '2.5', 'EUR', 'EUR=2,', 'EUR=19', 'E R=2', 'EUR=2,EUR=3'])(
    'with the answer %j for its unit, then it is a problem',
    units => {
      const cents = inPostgres(accounts(['account_no text', 'currency char(3)', 'balance bigint']))
      expect(proposed(cents, { 'minor-units': units })).toMatch(
        /^--minor-units must be a number such as 2, or EUR=2,JPY=0/,
      )
    },
  )

  test.each([
    ['bigint', 'bigint'],
    ['uuid', 'uuid'],
    ['varchar(64)', undefined],
  ])('with an id of %s, then its type is %s', (type, idType) => {
    const found = proposed(inPostgres(accounts([`id ${type} default`, ...plain.slice(1)], ['id'])))
    expect(found).toEqual({
      ...{ table: 'pam.accounts', id: 'id', currency: 'currency', balance: 'balance' },
      ...(idType === undefined ? {} : { idType }),
    })
  })

  test.each(['double precision', 'real', 'money'])(
    'with a balance of %s, then it is not proposed: it rounds',
    type => {
      const floating = inPostgres(accounts(['account_no text', 'currency text', `balance ${type}`]))
      expect(proposed(floating)).toContain(`pam.accounts.balance (${type} rounds: use decimal(18,2))`)
      expect(proposed(floating, { players: 'pam.accounts', balance: 'balance' })).toBe(
        `--balance: balance: ${type} rounds: use decimal(18,2)`,
      )
    },
  )

  test.each([
    ['numeric(18,1)', 'would round cents'],
    ['numeric(18,-2)', 'would round cents'],
    ['numeric(4,0)', 'too small for money'],
    ['numeric(6,2)', 'too small for money'],
    ['smallint', 'too small for money'],
    ['numeric(18,2) generated', 'computed'],
  ])('with a balance of %s, then it is not proposed: %s', (type, why) => {
    expect(proposed(inPostgres(accounts(['account_no text', 'currency text', `balance ${type}`])))).toContain(
      why,
    )
  })
})

describe('given columns that look like a status', () => {
  const status = ['state text', 'is_blocked boolean null', 'closed_at timestamp null']
  const schemaWith = (engine: Engine, columns = status, more: Partial<Table> = {}) =>
    schemaOf(
      engine,
      table(
        engine,
        'pam.accounts',
        [...plain.with(0, 'account_no varchar(255)'), ...columns],
        ['account_no'],
        more,
      ),
    )

  test('then it is asked who may bet, and never guessed', () => {
    const checks = ["((state = ANY (ARRAY['active'::text, 'closed'::text])))"]
    expect(
      proposeWith(
        schemaWith('postgres', [...status, "level enum('active','closed')", "grade_state enum('A','B')"], {
          checks,
        }),
        {},
      ),
    ).toMatchObject({
      status: 'unclear',
      reasons: [
        { part: 'players' },
        { part: 'id' },
        { part: 'currency' },
        { part: 'balance' },
        { part: 'unit' },
      ],
      questions: [
        {
          ...{ option: 'may-bet', text: expect.stringMatching(/^Who may bet\? /) },
          choices: [
            { value: 'state=…', reason: `text; CHECK ${checks[0]}` },
            { value: 'is_blocked=…', reason: 'boolean: true, false, or null' },
            { value: 'closed_at=null', reason: 'timestamp, or null' },
            { value: 'grade_state=…', reason: 'enum: A, B' },
            { value: 'anyone', reason: 'closed and excluded players too' },
          ],
        },
      ],
    })
  })

  test.each<[string, Engine, string]>([
    ['state=active,trial', 'postgres', `"state" IN ('active', 'trial')`],
    ['state=active', 'mysql', "`state` = 'active'"],
    ["state=o'k\\", 'mysql', "`state` = 'o''k\\\\'"],
    ['is_blocked=false', 'postgres', '"is_blocked" = false'],
    ['is_blocked=FALSE,null', 'postgres', '("is_blocked" = false OR "is_blocked" IS NULL)'],
    ['flag=0', 'mysql', '`flag` = 0'],
    ['flag=true', 'mysql', '`flag` = 1'],
    ['closed_at = NULL', 'postgres', '"closed_at" IS NULL'],
    ['level=1,2; state=active', 'postgres', `"level" IN (1, 2) AND "state" = 'active'`],
    ['grade=A', 'mysql', "`grade` = 'A'"],
  ])('with the answer %j on %s, then the condition is %s', (answer, engine, sql) => {
    const columns = [...status, 'flag tinyint(1)', 'level smallint', "grade enum('A','B')"]
    const proposal = propose(schemaWith(engine, columns), { 'may-bet': answer })
    if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
    expect(conditionsSql(engine, proposal.mapping.mayBet)).toBe(sql)
  })

  test.each<[string, RegExp]>([
    ['no=1', /^--may-bet: pam\.accounts has no column no\. Its columns are account_no, currency/],
    ['grade=C', /^--may-bet grade=C: "C" is no value of grade, which is A, B$/],
    ['grade=a', /"a" is no value of grade, which is A, B$/],
    ['is_blocked=no', /"no" is no value of is_blocked, which is true, false$/],
    ['level=high', /"high" is no value of level, which is smallint$/],
    ['closed_at=2026-01-01', /which is timestamp: only null can be stated$/],
    ['state=active,', /"" is no value of state, which is text$/],
    ['state', /^--may-bet must be as in state=active,trial, or anyone, not "state"$/],
    ['state=a; state=b', /^--may-bet: state is named twice/],
  ])('with the answer %j, then the problem says so', (answer, problem) => {
    const columns = [...status, 'level smallint', "grade enum('A','B')"]
    expect(proposed(schemaWith('postgres', columns), { 'may-bet': answer })).toMatch(problem)
  })

  test('and anyone may bet, or others have a rule, then a note says which are not read', () => {
    expect(propose(schemaWith('postgres', ['state text']), { 'may-bet': 'anyone' })).toMatchObject({
      mapping: { mayBet: [] },
      notes: ['state is not read.', noStatus],
    })
    expect(propose(schemaWith('postgres'), { 'may-bet': 'state=active;closed_at=null' })).toMatchObject({
      reasons: [{}, {}, {}, {}, {}, { part: 'may bet', value: 'state=active; closed_at=null' }],
      notes: ['is_blocked is not read.'],
    })
  })

  test('and a view of the wallet, then it has them', () => {
    const users = table('postgres', 'pam.users', ['id uuid', 'balance numeric(18,2)', 'state text'], ['id'])
    const proposal = propose(inPostgres(users), { currency: 'EUR', 'may-bet': 'state=active' })
    if (proposal.status !== 'ready') throw new Error(proposal.status)
    expect(viewStatement(proposal.mapping)).toMatch(/AS "currency", "balance", "state" FROM/)
    expect(moreGrants(proposal.mapping, 'wallet')).toEqual([
      'GRANT SELECT ("state") ON "pam"."bet_wallet_players" TO "wallet";',
    ])
  })
})

describe('given an amount that is locked', () => {
  const notesOf = (columns: readonly string[]) => {
    const proposal = propose(inPostgres(accounts([...plain, ...columns], ['account_no'])), {
      'may-bet': 'anyone',
    })
    return proposal.status === 'ready' ? proposal.notes.filter(note => note !== noStatus) : proposal
  }

  test.each(['locked', 'reserved_funds', 'blocked_balance', 'pendingWithdrawals'])(
    '%s, then a note names the option that keeps it from stakes',
    name => {
      expect(notesOf([`${name} numeric(18,2)`])).toEqual([
        `${name} is not read. If balance includes it, a stake may use it, or fail with 500 by a CHECK: then add reserved: '${name}' to players in store.ts, --reserved ${name} to migrate (docs/postgres.md#reserved).`,
      ])
    },
  )

  test('and a view of the wallet, then the note names the view too', () => {
    const columns = ['account_no text', 'balance numeric(18,2)', 'locked numeric(18,2)']
    expect(propose(inPostgres(accounts(columns)), { currency: 'EUR' })).toMatchObject({
      notes: [noStatus, expect.stringMatching(/--reserved locked to migrate, and the column to the view \(/)],
    })
  })

  test('as an integer that may be a flag, then it is offered as a status too', () => {
    const flags = ['frozen integer', 'is_locked integer', 'locked_cents integer']
    const schema = inPostgres(accounts([...plain.slice(0, 2), 'balance integer', ...flags]))
    const given = { 'minor-units': '2' }
    expect(proposeWith(schema, given)).toMatchObject({
      questions: [{ choices: [{ value: 'frozen=…' }, { value: 'is_locked=…' }, { value: 'anyone' }] }],
    })
    const notes = (mayBet: string) => {
      const proposal = propose(schema, { ...given, 'may-bet': mayBet })
      return proposal.status === 'ready' ? proposal.notes.map(note => note.split('. ')[0]) : proposal
    }
    expect(notes('frozen=0')).toEqual(['is_locked is not read.', 'locked_cents is not read'])
    expect(notes('is_locked=0')).toEqual(['frozen is not read', 'locked_cents is not read'])
  })

  test('but a state or a time, then it is none', () => {
    expect(notesOf(['blocked_at timestamp', 'is_locked boolean'])).toEqual([
      'blocked_at, is_locked is not read.',
    ])
  })
})

describe('given several candidates', () => {
  const two = ['account_id bigint default', 'account_no text', ...plain.slice(1)]

  test('for the id, then they are asked with their reasons', () => {
    const schema = inPostgres(accounts(two, ['account_id', 'account_no']))
    expect(propose(schema, {})).toMatchObject({
      questions: [
        {
          option: 'id',
          choices: [
            { value: 'account_id', reason: 'bigint, unique' },
            { value: 'account_no', reason: 'text, unique' },
          ],
        },
      ],
    })
    expect(proposed(schema, { id: 'account_id' })).toMatchObject({ id: 'account_id', idType: 'bigint' })
  })

  test('that are personal data or a login, then the id is proposed without them', () => {
    const columns = ['id uuid default', 'email text', 'username text', ...plain.slice(1)]
    const schema = inPostgres(accounts(columns, ['id', 'email', 'username']))
    expect(proposed(schema)).toMatchObject({ id: 'id' })
    expect(JSON.stringify(propose(schema, {}))).toContain('email (personal data')
  })

  test('that are the number of a row and the id of its player, then the number is not taken', () => {
    const columns = ['id integer default', 'userId integer', ...plain.slice(1)]
    const unique = inPostgres(table('postgres', 'public.Wallet', columns, ['id', 'userId']))
    expect(proposed(unique)).toMatchObject({ id: 'userId' })
    expect(propose(unique, {})).toMatchObject({
      reasons: [
        {},
        {
          reason:
            "integer, unique; not id (integer, unique: it numbers the rows of Wallet, and userId is the player's)",
        },
        ...[{}, {}, {}, {}],
      ],
    })
    // It is the only one that the store could use, and still not taken.
    const alone = inPostgres(table('postgres', 'public.Wallet', columns, ['id']))
    expect(proposed(alone)).toEqual([['id', 'id']])
    const text = JSON.stringify(propose(alone, {}))
    expect(text).toContain('Not userId: it is not unique: a player may have several rows.')
    expect(text).toContain(
      JSON.stringify('CREATE UNIQUE INDEX "Wallet_player" ON public."Wallet" ("userId", currency)').slice(
        1,
        -1,
      ),
    )
    expect(propose(alone, { id: 'id' })).toMatchObject({
      notes: [
        "id numbers the rows of Wallet, and userId is the player's: the platform must send id. If it sends userId, bets debit other players.",
        noStatus,
      ],
    })
    // Before anything is created.
    expect(proposed(alone, { id: 'userId' })).toMatch(/^--id: userId: it is not unique: a player may/)
  })

  test('of which a foreign key leads to a player, then it is the id, whatever its name', () => {
    const columns = ['id integer default', 'holder integer', ...plain.slice(1)]
    const foreignKeys = [{ column: 'holder', to: { schema: 'pam', table: 'users', column: 'id' } }]
    const rows = inPostgres(table('postgres', 'pam.wallets', columns, ['id', 'holder'], { foreignKeys }))
    expect(proposed(rows)).toMatchObject({ id: 'holder' })
  })

  test("of which several are the player's own, then these come before the number of the row", () => {
    const columns = ['id integer default', 'user_id integer', 'player_ref text', ...plain.slice(1)]
    const rows = inPostgres(table('postgres', 'pam.wallets', columns, ['id', 'user_id', 'player_ref']))
    expect(proposed(rows)).toEqual([['id', 'user_id', 'player_ref', 'id']])
  })

  test('that are an id and a name of the player, then they are asked', () => {
    const named = table(
      'postgres',
      'pam.wallets',
      ['id integer', 'player_name text', ...plain.slice(1)],
      ['id', 'player_name'],
    )
    expect(proposed(inPostgres(named))).toMatchObject({ id: 'player_name' })
  })

  test('of which the one of the player is not unique, then it is asked, and why', () => {
    const columns = ['id int default', 'player_id int', 'currency char(3)', 'amount decimal(15,2)']
    const several = schemaOf('mysql', table('mysql', 'pam.balances', columns, ['id']))
    expect(proposed(several)).toEqual([['id', 'id']])
    expect(JSON.stringify(propose(several, {}))).toContain(
      'Not player_id: it is not unique: a player may have several rows. Name a view of one row each; or, if there is one, CREATE UNIQUE INDEX balances_player ON pam.balances (player_id, currency)',
    )
  })

  test('for the balance, then they are asked; a bonus is no reason to ask', () => {
    const available = inPostgres(accounts([...plain, 'available_balance numeric(18,2)']))
    expect(proposed(available)).toEqual([['balance', 'balance', 'available_balance']])
    const bonus = inPostgres(accounts([...plain, 'bonus_balance numeric(18,2)']))
    expect(proposed(bonus)).toMatchObject({ balance: 'balance' })
    expect(JSON.stringify(propose(bonus, {}))).toContain('not bonus_balance')
  })

  test('for the table, then they are asked; tables of something else are not among them', () => {
    const wallets = table('postgres', 'pam.wallets', ['player_id bigint', ...plain.slice(1)], ['player_id'])
    const agents = table('postgres', 'pam.agents', ['id bigint', 'balance numeric(18,2)'], ['id'])
    const bookings = table(
      'postgres',
      'pam.ledger_entries',
      ['id bigint', 'balance_after numeric(18,2)'],
      ['id'],
    )
    const shops = table('postgres', 'pam.shops', ['id bigint', 'balance numeric(18,2)'], ['id'])
    expect(proposed(inPostgres(accounts(plain), wallets, agents, bookings, shops))).toEqual([
      ['players', 'pam.accounts', 'pam.wallets'],
    ])
    const beside = propose(inPostgres(accounts(plain), agents, bookings, shops), {})
    expect(beside).toMatchObject({
      reasons: [{ reason: expect.stringContaining('not of players: pam.shops') }, {}, {}, {}, {}, {}],
    })
    expect(proposed(inPostgres(accounts(plain), wallets), { players: 'pam.wallets' })).toMatchObject({
      ...{ table: 'pam.wallets', id: 'player_id' },
    })
  })

  test('for the currency, then they are asked', () => {
    const schema = inPostgres(accounts([...plain, 'wallet_currency text']))
    expect(proposed(schema)).toEqual([['currency', 'currency', 'wallet_currency']])
  })

  test('of which none is likely, then one alone is not taken without asking', () => {
    const display = inPostgres(
      accounts(['account_no text', 'display_currency char(3)', 'balance numeric(18,2)']),
    )
    expect(proposed(display)).toEqual([['currency', 'display_currency']])
    expect(JSON.stringify(propose(display, {}))).toContain(
      'char(3); its name says that it is not the currency of the balance',
    )
    expect(proposed(display, { currency: 'display_currency' })).toMatchObject({
      currency: 'display_currency',
    })
    const bonus = inPostgres(accounts(['account_no text', 'currency text', 'bonus_balance numeric(18,2)']))
    expect(proposed(bonus, { players: 'pam.accounts' })).toEqual([['balance', 'bonus_balance']])
    const login = inPostgres(accounts(['username text', ...plain.slice(1)], ['username']))
    expect(proposed(login)).toEqual([['id', 'username']])
  })

  describe('of which none is likely, and the code of all players', () => {
    const answered = (columns: readonly string[], keys = ['account_no'], currency = 'EUR') => {
      const proposal = propose(
        inPostgres(accounts(['account_no text', 'balance numeric(18,2)', ...columns], keys)),
        { currency },
      )
      if (proposal.status === 'impossible') return proposal.problem
      return proposal.status === 'ready' ? viewStatement(proposal.mapping) : proposal
    }

    test.each([
      ["asset enum('EUR','BTC')", 'asset'],
      ['denomination varchar(8)', 'denomination'],
      ['base_currency char(3)', 'base_currency'],
      // Its values say what its name does not.
      ["kind enum('EUR','BTC')", 'kind'],
    ])('with %s, then the rows of other currencies are no players', (column, name) => {
      expect(answered([column])).toMatch(new RegExp(`FROM "pam"\\."accounts" WHERE "${name}" = 'EUR'$`))
    })

    test('with several, then it is refused', () => {
      expect(answered(['asset text', 'denomination text'])).toBe(
        '--currency EUR: each of asset, denomination may be the currency of a row of pam.accounts: name one, or a view of the rows in EUR (--players)',
      )
      expect(answered(['currency text', 'wallet_currency text'])).toMatch(/each of currency, wallet_currency/)
      expect(answered(['display_currency text', 'currency_id integer'])).toMatch(/no code: currency_id/)
    })

    test('with one in the key, then it is that', () => {
      expect(answered(['base_currency char(3)', 'asset text'], ['account_no base_currency'])).toMatch(
        /WHERE "base_currency" = 'EUR'$/,
      )
    })
  })

  test('then all questions of a table come at once', () => {
    const schema = inPostgres(accounts(['id bigint', 'account_no text', 'cash bigint'], ['id', 'account_no']))
    expect(proposed(schema, { players: 'pam.accounts' })).toEqual([
      ['id', 'id', 'account_no'],
      ['currency'],
      ['minor-units', '2', '0', 'EUR=2,JPY=0'],
    ])
  })
})

describe('given a table without a currency that the store can read', () => {
  const single = inPostgres(accounts(['account_no text', 'balance numeric(18,2)']))

  test('then the code of all players is asked, and a view has it', () => {
    expect(proposed(single)).toEqual([['currency']])
    const proposal = propose(single, { currency: 'EUR' })
    if (proposal.status !== 'ready') throw new Error(proposal.status)
    expect(playersOf(proposal.mapping)).toMatchObject({
      table: 'pam.bet_wallet_players',
      currency: 'currency',
    })
    expect(viewStatement(proposal.mapping)).toBe(
      `CREATE OR REPLACE VIEW "pam"."bet_wallet_players" AS SELECT "account_no", 'EUR'::text AS "currency", "balance" FROM "pam"."accounts"`,
    )
  })

  test('but the number of one, then the question says why it is not used', () => {
    const numbered = inPostgres(accounts(['account_no text', 'currency_id integer', 'balance numeric(18,2)']))
    expect(JSON.stringify(propose(numbered, {}))).toContain('currency_id is not usable: integer is no code')
    expect(JSON.stringify(propose(numbered, {}))).not.toContain('(EUR)')
  })

  test('but the number of one, then the code of all players is refused: others would be debited as it', () => {
    const numbered = inPostgres(accounts(['account_no text', 'currency_id integer', 'balance numeric(18,2)']))
    expect(proposed(numbered, { currency: 'EUR' })).toMatch(
      /^--currency EUR: pam\.accounts has a currency that is no code: currency_id \(integer\)\. Create a view with the code as text.*CASE p\."currency_id" WHEN 1 THEN 'EUR' WHEN 2 THEN 'USD' END AS currency .*one with a join cannot be updated\)$/,
    )
  })

  describe('but a foreign key to one', () => {
    const referring = (engine: Engine, codes: readonly string[], more: readonly string[] = []) => {
      const text = engine === 'postgres' ? 'text' : 'varchar(64)'
      const columns = [`account_no ${text}`, 'currency_id int', 'balance decimal(18,2)', ...more]
      const foreignKeys = [
        { column: 'currency_id', to: { schema: 'pam', table: 'currencies', column: 'id' } },
      ]
      return schemaOf(
        engine,
        table(engine, 'pam.accounts', columns, ['account_no'], { foreignKeys }),
        table(engine, 'pam.currencies', ['id int', ...codes], ['id']),
      )
    }
    const codes = ['name varchar(40)', 'iso_code char(3)', 'numeric_code char(3)', 'symbol varchar(3)']

    test('then a view takes its code by a subquery, which leaves the balance updatable', () => {
      const proposal = propose(referring('postgres', codes), {})
      if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
      expect(playersOf(proposal.mapping)).toMatchObject({
        table: 'pam.bet_wallet_players',
        currency: 'currency',
      })
      expect(viewStatement(proposal.mapping)).toBe(
        `CREATE OR REPLACE VIEW "pam"."bet_wallet_players" AS SELECT "account_no", (SELECT c."iso_code" FROM "pam"."currencies" c WHERE c."id" = player."currency_id")::text AS "currency", "balance" FROM "pam"."accounts" player`,
      )
      expect(proposal.reasons).toContainEqual({
        ...{ part: 'currency', value: 'currency_id.iso_code' },
        reason: 'char(3) of pam.currencies, behind the foreign key currency_id',
      })
    })

    test('with two codes, then they are asked', () => {
      const two = referring('postgres', ['iso char(3)', 'code varchar(5)'])
      expect(proposed(two)).toEqual([['currency', 'currency_id.iso', 'currency_id.code']])
      expect(proposed(two, { currency: 'currency_id.code' })).toMatchObject({ currency: 'currency' })
    })

    test('beside a column with a code, then they are asked', () => {
      const both = referring('postgres', codes, ['currency char(3)'])
      expect(proposed(both)).toEqual([['currency', 'currency', 'currency_id.iso_code']])
    })

    test('of a name that says nothing, then the code of all players is refused', () => {
      const [accounts, currencies] = referring('postgres', codes).tables
      const named = (name: string) => (name === 'currency_id' ? 'cur' : name)
      const renamed = {
        ...(accounts as Table),
        columns: accounts?.columns.map(each => ({ ...each, name: named(each.name) })) ?? [],
        foreignKeys: accounts?.foreignKeys.map(each => ({ ...each, column: 'cur' })) ?? [],
      }
      const schema = schemaOf('postgres', renamed, currencies as Table)
      expect(proposed(schema, { currency: 'EUR' })).toMatch(/^--currency EUR: .* no code: cur \(int\)/)
    })

    test('on MySQL, where such a view cannot be updated, then the question has one that can', () => {
      const schema = referring('mysql', codes)
      expect(JSON.stringify(propose(schema, {}))).toContain(
        "CREATE VIEW `pam`.`wallet_accounts` AS SELECT p.*, CASE p.`currency_id` WHEN 1 THEN 'EUR' WHEN 2 THEN 'USD' END AS currency FROM `pam`.`accounts` p (one with a subquery cannot be updated)",
      )
      expect(proposed({ ...schema, updatesSubqueries: true })).toMatchObject({
        table: 'pam.bet_wallet_players',
      })
    })
  })

  describe('but a foreign key to a table of something else, which has one', () => {
    const branded = (engine: Engine, ...more: Table[]) => {
      const columns = ['account_no varchar(64)', 'brand_id int', 'balance decimal(18,2)']
      const foreignKeys = [{ column: 'brand_id', to: { schema: 'pam', table: 'brands', column: 'id' } }]
      return schemaOf(
        engine,
        table(engine, 'pam.accounts', columns, ['account_no'], { foreignKeys }),
        table(engine, 'pam.brands', ['id int', 'name varchar(40)', 'currency char(3)'], ['id']),
        ...more,
      )
    }

    test('then it is offered, but not taken without asking', () => {
      const schema = branded('postgres')
      expect(proposed(schema)).toEqual([['currency', 'brand_id.currency']])
      const proposal = propose(schema, { currency: 'brand_id.currency' })
      if (proposal.status !== 'ready') throw new Error(proposal.status)
      expect(viewStatement(proposal.mapping)).toContain('(SELECT c."currency" FROM "pam"."brands" c')
    })

    test('then the code of all players has a warning', () => {
      for (const engine of ['postgres', 'mysql'] as const)
        expect(propose(branded(engine), { currency: 'EUR' })).toMatchObject({
          notes: [noStatus, 'A player whose brand_id.currency is not EUR would bet in EUR.'],
        })
    })

    test('on MySQL, then the question names the table, its column, and a view that can be updated', () => {
      const text = JSON.stringify(propose(branded('mysql'), {}))
      expect(text).toContain('which code (EUR) is the only one, of all players?')
      expect(text).toContain('brand_id leads to pam.brands.currency. Create a view with the code as text')
      expect(text).toContain(
        "CASE p.`brand_id` WHEN 1 THEN 'EUR' WHEN 2 THEN 'USD' END AS currency FROM `pam`.`accounts` p",
      )
    })

    test('and a view with all of it, then the question names it', () => {
      const columns = ['account_no varchar(64)', 'currency char(3)', 'balance decimal(18,2)']
      const view = table('mysql', 'pam.v_accounts', columns, [], { isView: true, storage: null })
      expect(JSON.stringify(propose(branded('mysql', view), {}))).toContain(
        'With a currency: --players pam.v_accounts.',
      )
    })
  })

  test('but an enum of PostgreSQL, then the store reads it', () => {
    const schema = inPostgres(
      accounts(['account_no text', "currency enum('EUR','USD')", 'balance numeric(18,2)']),
    )
    const [table] = schema.tables
    const columns = table?.columns.map(each =>
      each.type === 'enum' ? { ...each, type: 'user-defined' } : each,
    )
    expect(proposed(inPostgres({ ...(table as Table), columns: columns ?? [] }))).toMatchObject({
      table: 'pam.accounts',
      currency: 'currency',
    })
  })

  test('but another type of PostgreSQL, such as citext, then a view casts it', () => {
    const schema = inPostgres(accounts(['account_no text', 'currency user-defined', 'balance numeric(18,2)']))
    const proposal = propose(schema, {})
    if (proposal.status !== 'ready') throw new Error(proposal.status)
    expect(viewStatement(proposal.mapping)).toContain(
      'SELECT "account_no", "currency"::text AS "currency", "balance"',
    )
  })

  const rowsOf = (columns: readonly string[], keys: readonly string[], more: Partial<Table> = {}) =>
    inPostgres(table('postgres', 'pam.wallets', columns, keys, more))
  const perCurrency = ['player_id bigint', 'currency char(3)', 'balance numeric(18,2)']

  test('with a row per player and currency, then a player has an account in each', () => {
    const rows = rowsOf(['id bigint', ...perCurrency], ['id', 'player_id currency'])
    expect(proposed(rows)).toEqual({
      ...{ table: 'pam.wallets', id: 'player_id', idType: 'bigint', currency: 'currency' },
      ...{ accountPerCurrency: true, balance: 'balance' },
    })
    const proposal = propose(rows, {})
    if (proposal.status !== 'ready') throw new Error(proposal.status)
    expect(playersWords(proposal.mapping).join(' ')).toContain(
      '--currency currency --account-per-currency --balance balance',
    )
  })

  test('with such rows and a code, then a view has those of the code', () => {
    const proposal = propose(rowsOf(perCurrency, ['player_id currency']), { currency: 'EUR' })
    if (proposal.status !== 'ready') throw new Error(proposal.status)
    expect(viewStatement(proposal.mapping)).toMatch(
      /SELECT "player_id", "currency", "balance" FROM "pam"."wallets" WHERE "currency" = 'EUR'$/,
    )
  })

  test('with the view of an earlier try, then it is dropped first, and a note says so', () => {
    const old = table('postgres', 'pam.bet_wallet_players', ['id bigint'], [], { isView: true })
    const rows = table('postgres', 'pam.wallets', perCurrency, ['player_id currency'])
    const proposal = propose(inPostgres(rows, old), { currency: 'EUR' })
    if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
    expect(proposal.notes).toContainEqual(
      expect.stringMatching(/^pam.bet_wallet_players exists, of an earlier/),
    )
    const { mapping } = proposal
    const report = projectReport({
      mapping,
      folder: '.',
      packages: '.',
      paths: [],
      additions: [],
      needsUrl: false,
    })
    const text = JSON.stringify(report)
    expect(text.indexOf('DROP VIEW')).toBeGreaterThan(0)
    expect(text.indexOf('DROP VIEW')).toBeLessThan(text.indexOf('CREATE OR REPLACE VIEW'))
  })

  test.each([
    ['the currency first in the key', perCurrency, 'currency player_id'],
    ['a currency that may be NULL', perCurrency.with(1, 'currency char(3) null'), 'player_id currency'],
  ])('with such rows, but %s, then it is asked, and what must be changed', (_, columns, key) => {
    const rows = rowsOf(columns, [key])
    expect(proposed(rows)).toEqual([['currency']])
    expect(JSON.stringify(propose(rows, {}))).toContain(
      'currency must be NOT NULL, with a unique index on (player_id, currency) in this order.',
    )
  })

  test('with a key of three columns, then no column is the id, and a code makes no view', () => {
    const rows = rowsOf(['id bigint', 'kind text', ...perCurrency], ['id', 'player_id kind currency'])
    expect(proposed(rows)).toEqual([['id', 'id']])
    for (const currency of ['currency', 'EUR'])
      expect(proposed(rows, { id: 'player_id', currency })).toMatch(
        /^--id: player_id: it is not unique but together with kind, currency: a player may have several rows/,
      )
  })

  test.each([
    ["asset enum('BTC','USDT')", 'asset'],
    ['coin varchar(10)', 'coin'],
    ['token text', 'token'],
    ['asset_code text', 'asset_code'],
  ])('but a column %s in its key, then it is the currency', (column, currency) => {
    const rows = rowsOf(perCurrency.with(1, column), [`player_id ${currency}`])
    const own = rows.tables[0]?.columns.map(each => (each.type === 'enum' ? { ...each, type: 'text' } : each))
    const schema = inPostgres({ ...(rows.tables[0] as Table), columns: own ?? [] })
    expect(proposed(schema)).toMatchObject({ id: 'player_id', currency, accountPerCurrency: true })
  })

  test('but another text in its key, then it is asked, and a code filters its rows', () => {
    const rows = rowsOf(perCurrency.with(1, 'type varchar(10)'), ['player_id type'])
    expect(proposed(rows)).toEqual([['currency', 'type']])
    expect(proposed(rows, { currency: 'type' })).toMatchObject({ currency: 'type', accountPerCurrency: true })
    const proposal = propose(rows, { currency: 'GC' })
    if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
    expect(viewStatement(proposal.mapping)).toMatch(/WHERE "type" = 'GC'$/)
  })

  test('but a token of something else, or an amount, then none is offered', () => {
    const columns = ['player_id text', 'access_token text', 'coin_balance numeric(18,2)']
    expect(proposed(rowsOf(columns, ['player_id']), { currency: 'COIN' })).toMatchObject({
      currency: 'currency',
    })
    expect(proposed(rowsOf(columns, ['player_id']))).toEqual([['currency']])
  })
})

describe('given the status of a player in another table', () => {
  const wallets = (more: Partial<Table>) =>
    table('postgres', 'pam.wallets', ['user_id bigint', ...plain.slice(1)], ['user_id'], more)
  const users = table(
    'postgres',
    'pam.users',
    ['id bigint', 'email text', "status enum('active','excluded')", 'deleted_at timestamp null'],
    ['id'],
  )
  const foreignKeys = [{ column: 'user_id', to: { schema: 'pam', table: 'users', column: 'id' } }]

  test.each([
    ['a foreign key', { foreignKeys }],
    ['its name', {}],
  ])('to which %s leads, then it is offered', (_, more) => {
    const schema = inPostgres(wallets(more), users)
    expect(proposeWith(schema, {})).toMatchObject({
      status: 'unclear',
      questions: [
        {
          option: 'may-bet',
          choices: [
            { value: 'users.status=…', reason: 'enum: active, excluded' },
            { value: 'users.deleted_at=null', reason: 'timestamp, or null' },
            { value: 'anyone' },
          ],
        },
      ],
    })
    const proposal = propose(schema, { 'may-bet': 'users.status=active; users.deleted_at=null' })
    if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
    expect(conditionsSql('postgres', proposal.mapping.mayBet.slice(0, 1))).toBe(
      `EXISTS (SELECT 1 FROM "pam"."users" person WHERE person."id" = player."user_id" AND person."status" = 'active')`,
    )
    expect(moreGrants(proposal.mapping, 'wallet')).toEqual([
      'GRANT SELECT ("user_id") ON "pam"."wallets" TO "wallet";',
      'GRANT SELECT ("id", "status") ON "pam"."users" TO "wallet";',
      'GRANT SELECT ("id", "deleted_at") ON "pam"."users" TO "wallet";',
    ])
  })

  test.each([
    ['accounts', ['accounts.status=…', 'anyone']],
    ['self_checks', ['self_checks.status=…', 'anyone']],
    ['brands', ['anyone']],
    ['currencies', ['anyone']],
    ['operators', ['anyone']],
  ])(
    'in %s, to which a foreign key leads, then it is offered unless the row is of many players',
    (name, values) => {
      const to = table('postgres', `pam.${name}`, ['id bigint', 'status text'], ['id'])
      const key = { column: 'of_id', to: { schema: 'pam', table: name, column: 'id' } }
      const columns = ['user_id bigint', 'of_id bigint', ...plain.slice(1)]
      const from = table('postgres', 'pam.wallets', columns, ['user_id'], { foreignKeys: [key] })
      expect(proposeWith(inPostgres(from, to), { players: 'pam.wallets' })).toMatchObject({
        questions: [{ option: 'may-bet', choices: values.map(value => ({ value })) }],
      })
    },
  )

  test('of another schema, then its use is granted too', () => {
    const elsewhere = { ...users, schema: 'people' }
    const to = { schema: 'people', table: 'users', column: 'id' }
    const schema = inPostgres(wallets({ foreignKeys: [{ column: 'user_id', to }] }), elsewhere)
    const proposal = propose(schema, { 'may-bet': 'users.status=active; users.deleted_at=null' })
    if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
    expect(moreGrants(proposal.mapping, 'wallet').filter(each => each.includes('USAGE'))).toEqual([
      'GRANT USAGE ON SCHEMA "people" TO "wallet";',
    ])
  })

  test('without a status anywhere, then anyone must be stated', () => {
    expect(proposeWith(inPostgres(wallets({})), {})).toMatchObject({
      questions: [
        {
          text: expect.stringMatching(/No column of pam.wallets looks like a status/),
          choices: [{ value: 'anyone' }],
        },
      ],
    })
  })

  test.each([
    'deleted_at',
    'disabled_at',
    'locked_at',
    'terminated_at',
    'frozen',
    'enabled',
    'kycStatus',
    'may_bet',
  ])('%s is known as one', name => {
    const schema = inPostgres(accounts([...plain, `${name} timestamp null`]))
    expect(proposeWith(schema, {})).toMatchObject({
      questions: [{ choices: [{ value: `${name}=null` }, {}] }],
    })
  })
})

describe('given a table of entries', () => {
  const wallets = table(
    'postgres',
    'pam.wallets',
    ['id bigint default', 'player_id text', ...plain.slice(1)],
    ['id', 'player_id'],
  )
  const entries = (name: string, columns: readonly string[], more: Partial<Table> = {}) =>
    table(
      'postgres',
      `pam.${name}`,
      ['id bigint default', ...columns, 'amount numeric(18,2)', 'created_at timestamp default'],
      ['id'],
      more,
    )
  const foreignKeys = [{ column: 'of', to: { schema: 'pam', table: 'wallets', column: 'id' } }]

  test.each([
    ['wallet_entries', ['wallet_id bigint'], {}],
    ['transactions', ['player_id text', 'balance_after numeric(18,2)'], {}],
    ['movements', ['of bigint'], { foreignKeys }],
  ])('%s, then a note says that bets will not stand there', (name, columns, more) => {
    const proposal = propose(inPostgres(wallets, entries(name, columns, more)), { players: 'pam.wallets' })
    expect(proposal).toMatchObject({
      notes: [noStatus, expect.stringMatching(new RegExp(`^Bets will not stand in pam.${name}\\. `))],
    })
  })

  const noteOf = (...tables: Table[]) => {
    const proposal = propose(inPostgres(...tables), { players: 'pam.wallets' })
    return proposal.status === 'ready' ? proposal.notes.find(note => note.startsWith('Bets')) : proposal
  }
  const toWallet = { column: 'wallet_id', to: { schema: 'pam', table: 'wallets', column: 'id' } }
  const noHook = 'add them yourself: no hook could be written. Do it in withinTransaction'

  test.each([
    ['credit', ['amount numeric(18,2)'], /complete addEntries in store\.ts, which is of credit, and call it/],
    ['operations', ['amount numeric(18,2)', 'balance_after numeric(18,2)'], /of operations, and call it/],
    ['wallet_logs', ['debit numeric(18,2)', 'credit numeric(18,2)'], new RegExp(noHook)],
    ['actions', ['withdraw integer', 'deposit integer'], new RegExp(noHook)],
    ['lines', ['entry_side text', 'amount numeric(18,2)'], /addEntries in store\.ts/],
    ['shops', ['amount numeric(18,2)'], undefined],
    ['stays', ['name text', 'side text'], undefined],
  ])('%s with %j, which refers to the wallet, then by its columns', (name, columns, note) => {
    const more = { foreignKeys: [toWallet] }
    const found = noteOf(
      wallets,
      table('postgres', `pam.${name}`, ['wallet_id bigint', ...columns], [], more),
    )
    if (note === undefined) expect(found).toBeUndefined()
    else expect(found).toMatch(note)
  })

  test('of an account that belongs to one wallet alone, then the note too, and the hook', () => {
    const to = { schema: 'pam', table: 'ledger_accounts', column: 'id' }
    const columns = ['player_id text', 'account bigint', 'brand bigint', ...plain.slice(1)]
    const brand = { column: 'brand', to: { ...to, table: 'brands' } }
    const owner = table('postgres', 'pam.wallets', columns, ['player_id', 'account'], {
      foreignKeys: [{ column: 'account', to }, brand],
    })
    const ofAccount = entries('postings', ['of bigint'], { foreignKeys: [{ column: 'of', to }] })
    expect(noteOf(owner, ofAccount)).toMatch(/which is of postings/)
    // Many wallets have this brand.
    expect(noteOf(owner, entries('postings', ['brand bigint'], { foreignKeys: [brand] }))).toBeUndefined()
  })

  test('of a table below a view, then the note too', () => {
    const view = table('postgres', 'pam.wallets', ['player_id text', ...plain.slice(1)], [], {
      isView: true,
      sources: [['pam', 'rows']],
    })
    const rows = table('postgres', 'pam.rows', ['id bigint', 'player_id text', ...plain.slice(1)], ['id'])
    const to = { schema: 'pam', table: 'rows', column: 'id' }
    const ofRows = entries('postings', ['row_id bigint'], { foreignKeys: [{ column: 'row_id', to }] })
    expect(noteOf(view, rows, ofRows)).toContain(noHook)
  })

  test('of something else, then none does', () => {
    const proposal = propose(inPostgres(wallets, entries('audit_log', ['actor text'])), {
      players: 'pam.wallets',
    })
    expect(proposal).toMatchObject({ notes: [noStatus] })
  })

  test('and a balance that is called a snapshot, then it is not taken', () => {
    const snapshot = accounts([...plain.slice(0, 2), 'balance_snapshot numeric(18,2)'])
    expect(proposed(inPostgres(snapshot))).toContain(
      'Not usable: pam.accounts.balance_snapshot (numeric(18,2); its name says that it is computed from entries',
    )
    expect(proposed(inPostgres(snapshot), { players: 'pam.accounts' })).toEqual([
      ['balance', 'balance_snapshot'],
    ])
    expect(
      proposed(inPostgres(snapshot), { players: 'pam.accounts', balance: 'balance_snapshot' }),
    ).toMatchObject({
      balance: 'balance_snapshot',
    })
  })
})

describe('given what cannot be', () => {
  test.each<[string, Answers, RegExp]>([
    [
      'a table that does not exist',
      { players: 'pam.players' },
      /^--players: there is no table pam.players.*pam.accounts/,
    ],
    ['an id that does not exist', { id: 'no' }, /^--id: pam.accounts has no column no.*account_no, currency/],
    ['an id that is the balance', { balance: 'account_no' }, /^--balance: account_no is the id already/],
    [
      'a currency that is a number',
      { currency: 'balance' },
      /^--currency: balance: numeric\(18,2\) is no code/,
    ],
    ['a unit of decimals', { 'minor-units': '2' }, /^--minor-units 2 is for integers/],
  ])('%s, then the problem says so', (_, answers, problem) => {
    expect(proposed(inPostgres(accounts(plain)), answers)).toMatch(problem)
  })

  test('no table with a balance, then what is missing', () => {
    expect(proposed(inPostgres(table('postgres', 'pam.bets', ['id bigint', 'stake bigint'])))).toMatch(
      /^No table has columns that are named like a player's id and a balance/,
    )
  })
})

describe('on MySQL and MariaDB', () => {
  const mysqlAccounts = (more: Partial<Table> = {}, id = 'account_no varchar(255)') =>
    table('mysql', 'pam.accounts', [id, 'currency char(3)', 'balance decimal(18,2)'], ['account_no'], more)

  test('given a text id, then its collation is part of the mapping', () => {
    expect(proposed(schemaOf('mysql', mysqlAccounts()))).toMatchObject({ idCollation: 'utf8mb4_general_ci' })
    const bytes = mysqlAccounts({}, 'account_no varbinary(64)')
    expect(proposed(schemaOf('mysql', bytes))).toMatchObject({ idCollation: 'binary' })
    expect(proposed(schemaOf('mysql', mysqlAccounts({}, 'account_no binary(16)')))).not.toHaveProperty(
      'idCollation',
    )
  })

  test('given a table of MyISAM, then it is refused', () => {
    const schema = schemaOf('mysql', mysqlAccounts({ storage: 'MyISAM' }))
    expect(proposed(schema)).toMatch(/^No table/)
    expect(proposed(schema, { players: 'pam.accounts' })).toContain('without database transactions')
  })

  test('given unsigned cents, then they are proposed once the unit is known', () => {
    const schema = schemaOf(
      'mysql',
      table(
        'mysql',
        'pam.users',
        ['id int unsigned default', 'currency char(3)', 'balance bigint unsigned'],
        ['id'],
      ),
    )
    expect(proposed(schema, { 'minor-units': '2' })).toMatchObject({ idType: 'bigint', minorUnits: 2 })
  })

  test('given a view beside its table, then the table is proposed', () => {
    const view = table('mysql', 'pam.v_accounts', ['account_no varchar(255)', 'balance decimal(18,2)'], [], {
      isView: true,
      storage: null,
    })
    expect(proposed(schemaOf('mysql', mysqlAccounts(), view))).toMatchObject({ table: 'pam.accounts' })
    expect(proposed(schemaOf('mysql', view), { currency: 'EUR' })).toMatchObject({ id: 'account_no' })
  })
})
