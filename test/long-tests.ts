/** The longest test files, and the order in which files start. Without them, `npm test` takes at most three minutes. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const filesOf = (names: string) => names.split(/\s+/).map(name => `test/${name}.test.ts`)

/** `npm run test:long` runs these, and `npm test` the others. The longest first. */
export const longTests = filesOf(`examples/start tools/audit/audit stores/postgres/kit
    docs/code-blocks programs/exhaustive/exhaustive docs/first-hour
    tools/audit/findings programs/incidents/incidents
    tools/audit/command programs/soak/failover tools/command/terminal stores/mysql/kit
    stores/postgres/attack stores/postgres/failover postgres/server programs/soak/soak
    lookups/lookups tools/random/simulation tools/audit/html/browser
    tools/audit/broken examples/existing-pam-mysql tools/random/broken tools/audit/accounts
    tools/command/lookups tools/command/secrets http/fuzz
    stores/postgres/partitions stores/mysql/failures mariadb/cluster lookups/forget-player
    stores/postgres/failures mariadb/server stores/postgres/operator-errors stores/mysql/changed-sessions
    stores/mysql/real-errors stores/mysql/operator-errors stores/mysql/privileges examples/existing-pam
    stores/postgres/rewritten-tables
    tools/wallets/independent/plain tools/reconcile/partitions programs/incidents/restore
    tools/audit/echoed-secrets package/runners tools/try/browser tools/command/check-mysql
    tools/report/browser tools/command/check-postgres tools/command/migrate tools/command/simulated-report tools/command/outbox
    stores/postgres/start-checks tools/reconcile/seeded tools/reconcile/databases stores/mysql/players
    stores/mysql/ready http/json-large tools/random/limits tools/audit/later programs/bench/server
    stores/mysql/migrate stores/mysql/sessions stores/mysql/upgrades stores/mysql/replica
    stores/mysql/balance-rules programs/incidents/runbook tools/init/kit-copies outbox/events outbox/relay outbox/crash
    outbox/sequence outbox/kills outbox/poison outbox/clock outbox/overtaken outbox/visibility
    stores/postgres/patroni stores/postgres/former-primary stores/postgres/false-alarms stores/mysql/durability
    stores/postgres/durability examples/bonus
    programs/hooks/hooks lookups/owed tools/command/simulate-faults stores/postgres/privileges
    stores/postgres/conditions stores/own-rows stores/mysql/former-primary stores/one-change-per-batch
    tools/random/correct tools/command/grants stores/postgres/other-code stores/postgres/within-transaction
    stores/hook-contract stores/ledger stores/postgres/gone-clients tools/reconcile/outputs lookups/by-amount
    stores/mysql/several-servers tools/random/platform-report testing/partitions
    docs/shapes tools/random/accounts package/tarball regular-expressions testing/mutants package/bundles stores/releases/releases
    properties/crash tools/init/advice stores/mysql/unique-below-views`)

/**
 * Before a release (test/vitest.release.ts): a group of MySQL and a Galera cluster whose nodes leave and join, PgBouncer,
 * `init` on 26 schemas with kit and audit, the kit with each type of id and balance, whole audits of each store and of
 * each correct wallet, an upgrade to the next release and back, the faults of five clusters, the parts of the benchmarks. Each takes minutes. `.ci/run` has a failover of each cluster, a kit of
 * each store, and audits.
 */
export const releaseTests =
  filesOf(`stores/mysql/group stores/mysql/cluster tools/init/postgres tools/init/mysql tools/init/real-schemas stores/mysql/mysql-defaults
    stores/postgres/kit-variants stores/mysql/kit-variants tools/audit/stores tools/audit/accounts-stores
    programs/upgrade/upgrade tools/audit/correct tools/audit/race-rates examples/limits programs/recipes/recipes
    stores/postgres/pgbouncer stores/postgres/pglite programs/bench/postgres/parts programs/bench/mysql/parts programs/bench/overload/overload`)

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
