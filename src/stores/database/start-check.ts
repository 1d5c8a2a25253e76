/** The check of the database at start: calls at the same time share one, later ones check again. */

export interface StartCheck<Found> {
  isChecked(): boolean
  check(): Promise<Found>
  /** Of the last check that passed. */
  found(): Found
}

export function createStartCheck<Found>(run: () => Promise<Found>): StartCheck<Found> {
  let found: { value: Found } | null = null
  let running: Promise<Found> | null = null

  async function check(): Promise<Found> {
    try {
      const value = await run()
      found = { value }
      return value
    } finally {
      running = null
    }
  }

  return {
    isChecked: () => found !== null,
    check() {
      running ??= check()
      return running
    },
    found() {
      if (found === null) throw new Error('The database is not checked yet')
      return found.value
    },
  }
}
