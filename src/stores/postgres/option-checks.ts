/** The shared checks of options, with this store's error. */
import { type OptionChecks, optionChecks } from '../../option-checks.js'
import { PostgresStoreError } from './errors.js'

/** Throws {@link PostgresStoreError} `INVALID_OPTIONS`. */
export const check: OptionChecks = optionChecks(message => {
  throw new PostgresStoreError('INVALID_OPTIONS', message)
})
