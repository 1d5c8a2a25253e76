/** The shared checks of options, with this store's error. */
import { type OptionChecks, optionChecks } from '../../option-checks.js'
import { MysqlStoreError } from './errors.js'

/** Throws {@link MysqlStoreError} `INVALID_OPTIONS`. */
export const check: OptionChecks = optionChecks(message => {
  throw new MysqlStoreError('INVALID_OPTIONS', message)
})
