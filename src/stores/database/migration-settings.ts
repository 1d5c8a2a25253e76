/** The settings of the migration, and what it needs of the options of the store. */
import type { OptionChecks } from '../../option-checks.js'

export interface MigrationSettings {
  /**
   * States that the schema is migrated on purpose with other options than before. Without it, that is an
   * error. The functions or procedures of both option sets then live side by side: running processes keep
   * theirs, and new ones are started with the new options. `credit_bet_v1` belongs to the options that were
   * migrated last.
   *
   * @default false
   */
  allowOtherOptions?: boolean
  /**
   * Whether the migration creates the indexes of lookups too: of the transactions of a bet, of a player, and
   * by time. On tables that exist already, commits go on meanwhile. Each commit writes to them:
   * docs/records.md says what they cost.
   *
   * @default false
   */
  lookupIndexes?: boolean
}

const settingNames = ['allowOtherOptions', 'lookupIndexes']

/** @throws `INVALID_OPTIONS`, naming the setting */
export function migrationSettings(
  check: OptionChecks,
  settings: MigrationSettings,
  names: readonly string[] = settingNames,
) {
  check.names(settings, names)
  return {
    allowOtherOptions: check.boolean('allowOtherOptions', settings.allowOtherOptions ?? false),
    withIndexes: check.boolean('lookupIndexes', settings.lookupIndexes ?? false),
  }
}
