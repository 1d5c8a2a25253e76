/** The hooks of the kit for a store of several partitions, from those of one partition. */
import { partitionStore } from '../../src/partition-store.js'
import type { WalletStore } from '../../src/store.js'
import type { HeldCommit, StoreHarness } from '../../src/testing/harness.js'
import { withLoadConfirmed } from '../../src/testing/with-load-confirmed.js'

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
 * @param of the hooks of one partition
 * @param join a correct one by default
 * @param everywhere opens every player in every partition, for joins that do not route by player
 */
export function partitionedHarness<O extends { store: WalletStore }>(
  of: StoreHarness<O>,
  {
    join = byPlayer,
    everywhere = false,
    count = 2,
  }: { join?: Join; everywhere?: boolean; count?: number } = {},
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
  const at = ({ partitions }: Opened, playerId: string) => partitions[indexOf(playerId, count)] as O
  const each = <T>({ partitions }: Opened, call: (opened: O) => T) => Promise.all(partitions.map(call))
  const { limits, depositExternally, settleExternally, holdPlayer, closePlayer, changeCurrency, refuseBets } =
    of
  const { close, reopen, crash, holdCommit, stopReplication, advanceClock } = of
  return {
    idScope: 'player',
    ...(limits && { limits }),
    ...(of.playerIds && { playerIds: of.playerIds }),
    async open(players) {
      const partitions: O[] = []
      for (let index = 0; index < count; index += 1)
        partitions.push(
          await of.open(players.filter(({ playerId }) => everywhere || indexOf(playerId, count) === index)),
        )
      const opened: Opened = { store: undefined as never, partitions, stopped: new Set() }
      opened.store = joined(
        opened,
        partitions.map(({ store }) => store),
      )
      return opened
    },
    stopPartition({ stopped }, playerId) {
      stopped.add(indexOf(playerId, count))
      return () => void stopped.clear()
    },
    ...(close && { close: async opened => void (await each(opened, one => close.call(of, one))) }),
    ...(reopen && {
      reopen: async opened => joined(opened, await each(opened, one => reopen.call(of, one))),
    }),
    ...(crash && { crash: async opened => joined(opened, await each(opened, one => crash.call(of, one))) }),
    ...(depositExternally && {
      depositExternally: (opened, playerId, amount) =>
        depositExternally.call(of, at(opened, playerId), playerId, amount),
    }),
    ...(settleExternally && {
      settleExternally: (opened, settlement) =>
        settleExternally.call(of, at(opened, settlement.playerId), settlement),
    }),
    ...(holdPlayer && {
      holdPlayer: (opened, playerId) => holdPlayer.call(of, at(opened, playerId), playerId),
    }),
    ...(closePlayer && {
      closePlayer: (opened, playerId) => closePlayer.call(of, at(opened, playerId), playerId),
    }),
    ...(changeCurrency && {
      changeCurrency: (opened, playerId, currency) =>
        changeCurrency.call(of, at(opened, playerId), playerId, currency),
    }),
    ...(refuseBets && {
      refuseBets: (opened, playerId) => refuseBets.call(of, at(opened, playerId), playerId),
    }),
    ...(holdCommit && {
      holdCommit: async opened => firstOf(await each(opened, one => holdCommit.call(of, one))),
    }),
    ...(stopReplication && {
      async stopReplication(opened) {
        const resumes = await each(opened, one => stopReplication.call(of, one))
        return async () => void (await Promise.all(resumes.map(resume => resume())))
      },
    }),
    ...(advanceClock && {
      advanceClock: async (opened, milliseconds) =>
        void (await each(opened, one => advanceClock.call(of, one, milliseconds))),
    }),
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
    contractVersion: 1,
    async load(keys) {
      unlessStopped()
      return store.load(keys)
    },
    ...withLoadConfirmed(store, async (keys, loadConfirmed) => {
      unlessStopped()
      return loadConfirmed(keys)
    }),
    commit: async changes => (isStopped() ? { status: 'unavailable' } : store.commit(changes)),
  }
}
