import { describe, expect, test } from 'vitest'
import { Platform } from './client.js'
import { type FaultName, faults, type PlainWalletOptions, startPlainWallet } from './plain.js'
import { decided, players, type Scene, specified } from './scenes.js'

const scenes = [...specified, ...decided]

/** Errors that wallets have answered as 500. */
const unexpected: unknown[] = []

const play = async (
  scene: Scene,
  fault: PlainWalletOptions = {},
): Promise<[seen: unknown, valid: unknown][]> => {
  const wallet = await startPlainWallet({
    players,
    onUnexpected: error => unexpected.push(error),
    ...scene.options,
    ...fault,
  })
  try {
    return await scene.play(new Platform(wallet))
  } finally {
    await wallet.close()
  }
}

const seenOf = (pairs: [unknown, unknown][]): unknown[] => pairs.map(([seen]) => seen)
const validOf = (pairs: [unknown, unknown][]): unknown[] => pairs.map(([, valid]) => valid)

describe('the correct wallet', () => {
  test.each(scenes)('$title', async scene => {
    unexpected.length = 0
    const pairs = await play(scene)
    expect(seenOf(pairs)).toEqual(validOf(pairs))
    expect(unexpected).toEqual([])
  })

  test('refuses to start with a balance that is not an amount', async () => {
    const unreadable = [{ playerId: 'p', currency: 'EUR', balance: '1,00' }]
    await expect(startPlainWallet({ players: unreadable })).rejects.toThrow(RangeError)
  })

  test('accepts the given credentials', async () => {
    const credentials = { username: 'benutzer', password: 'pass:wört' }
    const wallet = await startPlainWallet({ credentials })
    try {
      expect(wallet.credentials).toEqual(credentials)
      expect(await new Platform(wallet).rollBack({ playerId: 'player-1' })).toBe('200 100.00')
    } finally {
      await wallet.close()
    }
  })
})

test('a wallet that answers 500 reports the error to its operator', async () => {
  unexpected.length = 0
  const scene = specified.find(({ catches }) => catches.includes('malformed-json-500'))
  expect(scene).toBeDefined()
  if (scene !== undefined) await play(scene, { fault: 'malformed-json-500' })
  expect(unexpected[0]).toBeInstanceOf(SyntaxError)
})

describe('every fault shows', () => {
  const shows = scenes.flatMap(scene => scene.catches.map(fault => ({ fault, scene })))

  test.each(shows)('$fault', async ({ fault, scene }) => {
    const pairs = await play(scene, { fault })
    expect(seenOf(pairs)).not.toEqual(validOf(pairs))
  })

  test('in one scene at least', () => {
    const shown = new Set<FaultName>(shows.map(({ fault }) => fault))
    expect([...shown].sort()).toEqual(Object.keys(faults).sort())
  })
})
