import { testServer } from '../examples/exchange-tests.js'
import { setups } from './setups.js'

for (const setup of setups) testServer(setup)
