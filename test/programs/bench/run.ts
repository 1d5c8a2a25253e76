/**
 * `npm run bench`: the HTTP handler and the core beside their opponents. `npm run bench -- postgres`, `mysql` and
 * `overload`: the stores.
 */
import { argv } from 'node:process'

const benches = new Map([
  ['postgres', './postgres/bench.ts'],
  ['mysql', './mysql/bench.ts'],
  ['overload', './overload/bench.ts'],
])
const named = benches.get(argv[2] ?? '')
// The bench reads the options behind its name.
if (named !== undefined) argv.splice(2, 1)
await import(named ?? './bench.ts')
