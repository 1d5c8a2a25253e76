/** The kit on players' tables whose ids are UUIDs: a UUID in the database for each of the kit's playerIds. */
import { createHash } from 'node:crypto'
import type { StoreHarness } from 'bet-wallet/testing'
import type { WalletKeys, WalletSnapshot, WalletStore } from '../../../src/store.js'

/** The same one for the same id, in every case. */
function uuidOf(playerId: string): string {
  const hash = createHash('sha256').update(playerId).digest('hex')
  // Of version 4: MariaDB's type holds no others than those of the standard.
  const digits = `${hash.slice(0, 12)}4${hash.slice(13, 16)}8${hash.slice(17)}`
  return [0, 8, 12, 16, 20].map((start, index) => digits.slice(start, [8, 12, 16, 20, 32][index])).join('-')
}

export function withUuids<Opened extends { store: WalletStore }>(
  harness: StoreHarness<Opened>,
): StoreHarness<Opened> {
  const playerIds = new Map<string, string>()
  const toUuid = (playerId: string) => {
    const uuid = uuidOf(playerId)
    playerIds.set(uuid, playerId)
    return uuid
  }
  const inUuids = <T extends { playerId: string }>(record: T): T => ({
    ...record,
    playerId: toUuid(record.playerId),
  })
  const fromUuids = <T extends { playerId: string }>(record: T | null): T | null =>
    record && { ...record, playerId: playerIds.get(record.playerId) ?? record.playerId }

  const translated = ({ load, loadConfirmed, commit, ...others }: WalletStore): WalletStore => {
    const loading = (read: typeof load) => async (keys: WalletKeys) => {
      const { player, bet, transaction }: WalletSnapshot = await read(inUuids(keys))
      return { player: fromUuids(player), bet: fromUuids(bet), transaction: fromUuids(transaction) }
    }
    return {
      ...others,
      load: loading(load),
      ...(loadConfirmed && { loadConfirmed: loading(loadConfirmed) }),
      commit: ({ transaction, bet, ...changes }) =>
        commit({ ...changes, transaction: inUuids(transaction), bet: bet && inUuids(bet) }),
    }
  }
  const { depositExternally, settleExternally, holdPlayer, changeCurrency, refuseBets } = harness
  return {
    ...harness,
    async open(players) {
      const opened = await harness.open(players.map(inUuids))
      return { ...opened, store: translated(opened.store) }
    },
    reopen: async opened => translated((await harness.reopen?.(opened)) as WalletStore),
    crash: async opened => translated((await harness.crash?.(opened)) as WalletStore),
    ...(depositExternally && {
      depositExternally: (opened: Opened, playerId: string, amount: string) =>
        depositExternally(opened, toUuid(playerId), amount),
    }),
    ...(settleExternally && {
      settleExternally: (opened: Opened, settlement: Parameters<typeof settleExternally>[1]) =>
        settleExternally(opened, inUuids(settlement)),
    }),
    ...(holdPlayer && {
      holdPlayer: (opened: Opened, playerId: string) => holdPlayer(opened, toUuid(playerId)),
    }),
    ...(changeCurrency && {
      changeCurrency: (opened: Opened, playerId: string, currency: string) =>
        changeCurrency(opened, toUuid(playerId), currency),
    }),
    ...(refuseBets && {
      refuseBets: (opened: Opened, playerId: string) => refuseBets(opened, toUuid(playerId)),
    }),
  }
}
