/** The short form of race-rates.ts: a gap of one turn of the event loop is found every time. */
import { describe, expect, it } from 'vitest'
import { races, timesFound } from './race-rates.js'

const rows = Object.entries(races).flatMap(([number, faults]) =>
  faults.map(fault => ({ id: `AU-${number}`, fault })),
)

describe('10 of 10 audits find', () => {
  it.each(rows)('$fault by $id', async ({ id, fault }) => {
    expect(await timesFound(id, fault, 'turn', 10)).toBe(10)
  })
})
