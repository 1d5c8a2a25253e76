/** The hooks of the kit for a store of several partitions, from those of one partition. */
import { partitionStore } from '../../src/partition-store.js'
import type { WalletStore } from '../../src/store.js'
import type { HeldCommit, HeldPlayer, OwnRows, StoreHarness } from '../../src/testing/harness.js'
import { optionalParts } from '../../src/testing/stores-around.js'

export interface OpenedPartitions<O extends { store: WalletStore }> {
  store: WalletStore
  /** As the harness of one partition opened them. */
  partitions: O[]
  /** Indexes of the partitions that are unavailable. */
  stopped: Set<number>
}

/**
 * Joins the stores of the partitions, on one connection.
 *
 * @param connection 0: the first one, then one more for each `reopen` and `crash`
 */
export type Join = (partitions: readonly WalletStore[], connection: number) => WalletStore

/** Anna and ben are in different ones of two partitions. */
export function indexOf(id: string, count: number): number {
  let sum = 0
  for (const character of id) sum += character.codePointAt(0) ?? 0
  return sum % count
}

const byPlayer: Join = partitions =>
  partitionStore(playerId => partitions[indexOf(playerId, partitions.length)] ?? null)

/**
 * @param of the hooks of each partition; all have the same ones
 * @param join a correct one by default
 * @param everywhere opens every player in every partition, for joins that do not route by player
 */
export function partitionedHarness<O extends { store: WalletStore }>(
  of: readonly StoreHarness<O>[],
  { join = byPlayer, everywhere = false }: { join?: Join; everywhere?: boolean } = {},
): StoreHarness<OpenedPartitions<O>> {
  type Opened = OpenedPartitions<O>
  const connections = new WeakMap<Opened, number>()
  const joined = (opened: Opened, stores: readonly WalletStore[]): WalletStore => {
    const connection = connections.get(opened) ?? 0
    connections.set(opened, connection + 1)
    const { stopped } = opened
    return join(
      stores.map((store, index) => stoppable(store, () => stopped.has(index))),
      connection,
    )
  }
  const [first] = of as readonly [StoreHarness<O>]
  const each = <T>({ partitions }: Opened, call: (opened: O, harness: StoreHarness<O>) => T) =>
    Promise.all(partitions.map((opened, index) => call(opened, of[index] as StoreHarness<O>)))
  const at = <T>(
    { partitions }: Opened,
    playerId: string,
    call: (opened: O, harness: StoreHarness<O>) => T,
  ): T => {
    const index = indexOf(playerId, of.length)
    return call(partitions[index] as O, of[index] as StoreHarness<O>)
  }
  const has = <H extends keyof StoreHarness<O>>(hook: H, hooks: Pick<StoreHarness<Opened>, H>) =>
    first[hook] ? hooks : { [hook]: first[hook] }
  const hooks = {
    ...has('limits', { limits: first.limits as never }),
    ...has('accountPerCurrency', { accountPerCurrency: first.accountPerCurrency as never }),
    ...has('close', { close: async opened => void (await each(opened, (one, { close }) => close?.(one))) }),
    ...has('reopen', {
      reopen: async opened =>
        joined(opened, await each(opened, (one, { reopen }) => reopen?.(one) as WalletStore)),
    }),
    ...has('crash', {
      crash: async opened =>
        joined(opened, await each(opened, (one, { crash }) => crash?.(one) as WalletStore)),
    }),
    ...has('depositExternally', {
      depositExternally: (opened, playerId, ...rest) =>
        at(opened, playerId, (one, { depositExternally }) => depositExternally?.(one, playerId, ...rest)),
    }),
    ...has('settleExternally', {
      settleExternally: (opened, settlement) =>
        at(opened, settlement.playerId, (one, { settleExternally }) => settleExternally?.(one, settlement)),
    }),
    ...has('holdPlayer', {
      holdPlayer: (opened, playerId, currency) =>
        at(opened, playerId, (one, { holdPlayer }) => holdPlayer?.(one, playerId, currency) as HeldPlayer),
    }),
    ...has('closePlayer', {
      closePlayer: (opened, playerId) =>
        at(opened, playerId, (one, { closePlayer }) => closePlayer?.(one, playerId)),
    }),
    ...has('changeCurrency', {
      changeCurrency: (opened, playerId, currency) =>
        at(opened, playerId, (one, { changeCurrency }) => changeCurrency?.(one, playerId, currency)),
    }),
    ...has('refuseBets', {
      refuseBets: (opened, playerId) =>
        at(opened, playerId, (one, { refuseBets }) => refuseBets?.(one, playerId)),
    }),
    ...has('holdCommit', {
      holdCommit: async opened =>
        firstOf(await each(opened, (one, { holdCommit }) => holdCommit?.(one) as HeldCommit)),
    }),
    ...has('stopReplication', {
      async stopReplication(opened) {
        const resumes = await each(opened, (one, { stopReplication }) => stopReplication?.(one))
        return async () => void (await Promise.all(resumes.map(resume => resume?.())))
      },
    }),
    ...has('ownRows', {
      ownRows: (opened, playerId, currency) =>
        at(opened, playerId, (one, { ownRows }) => ownRows?.(one, playerId, currency) as OwnRows),
    }),
    ...has('advanceClock', {
      advanceClock: async (opened, milliseconds) =>
        void (await each(opened, (one, { advanceClock }) => advanceClock?.(one, milliseconds))),
    }),
  }
  return {
    ...(hooks as StoreHarness<Opened>),
    idScope: 'player',
    async open(players) {
      const ofPartition = (index: number) =>
        players.filter(({ playerId }) => everywhere || indexOf(playerId, of.length) === index)
      const partitions: O[] = []
      for (const [index, harness] of of.entries()) partitions.push(await harness.open(ofPartition(index)))
      const opened: Opened = { store: undefined as never, partitions, stopped: new Set() }
      const stores = partitions.map(({ store }) => store)
      opened.store = joined(opened, stores)
      return opened
    },
    stopPartition({ stopped }, playerId) {
      stopped.add(indexOf(playerId, of.length))
      return () => void stopped.clear()
    },
  }
}

/** The next commit stops, in whichever partition it is; then the commits of the others do not. */
function firstOf(held: readonly HeldCommit[]): HeldCommit {
  const reached = Promise.race(held.map(one => one.reached.then(() => one))).then(first => {
    for (const other of held) if (other !== first) other.release()
  })
  return {
    reached,
    release() {
      for (const one of held) one.release()
    },
  }
}

function stoppable(store: WalletStore, isStopped: () => boolean): WalletStore {
  const unlessStopped = () => {
    if (isStopped()) throw Object.assign(new Error('the partition is unavailable'), { code: 'UNAVAILABLE' })
  }
  return {
    contractVersion: 2,
    async load(keys) {
      unlessStopped()
      return store.load(keys)
    },
    ...optionalParts(store, async (keys, loadConfirmed) => {
      unlessStopped()
      return loadConfirmed(keys)
    }),
    commit: async changes => (isStopped() ? { status: 'unavailable' } : store.commit(changes)),
  }
}
