import { testServer } from './exchange-tests.js'
import { setups } from './servers.js'

for (const setup of setups) testServer(setup)
