/** The longest test files, and the order in which files start. Without them, `npm test` takes at most three minutes. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const filesOf = (names: string) => names.split(/\s+/).map(name => `test/${name}.test.ts`)

/** `npm run test:long` runs these, and `npm test` the others. The longest first. */
export const longTests = filesOf(
  `
    examples/start programs/exhaustive/exhaustive stores/mysql/kit tools/audit/audit stores/postgres/kit
    stores/mysql/kit-tables stores/postgres/kit-tables
    stores/postgres/failover docs/code-blocks stores/postgres/former-primary tools/random/simulation
    stores/mysql/failures lookups/lookups outbox/poison properties/sequential
    testing/harness tools/audit/broken testing/mutants
    stores/accounts-two-processes outbox/relay package/tarball stores/added-credits
    stores/postgres/other-code stores/postgres/failures stores/hook-contract stores/one-change-per-batch
    stores/postgres/within-transaction stores/mysql/former-primary tools/audit/foreign-answers
    stores/mysql/replica stores/postgres/start-checks tools/random/fault-commands stores/ledger
    properties/concurrency stores/postgres/false-alarms stores/mysql/ready stores/mysql/players
    stores/mysql/migrate lookups/owed docs/shapes outbox/events properties/crash
    stores/postgres/durability stores/mysql/durability stores/postgres/gone-clients stores/postgres/migrate
    tools/command/database-url tools/audit/later stores/postgres/attack tools/reconcile/databases
    properties/delivery stores/mysql/character-sets stores/postgres/reserved
    stores/postgres/synchronous-standby stores/postgres/driver-transactions stores/postgres/overload
    stores/postgres/upgrades tools/wire/json properties/partitions tools/check/columns
    stores/postgres/balance-rules stores/mysql/sessions stores/mysql/within-transaction stores/mysql/reserved
    stores/mysql/several-servers stores/mysql/balance-rules stores/mysql/upgrades
    stores/mysql/unique-below-views tools/command/simulated-report stores/mysql/real-errors
    tools/audit/html/browser outbox/sequence outbox/overtaken tools/init/advice stores/releases/releases
    outbox/visibility`.trim(),
)

/**
 * Before a release (test/vitest.release.ts): what takes long, and what repeats on another engine or as a whole what
 * `npm test` and the long tests play in parts. Groups and clusters whose nodes leave and join, PgBouncer, `init` on 26
 * schemas with kit and audit, the kit with each type of id and balance, whole audits of each store and of each correct
 * wallet, an upgrade to the next release and back, incidents, crashes of the relay, the parts of the benchmarks.
 * `.ci/run` has a failover of each cluster, a kit of each store, and audits.
 */
export const releaseTests = filesOf(
  `
    stores/mysql/group stores/mysql/cluster tools/init/postgres tools/init/mysql tools/init/real-schemas
    stores/mysql/mysql-defaults stores/postgres/kit-variants stores/mysql/kit-variants tools/audit/stores
    tools/audit/accounts-stores programs/upgrade/upgrade tools/audit/correct tools/audit/race-rates
    examples/limits examples/pglite programs/recipes/recipes stores/postgres/pgbouncer stores/postgres/pglite
    programs/bench/postgres/parts programs/bench/mysql/parts programs/bench/overload/overload docs/first-hour
    tools/audit/command programs/incidents/incidents tools/random/broken tools/command/check-mysql
    programs/soak/failover programs/soak/soak tools/audit/findings outbox/crash tools/audit/echoed-secrets
    tools/random/accounts outbox/kills package/runners stores/mysql/privileges tools/command/terminal
    examples/existing-pam-mysql tools/command/secrets tools/command/simulate-faults programs/hooks/hooks
    http/fuzz stores/mysql/operator-errors tools/audit/accounts testing/partitions outbox/clock
    stores/postgres/conditions mariadb/cluster tools/init/kit-copies stores/own-rows
    stores/mysql/changed-sessions lookups/forget-player tools/report/browser tools/try/browser examples/bonus
    tools/random/limits tools/random/correct stores/postgres/partitions tools/command/lookups
    tools/command/migrate examples/existing-pam stores/postgres/rewritten-tables tools/command/grants
    mariadb/server tools/command/outbox tools/reconcile/seeded tools/reconcile/partitions
    programs/incidents/restore programs/incidents/runbook postgres/server lookups/by-amount
    tools/random/platform-report http/json-large tools/audit/installed tools/wallets/independent/plain
    tools/command/check-postgres stores/postgres/patroni regular-expressions programs/bench/server
    package/bundles programs/exhaustive/direct-execution stores/postgres/operator-errors tools/reconcile/outputs
    stores/postgres/privileges`.trim(),
)

const first = [...longTests, ...filesOf('stores/postgres/ready')]

/** So that no worker is left with a long file at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = first.findIndex(path => moduleId.endsWith(`/${path}`))
      return place === -1 ? first.length : place
    }
    return (await super.sort(specifications)).sort((one, other) => placeOf(one) - placeOf(other))
  }
}
