/** A caller would wait for a lock of another one that waits, in turn, for a lock of this caller. */
export class Deadlock extends Error {
  constructor(key: string) {
    super(`deadlock detected while waiting for ${key}`)
  }
}

type Owner = symbol
type Waiter = { owner: Owner; take: () => void }

/**
 * Exclusive locks with queues, as a database has them. Who closes a circle of waiting callers gets an error at
 * once, as in MySQL; PostgreSQL looks for circles after a second.
 */
export class Locks {
  private readonly held = new Map<string, { owner: Owner; waiting: Waiter[] }>()
  private readonly waitsFor = new Map<Owner, string>()

  /** @throws Deadlock if the wait would never end */
  async take(owner: Owner, key: string): Promise<void> {
    const lock = this.held.get(key)
    if (lock === undefined) {
      this.held.set(key, { owner, waiting: [] })
      return
    }
    if (lock.owner === owner) return
    if (this.isWaitingFor(lock.owner, owner)) throw new Deadlock(key)
    this.waitsFor.set(owner, key)
    await new Promise<void>(take => lock.waiting.push({ owner, take }))
    this.waitsFor.delete(owner)
  }

  releaseAll(owner: Owner): void {
    for (const [key, lock] of this.held) {
      if (lock.owner !== owner) continue
      const next = lock.waiting.shift()
      if (next === undefined) {
        this.held.delete(key)
        continue
      }
      lock.owner = next.owner
      next.take()
    }
  }

  private isWaitingFor(waiter: Owner, owner: Owner): boolean {
    const key = this.waitsFor.get(waiter)
    const holder = key === undefined ? undefined : this.held.get(key)?.owner
    if (holder === undefined) return false
    return holder === owner || this.isWaitingFor(holder, owner)
  }
}
