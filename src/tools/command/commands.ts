/** The commands by name, each loaded when it is called. command.ts itself runs when it is imported. */
import { type Command, rowOf } from './subcommand.js'

const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  try: async () => (await import('./try.js')).tryWallet,
  init: async () => (await import('./init.js')).init,
  migrate: async () => (await import('./migrate.js')).migrate,
  grants: async () => (await import('./grants.js')).grants,
  check: async () => (await import('./check.js')).check,
  audit: async () => (await import('./audit.js')).audit,
  simulate: async () => (await import('./simulate.js')).simulate,
  bet: async () => (await import('./lookups.js')).bet,
  transaction: async () => (await import('./lookups.js')).transaction,
  player: async () => (await import('./lookups.js')).player,
  owed: async () => (await import('./lookups.js')).owed,
  reconcile: async () => (await import('./reconcile.js')).reconcile,
}

export const commandNames: readonly string[] = Object.keys(loaders)

/** @returns `null` for a name that is none */
export async function loadCommand(name: string | undefined): Promise<Command | null> {
  const isKnown = name !== undefined && Object.hasOwn(loaders, name)
  return (isKnown && (await loaders[name]?.())) || null
}

export const allCommands = (): Promise<Command[]> => Promise.all(Object.values(loaders).map(load => load()))

const usageColumns = 28

export async function overview(): Promise<string> {
  const lines = (await allCommands()).map(({ usage, summary }) => rowOf(usage, usageColumns, summary))
  return `Usage\n  bet-wallet <command> [options]\n\n${lines.join('\n')}\n\nSee bet-wallet <command> --help. The version: bet-wallet --version.`
}
