/** The shared checks of options, with this store's error. */
import { type OptionChecks, optionChecks } from '../../option-checks.js'
import { storeError } from './errors.js'

/** Throws {@link StoreError} `INVALID_OPTIONS`. */
export const check: OptionChecks = optionChecks(message => {
  throw storeError('INVALID_OPTIONS', message)
})
