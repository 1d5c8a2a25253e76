/** Rejects settings of the migration that are among the store's options. */
import type { OptionChecks } from '../../option-checks.js'

/** The options of the store may have other names, which a migration does not need: only these are looked for. */
export function rejectSettingsIn(options: object, check: OptionChecks): void {
  for (const name of ['allowOtherOptions', 'lookupIndexes']) {
    if (name in options)
      check.invalid(`${name} belongs in the third argument: migrate(client, options, { ${name} })`)
  }
}
