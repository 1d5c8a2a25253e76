/** The rooms of src, and who may enter which: imports run downwards, and every dependency has its one room. */
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

/** From the ground up. A room may use its own floor and those below it. */
const floors = [
  ['money', 'store'],
  ['currencies', 'outcomes', 'errors', 'requests'],
  ['decide'],
  ['options', 'store-checks'],
  ['attempts'],
  ['handlers'],
  ['http'],
]
const everythingUpTo = (room: string) =>
  floors.slice(0, floors.findIndex(floor => floor.includes(room)) + 1).flat()

/** For every room the rooms that it may enter, beside itself. Who adds a room says here where it stands. */
const mayEnter: Record<string, readonly string[]> = {
  ...Object.fromEntries(floors.flat().map(room => [room, everythingUpTo(room)])),
  stores: ['money', 'store'],
  index: everythingUpTo('handlers'),
  testing: everythingUpTo('handlers'),
  // Judges wallets that may be built with the library, and so shares no code with it: an error must not hide another.
  audit: [],
}

/** Modules of which only types may be imported. */
const mayNameTypesOf: Record<string, readonly string[]> = { audit: ['store', 'requests'] }

/** The one room of each package. No other package is imported, and so no framework, driver or test runner. */
const roomOfPackage: Record<string, string> = { 'big.js': 'money', zod: 'requests', 'fast-check': 'testing' }
const roomsOfBuiltins = ['http', 'audit']

const namesThatSayNothing = ['utils', 'helpers', 'common', 'types']

/** What is wrong with these files (path below src → text), one sentence each. */
function flawsOf(files: ReadonlyMap<string, string>): string[] {
  const flaws: string[] = []
  const graph = new Map<string, string[]>()
  for (const [path, text] of files) {
    const room = roomOf(path)
    const allowed = mayEnter[room]
    if (allowed === undefined) flaws.push(`${path}: the room ${room} stands on no floor`)
    for (const name of path.replace(/\.ts$/, '').split('/')) {
      if (namesThatSayNothing.includes(name)) flaws.push(`${path}: ${name} is no name for what a file holds`)
    }

    const targets: string[] = []
    graph.set(path, targets)
    const loaded = importsOf(path, text, false)
    for (const specifier of importsOf(path, text)) {
      if (specifier === null) {
        flaws.push(`${path} imports what is only known when it runs`)
      } else if (!specifier.startsWith('.')) {
        const homes = builtinModules.includes(specifier.replace(/^node:/, ''))
          ? roomsOfBuiltins
          : [roomOfPackage[specifier] ?? []].flat()
        if (homes.length === 0) flaws.push(`${path} imports ${specifier}, which is no dependency of src`)
        else if (!homes.includes(room))
          flaws.push(`${path} imports ${specifier}, which lives in ${homes.join(' and ')} alone`)
      } else {
        const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts')
        targets.push(target)
        const entered = roomOf(target)
        if (!files.has(target)) flaws.push(`${path} imports ${specifier}, which is not there`)
        else if (!loaded.includes(specifier) && mayNameTypesOf[room]?.includes(entered)) continue
        else if (entered !== room && !allowed?.includes(entered))
          flaws.push(`${path} imports ${target}: ${room} may not enter ${entered}`)
      }
    }
  }
  for (const cycle of cyclesOf(graph)) flaws.push(`a cycle: ${cycle.join(' → ')}`)
  return flaws
}

/** `decide/place-bet.ts` is in `decide`, `money.ts` in `money`. */
function roomOf(path: string): string {
  return path.replace(/\.ts$/, '').split('/')[0] as string
}

/**
 * Every module that a file names, in whatever way; `null` for an import of what is no literal.
 *
 * @param types `false`: without those that are imported for their types only
 */
function importsOf(path: string, text: string, types = true): (string | null)[] {
  const found: (string | null)[] = []
  const literal = (node: ts.Node | undefined) =>
    found.push(node !== undefined && ts.isStringLiteralLike(node) ? node.text : null)
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      if (types || !node.importClause?.isTypeOnly) literal(node.moduleSpecifier)
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      if (types || !node.isTypeOnly) literal(node.moduleSpecifier)
    } else if (ts.isExternalModuleReference(node)) literal(node.expression)
    else if (ts.isImportTypeNode(node)) {
      if (types) literal(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined)
    } else if (ts.isCallExpression(node)) {
      const { expression } = node
      const called = ts.isIdentifier(expression) && expression.text === 'require'
      if (called || expression.kind === ts.SyntaxKind.ImportKeyword) literal(node.arguments[0])
    }
    ts.forEachChild(node, visit)
  }
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  visit(source)
  for (const { fileName } of [...source.referencedFiles, ...source.typeReferenceDirectives])
    found.push(fileName)
  return found
}

function cyclesOf(graph: ReadonlyMap<string, string[]>): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const walk = (path: string, way: string[]): void => {
    if (way.includes(path)) cycles.push([...way.slice(way.indexOf(path)), path])
    else if (!done.has(path)) {
      for (const target of graph.get(path) ?? []) walk(target, [...way, path])
      done.add(path)
    }
  }
  for (const path of graph.keys()) walk(path, [])
  return cycles
}

const root = fileURLToPath(new URL('../src', import.meta.url))
const source = new Map(
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map(path => path.replaceAll('\\', '/'))
    .filter(path => path.endsWith('.ts'))
    .map(path => [path, readFileSync(`${root}/${path}`, 'utf8')] as const),
)

describe('the rooms of src', () => {
  it('are entered from above only, and every dependency has its one room', () => {
    expect(flawsOf(source)).toEqual([])
  })

  it('are all looked at, with what they import', () => {
    expect([...new Set([...source.keys()].map(roomOf))].sort()).toEqual(Object.keys(mayEnter).sort())
    expect(importsOf('money.ts', source.get('money.ts') ?? '')).toEqual(['big.js'])
    expect(importsOf('requests.ts', source.get('requests.ts') ?? '')).toContain('zod')
  })

  it('hold files that are named by what they hold', () => {
    const names = [...source.keys()].map(path => basename(path, '.ts'))
    expect(names.filter(name => !/^[a-z]+(?:-[a-z]+)*$/.test(name))).toEqual([])
  })
})

describe('the check of the rooms', () => {
  const sound = {
    'money.ts': `import Big from 'big.js'`,
    'store.ts': `import type { Decimal } from './money.js'\nexport type { Decimal }`,
    'requests.ts': `import { z } from 'zod'\nimport { add } from './money.js'`,
    'decide/rules.ts': `import { add } from '../money.js'`,
    'decide/index.ts': `export { rule } from './rules.js'\nexport type * from '../store.js'`,
    'http/body.ts': `import { createHash } from 'node:crypto'`,
    'stores/memory.ts': `import type { Bet } from '../store.js'`,
    'audit/target.ts': `import type { SettlementRequest } from '../requests.js'\nexport type * from '../store.js'`,
  }
  const flawsWith = (files: Record<string, string>) =>
    flawsOf(new Map(Object.entries({ ...sound, ...files })))

  it('finds nothing in a sound sample', () => {
    expect(flawsWith({})).toEqual([])
  })

  it.each([
    ['an import', `import { z } from '../requests.js'`],
    ['an import for its effect', `import '../requests.js'`],
    ['an import of a type', `import type { PlaceBetRequest } from '../requests.js'`],
    ['a type named in place', `let request: import('../requests.js').PlaceBetRequest`],
    ['a re-export', `export { createRequestReader } from '../requests.js'`],
    ['a re-export of everything', `export * from '../requests.js'`],
    ['a re-export of types', `export type * from '../requests.js'`],
    ['an import while running', `export const later = () => import('../requests.js')`],
    ['require', `const requests = require('../requests.js')`],
    ['import = require', `import requests = require('../requests.js')`],
  ])('finds a store that looks into the requests: %s', (_, text) => {
    expect(flawsWith({ 'stores/memory.ts': text })).toEqual([
      'stores/memory.ts imports requests.ts: stores may not enter requests',
    ])
  })

  it.each([
    ['what is not there', { 'store.ts': `import './attic.js'` }, /attic.js, which is not there/],
    ['upwards', { 'store.ts': `import './requests.js'` }, /store may not enter requests/],
    ['further upwards', { 'decide/rules.ts': `import '../http/body.js'` }, /decide may not enter http/],
    ['into a store', { 'http/body.ts': `import '../stores/memory.js'` }, /http may not enter stores/],
    ['out of the front door', { 'index.ts': `export * from './http/body.js'` }, /index may not enter http/],
    ['from a store into the rules', { 'stores/a.ts': `import '../decide/rules.js'` }, /may not enter decide/],
    ['big.js elsewhere', { 'decide/rules.ts': `import Big from 'big.js'` }, /lives in money alone/],
    ['zod elsewhere', { 'store.ts': `import type { z } from 'zod'` }, /lives in requests alone/],
    ['a builtin elsewhere', { 'store.ts': `import 'node:fs'` }, /lives in http and audit alone/],
    ['a builtin without its prefix', { 'store.ts': `import 'crypto'` }, /lives in http and audit alone/],
    ['a part of a dependency', { 'requests.ts': `import 'zod/v4/core'` }, /no dependency/],
    ['a framework', { 'http/body.ts': `import type { Request } from 'express'` }, /no dependency/],
    ['a driver', { 'stores/pg.ts': `import { Pool } from 'pg'` }, /no dependency/],
    ['a test runner', { 'http/body.ts': `import { it } from 'vitest'` }, /no dependency/],
    ['fast-check', { 'http/body.ts': `import * as fc from 'fast-check'` }, /lives in testing alone/],
    [
      'a store of ours in the kit',
      { 'testing/cases.ts': `import '../stores/memory.js'` },
      /may not enter stores/,
    ],
    [
      'the rules in the audit',
      { 'audit/cases.ts': `import '../decide/rules.js'` },
      /audit may not enter decide/,
    ],
    [
      'arithmetic of the library in the audit',
      { 'audit/amounts.ts': `import { add } from '../money.js'` },
      /audit may not enter money/,
    ],
    [
      'a type of its arithmetic',
      { 'audit/amounts.ts': `import type { Decimal } from '../money.js'` },
      /audit may not enter money/,
    ],
    [
      'the schemas of the library in the audit',
      { 'audit/target.ts': `import { type SettlementRequest, createRequestParser } from '../requests.js'` },
      /audit may not enter requests/,
    ],
    [
      'an import that is loaded for a type',
      { 'audit/target.ts': `import { type SettlementRequest } from '../requests.js'` },
      /audit may not enter requests/,
    ],
    ['a reference', { 'store.ts': `/// <reference types="node" />` }, /no dependency/],
    ['what nobody can check', { 'store.ts': 'export const f = (x: string) => import(x)' }, /when it runs/],
    ['a room without a floor', { 'attic.ts': '' }, /stands on no floor/],
    ['a cycle', { 'money.ts': `import './store.js'` }, /a cycle: money.ts → store.ts → money.ts/],
    ['a file of its own', { 'money.ts': `import './money.js'` }, /a cycle: money.ts → money.ts/],
    ['a name that says nothing', { 'decide/helpers.ts': '' }, /helpers is no name/],
    ['a folder that says nothing', { 'http/utils/a.ts': '' }, /utils is no name/],
  ])('finds: %s', (_, files, flaw) => {
    const flaws = flawsWith(files as unknown as Record<string, string>)
    expect(flaws).toHaveLength(1)
    expect(flaws[0]).toMatch(flaw)
  })
})
