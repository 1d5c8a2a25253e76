/** The check of the database at start: calls at the same time share one, later ones check again. */
export class StartCheck<Found> {
  readonly #run: () => Promise<Found>
  #found: { value: Found } | null = null
  #running: Promise<Found> | null = null

  constructor(run: () => Promise<Found>) {
    this.#run = run
  }

  get isChecked(): boolean {
    return this.#found !== null
  }

  /** Of the last check that passed. */
  get found(): Found {
    if (this.#found === null) throw new Error('The database is not checked yet')
    return this.#found.value
  }

  check(): Promise<Found> {
    this.#running ??= this.#check()
    return this.#running
  }

  async #check(): Promise<Found> {
    try {
      const value = await this.#run()
      this.#found = { value }
      return value
    } finally {
      this.#running = null
    }
  }
}
