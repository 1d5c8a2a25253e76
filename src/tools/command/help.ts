/** The help texts of the command, at most 100 columns wide. */
import { passwordVariable, secretVariable } from './arguments.js'
import { databaseVariable } from './database-url.js'

export const commandHelp = `Usage
  bet-wallet try [--port <number>]
  bet-wallet init [--database-url <url>]
  bet-wallet migrate --database-url <url> --players <table> --id … --currency … --balance …
  bet-wallet grants <role> --database-url <url>
  bet-wallet check --database-url <url>
  bet-wallet audit <base url> --player <id> --currency <code> [options]
  bet-wallet audit --list
  bet-wallet simulate <base url> --players <count, ids or file> [options]
  bet-wallet bet <betId> --database-url <url>
  bet-wallet transaction <transactionId> --database-url <url>
  bet-wallet player <playerId> --database-url <url>
  bet-wallet owed --database-url <url>
  bet-wallet reconcile <report> --from <time> --to <time> --database-url <url>

  try          a wallet in memory, with a page to try it: no clone, no database
  init         reads your schema, proposes the mapping of your players' table, and writes store,
               server and kit
  migrate      creates the library's tables for your players' table, or prints the SQL
  grants       prints the GRANT statements for a role of the database
  check        says what is wrong with the database: settings, rights, indexes; and lists the
               code that writes balances
  audit        sends the platform's calls to a running wallet, in whatever language it is
               written, and judges the answers
  simulate     simulates a sportsbook over an unreliable network, and reconciles the balances
               to the cent; on a staging system it also runs your commands that break servers,
               and names the answered calls that were lost
  bet          explains a bet from the database: each call, its rule, what holds now
  transaction  shows every operation that has used a transactionId
  player       shows an account with its transactions and bets
  owed         shows the clawbacks that were not collected, in sum and bet by bet
  reconcile    compares the platform's report with the wallet's transactions, and explains each
               difference

See bet-wallet <command> --help.`

const urlHelp = `Database
  --database-url <url>      postgres://… or mysql://…; better in the environment variable
                            ${databaseVariable} (without it: DATABASE_URL), so that process
                            lists do not show the password. The driver (pg or mysql2) is that of
                            the current folder.`

const playersHelp = `Players' table (not needed for a schema that was migrated for one table only)
  --players <table>         with its schema, as the catalog spells it: pam.accounts
  --id <column>             the playerId, with a unique index
  --currency <column>       the currency code: EUR
  --balance <column>        the balance
  --reserved <column>       what is reserved of it: available is balance - reserved
  --id-type <type>          text (default), bigint, uuid
  --id-collation <name>     of a text id on MySQL and MariaDB: utf8mb4_general_ci
  --balance-type <type>     numeric (default), text, minor-units
  --minor-units <number>    with minor-units: 2, or by currency: EUR=2,JPY=0
  --decimals-min <number>   the least scale of a numeric balance (2)
  --own-players             instead of all these: a table of the library's own
  --outbox                  every commit also writes an event, for a relay: docs/events.md
  --schema <name>           the schema of the library's tables (bet_wallet)`

export const initHelp = `Usage
  bet-wallet init [options]

Reads the catalog of your database (no rows), proposes which table, id, currency, balance and unit
the wallet uses, each with its reason, and asks who may bet where a column looks like a status. It
writes the files of docs/first-hour.md into the current folder: store.ts, kit.ts, and server.ts
for node:http (other frameworks: docs/frameworks.md). It prints the commands migrate and grants
for your table. Without a terminal it names each option that is missing.
It changes nothing in the database, and overwrites no file.

${urlHelp}

Instead of a proposal
  --players <table>         with its schema, as the catalog spells it: pam.accounts
  --id <column>             the playerId that the platform sends
  --balance <column>        the balance that a bet may use
  --currency <text>         a column; or a code such as EUR, of all players: then the wallet reads
                            your table by a view: the statement is printed
  --minor-units <number>    decimals of an integer balance: 2 for cents; by currency: EUR=2,JPY=0;
                            none: a text, or a numeric without a scale, is in whole units
  --may-bet <column=values> refuses the bets of all other players: state=active,trial;
                            is_blocked=false; closed_at=null. Several columns, by repeating it,
                            must all agree. anyone: closed and excluded players can bet
  --folder <path>           where store.ts and the others are written (.)

The exit code is 0, or 2 if nothing was written.`

export const migrateHelp = `Usage
  bet-wallet migrate --players <table> --id <column> --currency <column> --balance <column>
  bet-wallet migrate [options]

Creates the library's tables, or brings them up to date, as migratePostgres and migrateMysql do.
Your players' table is not changed. It can be run again: where there is nothing to do, it only reads.

${playersHelp}

${urlHelp}

Migration
  --lookup-indexes          creates the indexes of lookups too: of a bet, of a player, by time
  --allow-other-options     migrates on purpose with other options than before
  --print                   prints the SQL, for your own migration tool, and changes nothing
  --no-transaction          with --print, on PostgreSQL: without BEGIN and COMMIT

The exit code is 0, or 2 if the migration was not possible.`

export const grantsHelp = `Usage
  bet-wallet grants <role> [--for store] [options]

Prints the GRANT statements that a role of the database needs, and changes nothing. On MySQL and
MariaDB the role may be a user with its host: wallet@10.0.%

  --for <use>               store (default): the wallet. lookups: bet, player, transaction,
                            owed and reconcile. settlements: PAM code that calls credit_bet_v1.
                            relay: delivers the events of the outbox

${playersHelp}

${urlHelp}

The exit code is 0, or 2 if the players' table is not known.`

export const checkHelp = `Usage
  bet-wallet check --database-url <url> [options]

Checks everything that a wallet needs of its database, and says what is wrong, with SQL to paste.
Run it as the wallet's own user. It changes nothing: a trial debit is rolled back.

  server, players table, schema   what ready() of the store checks
  durability       settings with which a crash or a failover loses answered commits
  privileges       what this user lacks
  trial debit      one player is credited and debited, and the database transaction is rolled back.
                   Your triggers run: what they lack, such as a right, shows only so
  lookup indexes   of bet, player, reconcile
  CHECKs           those of the players' table and below it, to be read
  statements       code that writes the balance, in the statistics of the server:
                   pg_stat_statements, or the digests of performance_schema. What adds to it in
                   the statement is counted, read the others. Needs a user who may see the
                   statements of others: pg_read_all_stats, or SELECT on performance_schema.
                   Procedures and triggers are not seen.

${urlHelp} Can be repeated, or the
                            variable has several with spaces between: the servers of a cluster

${playersHelp}

Exceptions
  --no-lookup-indexes       the indexes of lookups may be missing
  --allow-not-durable       as the option of the store

Output
  --json                    prints JSON

The exit code is 0 if all is well, 1 for a problem, and 2 if a check was not possible: no
answer, or a missing right. The two lists to be read never change it.`

const databaseHelp = `${urlHelp} The players' table is known from the migration.
  --schema <name>           the schema of the library's tables (bet_wallet)
  --config <file.mjs>       instead: a module that exports lookups, as createPostgresLookups or
                            createMysqlLookups return them, and maybe close, a function
  --scan                    reads the whole table where an index is missing`

export const tryHelp = `Usage
  bet-wallet try [--port <number>]

Serves a wallet in memory on 127.0.0.1, and a page at / with buttons for what goes wrong between
a platform and a wallet: a lost answer, a retry, a rollback that comes first, two at once. It shows
each call and answer as it went over the wire, the rule that decided it, and the life of each bet.
Nothing is written to disk, and there are no credentials: it is for trying, with play money.

  --port <number>           where it listens; 0 takes a free port (3000)`

export const lookUpHelp = `Usage
  bet-wallet bet <betId> [options]
  bet-wallet transaction <transactionId> [options]
  bet-wallet player <playerId> [options]
  bet-wallet owed [options]

Reads what the wallet has recorded, and changes nothing: a database user with SELECT is enough.
Times are UTC unless they have an offset, such as +01:00. Ids are compared exactly.

${databaseHelp}

Player
  --from <time>             recorded at or after: 2026-11-22 or 2026-11-22T10:00:00Z
  --to <time>               recorded before
  --limit <number>          transactions per page, at most 1000 (50)
  --cursor <text>           the next page, as the page before has printed it

Owed: clawbacks that were not collected. Reads every bet; needs the index of a bet
  --player <id>             only this player's
  --from <time>             bets whose last clawback was refused at or after
  --to <time>               or before

Output
  --json                    prints JSON
  --html <file>             bet, player: a page for support and finance, to read to the player

The exit code is 0, 1 if nothing was found (owed: 0), and 2 if the lookup was not possible.`

export const reconcileHelp = `Usage
  bet-wallet reconcile <report...> --from <time> --to <time> [options]

Compares the platform's report with what the wallet has recorded in the same time: CSV with a
header, or JSON lines, in UTF-8, in any order and of any size. Changes nothing. Each difference is
explained, with its bet in the wallet. What is right, people decide: no call is printed.

Scope
  <report>                  a row per transaction, with the columns operation, transactionId, betId,
                            amount and currency; and, if it has them, playerId, type, status and
                            transactionDate; several reports, of one day each, say, count as one
  --from <time>             the start of the report: 2026-11-21 or 2026-11-21T00:00:00Z (required);
                            without Z, in the mapping's time zone, or in UTC
  --to <time>               its end, which is not part of it (required)
  --mapping <file.json>     the names of its columns, and its words for operations and statuses:
                            { "columns": { "amount": "sum" }, "operations": { "BET": "placebet" } };
                            and how dates are written that have no offset from UTC:
                            { "dates": { "timeZone": "Europe/Berlin" } }
  --margin <duration>       how far before and after the range the wallet is read too, for what it
                            recorded a little earlier or later than the platform dates it (1h)

${databaseHelp}

Output (in addition to the table)
  --json <file>             the result as JSON, with up to 1,000 differences of each kind
  --lines <file>            all differences, one JSON object per line
  --html <file>             the result as an HTML page

Both sides are sorted into a temporary file, in the folder that TMPDIR names: about 120 bytes per
row.

The exit code is 0 if nothing differs, 1 if something does, and 2 if nothing was compared: a report
that is not the wallet's as a whole (rewritten ids, no row in the range), a row that cannot be read,
an error of the database, or no transaction on either side.`

const authenticationHelp = `Authentication
  --user <name>             HTTP Basic; the password is read from the environment variable
                            ${passwordVariable}, so that process lists do not show it
  --password <password>     the password, if not in the environment
  --header <name: value>    a header of every request; can be repeated
  --sign-header <name>      signs each body by HMAC, with the secret in ${secretVariable}, into this
                            header. --sign-algorithm hmac-sha512 (hmac-sha256), --sign-encoding
                            base64 (hex), --sign-prefix sha256=, --sign-timestamp <header>,
                            --sign-text '{timestamp}.{body}', with {method} and {path} too`

const settleUrlHelp = `  --settle-url <url>        a path below the base URL (/settlement) or a complete URL that
                            accepts transactionId, betId, playerId, type (BET_PAID, VOIDED,
                            CASHOUT), amount, currency and transactionDate as JSON, and
                            answers 2xx`

const settleCommandHelp = `  --settle-command <line>   a shell command that reads the same JSON as one line from standard
                            input, and exits with code 0`

export const auditHelp = `Usage
  bet-wallet audit <base url> --player <id> --currency <code> [options]
  bet-wallet audit --list

Sends the calls of the interface to <base url>/placebet, /unsettlement and /rollbackbet of a
running wallet, and judges the answers. No other address is called except --settle-url, and
redirects are not followed.

Use a test player with funds (20.00 of most currencies is enough) and no other activity:
balances are compared to the last digit. All stakes are rolled back, and credits that
settlements leave are staked on a last bet that stays open, so that the same player can be
audited again.

${authenticationHelp}

Settlements (the interface has no call for them)
${settleUrlHelp}
${settleCommandHelp}
                            Without either, the cases that need a settlement are skipped.

Scope
  --player <id>             the test player (required: no other player is touched)
  --currency <code>         the currency of the player: EUR (required)
  --other-player <id>       a second test player, for the cases that mix up players
  --no-clawbacks            the PAM cannot debit: unsettlements get INSUFFICIENT_FUNDS
  --status <code=status>    an agreed status: --status INSUFFICIENT_FUNDS=400. '*=400' stands for
                            all codes that are not named, and '*=*' allows any status.
  --code <code=code>        an agreed error code: --code INVALID_BET=BET_REFUSED; * allows any
                            code. Both can be repeated.
  --codes any               allows any error code: only the refusal itself is judged
  --minor-units <number>    decimals of the currency, if they differ from ISO 4217
  --only <ids>              only these cases: AU-101,AU-3*
  --list                    prints all cases and sends nothing

Time and restarts (without them, the cases about them are skipped)
  --pause <duration>        one long pause, for what a wallet forgets after some time: 90s
  --restart-command <line>  a shell command that restarts the wallet, for what it keeps in memory;
                            the audit waits until the wallet answers again

Execution
  --seed <number>           makes amounts and timing reproducible (1)
  --concurrency <number>    concurrent requests where a case sends many (16)
  --rounds <number>         how many times each race is run (6)
  --timeout <duration>      for each answer: 10s, 500ms (10s)
  --attempts <number>       how often a call is sent until its outcome is known (25): 5xx and lost
                            answers are retried, as the platform does
  --time-budget <duration>  cases that have not started by then are skipped: 5m

Output (in addition to the table)
  --json <file>             the report as JSON
  --junit <file>            the report as JUnit XML
  --html <file>             the report as an HTML page

The exit code is 0 if no MUST failed, 1 if one failed, and 2 if the audit was not possible (also if
no bet could be settled the given way), was stopped, or skipped every case.`

export const simulateHelp = `Usage
  bet-wallet simulate <base url> --players <count, ids or file> [options]

Simulates a sportsbook: matches, bets, goals, settlements, voids, corrections, and uncollected
clawbacks that are netted off later winnings, over a network that loses, delays, duplicates and
reorders calls. It keeps its own books and reconciles them with the wallet's answers at the end,
per player and per bet, to the last digit.

${authenticationHelp}

Settlements (the interface has no call for them)
${settleUrlHelp} (/settlement)
${settleCommandHelp}
  --no-settle               bets are not settled: bets and rollbacks only

Scope
  --players <players>       20: sim-1 to sim-20; or ids: anna,kenji; or players.json, a list of
                            ids or of { "playerId", "currency", "balance", "sessionId" }, of
                            which only the first is required (required). The wallet must know
                            them; they need funds and must have no other activity.
  --player-prefix <text>    prefix of numbered players (sim-)
  --bets <number>           number of bets (1,000 without --duration)
  --duration <duration>     how long bets are placed: 90s, 10m, 1h

Execution
  --rate <number>           maximum requests per second (as many as the wallet answers)
  --concurrency <number>    maximum requests in flight (16)
  --chaos <0 to 1>          how unreliable the network is (0.2)
  --pause <duration>        waits before old calls are sent again at the end, and finds what the
                            wallet forgets by then: 90s (0s)
  --seed <number>           makes a run reproducible (random)
  --timeout <duration>      for each answer (10s)

Faults of your own system
  --fault <command>         a shell command that breaks servers, repairs them, and ends when all
                            are back; can be repeated: they run in turn. Each is printed when it
                            runs, may last 10 minutes, and must close its output
  --every <duration>        from one fault to the next: 20s. Without --bets and --duration each
                            fault is injected once
  --staging <host>          the host of the base URL, typed again: this system will break
At the end each answered call is sent again: an answer that is not the replay of the first one
was lost. --chaos is 0 then, if not given. No fault is injected where answers differ before.
bet-wallet check names the durability of the database. Recipes: docs/go-live.md

Output (in addition to the summary)
  --json <file>             the report as JSON
  --html <file>             the report as an HTML page, with charts of the run
  --report <file>           what a platform would report for a reconciliation: a row of CSV per
                            transaction, as bet-wallet reconcile reads it without a mapping

Ctrl+C stops betting; a fault that has begun ends, so that it repairs, and open bets are still
settled and reconciled. Without a terminal, the progress is printed on standard error as a line
every 5 seconds.

The exit code is 0 if the books agree and nothing was lost, 1 if not, and 2 if the simulation was
not possible, no settlement succeeded, or a command of a fault failed.`
