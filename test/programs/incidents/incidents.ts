/** All incidents. Their numbers, from 1, are their places in this list. */
import { betIncidents } from './bets.js'
import { eventIncidents } from './events.js'
import { faultIncidents } from './faults.js'
import type { Incident } from './incident.js'
import { totalIncidents } from './totals.js'

export const incidents: readonly Incident[] = [
  ...betIncidents,
  ...totalIncidents,
  ...faultIncidents,
  ...eventIncidents,
]
