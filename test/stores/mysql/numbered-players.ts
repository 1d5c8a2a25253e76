/** The kit on players' tables whose ids are UUIDs or numbers: one in the database for each of the kit's playerIds. */
import { createHash } from 'node:crypto'
import type { StoreHarness } from 'bet-wallet/testing'
import type { WalletKeys, WalletSnapshot, WalletStore } from '../../../src/store.js'

const digitsOf = (playerId: string) => createHash('sha256').update(playerId).digest('hex')

/** The same one for the same id, in every case. */
export function uuidOf(playerId: string): string {
  const hash = digitsOf(playerId)
  // Of version 4: MariaDB's type holds no others than those of the standard.
  const digits = `${hash.slice(0, 12)}4${hash.slice(13, 16)}8${hash.slice(17)}`
  return [0, 8, 12, 16, 20].map((start, index) => digits.slice(start, [8, 12, 16, 20, 32][index])).join('-')
}

/** The same, as a bigint. */
export const bigintOf = (playerId: string): string => String(BigInt(`0x${digitsOf(playerId).slice(0, 15)}`))

export function withIds<Opened extends { store: WalletStore }>(
  harness: StoreHarness<Opened>,
  idOf: (playerId: string) => string,
): StoreHarness<Opened> {
  const playerIds = new Map<string, string>()
  const toId = (playerId: string) => {
    const id = idOf(playerId)
    playerIds.set(id, playerId)
    return id
  }
  const inIds = <T extends { playerId: string }>(record: T): T => ({
    ...record,
    playerId: toId(record.playerId),
  })
  const fromIds = <T extends { playerId: string }>(record: T | null): T | null =>
    record && { ...record, playerId: playerIds.get(record.playerId) ?? record.playerId }

  const translated = ({ load, loadConfirmed, commit, ...others }: WalletStore): WalletStore => {
    const snapshotOf = ({ accounts, bet, transaction }: WalletSnapshot): WalletSnapshot => ({
      accounts: accounts.map(each => fromIds(each) as typeof each),
      bet: fromIds(bet),
      transaction: fromIds(transaction),
    })
    const loading = (read: typeof load) => async (keys: WalletKeys) => snapshotOf(await read(inIds(keys)))
    return {
      ...others,
      load: loading(load),
      ...(loadConfirmed && { loadConfirmed: loading(loadConfirmed) }),
      async commit({ transaction, bet, credit, ...changes }) {
        const result = await commit({
          ...changes,
          transaction: inIds(transaction),
          bet: bet && inIds(bet),
          credit: credit && inIds(credit),
        })
        if (result.status !== 'conflict' || !result.snapshot) return result
        return { ...result, snapshot: snapshotOf(result.snapshot) }
      },
    }
  }
  const { depositExternally, settleExternally, holdPlayer, changeCurrency } = harness
  return {
    ...harness,
    async open(players) {
      const opened = await harness.open(players.map(inIds))
      return { ...opened, store: translated(opened.store) }
    },
    reopen: async opened => translated((await harness.reopen?.(opened)) as WalletStore),
    crash: async opened => translated((await harness.crash?.(opened)) as WalletStore),
    ...(depositExternally && {
      depositExternally: (opened: Opened, playerId: string, amount: string, currency: string) =>
        depositExternally(opened, toId(playerId), amount, currency),
    }),
    ...(settleExternally && {
      settleExternally: (opened: Opened, settlement: Parameters<typeof settleExternally>[1]) =>
        settleExternally(opened, inIds(settlement)),
    }),
    ...(holdPlayer && {
      holdPlayer: (opened: Opened, playerId: string, currency: string) =>
        holdPlayer(opened, toId(playerId), currency),
    }),
    ...(changeCurrency && {
      changeCurrency: (opened: Opened, playerId: string, currency: string) =>
        changeCurrency(opened, toId(playerId), currency),
    }),
  }
}
