/** The layers of src: imports point down only, and each dependency is used by one module. */
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

/** From the bottom up. A module may import from its own layer and the layers below. */
const layers = [
  ['credits', 'money', 'store', 'foreign-values', 'visible-text', 'sharing'],
  ['currencies', 'outcomes', 'errors', 'diagnostics', 'requests', 'hooks', 'option-checks', 'timeout'],
  ['decide', 'describe-error'],
  ['options', 'store-checks'],
  ['authorization', 'partition-store', 'store-calls'],
  ['attempts'],
  ['handlers'],
  ['http'],
]
const layersUpTo = (module: string) =>
  layers.slice(0, layers.findIndex(layer => layer.includes(module)) + 1).flat()

/** Per module, the modules that it may import, beside itself. A new module is added here, in its layer. */
const mayImport: Record<string, readonly string[]> = {
  ...Object.fromEntries(layers.flat().map(module => [module, layersUpTo(module)])),
  batches: ['errors', 'diagnostics', 'option-checks', 'foreign-values', 'hooks'],
  lookups: ['money', 'store', 'currencies', 'outcomes', 'option-checks'],
  stores: [
    'credits',
    'money',
    'store',
    'diagnostics',
    'hooks',
    'option-checks',
    'sharing',
    'timeout',
    'foreign-values',
    'batches',
    'lookups',
  ],
  operations: [
    'store',
    'errors',
    'diagnostics',
    'hooks',
    'foreign-values',
    'visible-text',
    'option-checks',
    'sharing',
    'timeout',
    'batches',
  ],
  index: layersUpTo('handlers'),
  testing: layersUpTo('handlers'),
  // The judges share no arithmetic, no rule and no reader with the wallets that they judge. What they import of the wallet's
  // folder knows nothing of a wallet.
  'tools/report': ['visible-text'],
  'tools/numbers': [],
  'tools/wire': ['foreign-values', 'option-checks', 'timeout', 'tools/numbers'],
  'tools/random': ['foreign-values', 'tools/numbers', 'tools/report', 'tools/wire'],
  'tools/audit': ['foreign-values', 'timeout', 'tools/report', 'tools/numbers', 'tools/wire', 'tools/random'],
  'tools/reconcile': ['foreign-values', 'option-checks', 'tools/report', 'tools/numbers', 'tools/wire'],
  'tools/check': ['foreign-values', 'currencies', 'money', 'option-checks', 'stores', 'tools/init'],
  'tools/records': ['money', 'store', 'currencies', 'lookups', 'tools/report'],
  'tools/try': [
    'foreign-values',
    'lookups',
    'stores',
    'tools/numbers',
    'tools/wire',
    'tools/records',
    'tools/report',
  ],
  'tools/init': ['currencies', 'stores', 'tools/report', 'tools/wire'],
  'tools/command': [
    'foreign-values',
    'visible-text',
    'index',
    'http',
    'lookups',
    'stores',
    'tools/numbers',
    'tools/wire',
    'tools/audit',
    'tools/random',
    'tools/reconcile',
    'tools/try',
    'tools/check',
    'tools/records',
    'tools/report',
    'tools/init',
  ],
}

/** Modules of which a module may import types. */
const mayImportTypes = (module: string): readonly string[] =>
  module.startsWith('tools/')
    ? ['store', 'outcomes', 'requests', 'lookups']
    : module === 'lookups'
      ? ['http']
      : []

/** The one module that imports each package. No framework, driver or test runner is among them. */
const moduleOfPackage: Record<string, string> = {
  'big.js': 'money',
  zod: 'requests',
  'fast-check': 'testing',
}
const modulesOfBuiltins = [
  'diagnostics',
  'http',
  'tools/wire',
  'tools/audit',
  'tools/random',
  'tools/reconcile',
  'tools/command',
  'tools/try',
  'tools/check',
  'tools/init',
]

/** The command imports the operator's config file. */
const modulesOfImportsAtRunTime = ['tools/command']

const vagueNames = ['utils', 'helpers', 'common', 'types']

/** The problems of these files (path below src → text), one sentence each. */
function problemsOf(files: ReadonlyMap<string, string>): string[] {
  const problems: string[] = []
  const graph = new Map<string, string[]>()
  for (const [path, text] of files) {
    const module = moduleOf(path)
    const allowed = mayImport[module]
    if (allowed === undefined) problems.push(`${path}: the module ${module} is in no layer`)
    for (const name of path.replace(/\.ts$/, '').split('/')) {
      if (vagueNames.includes(name))
        problems.push(`${path}: the name ${name} does not say what the file holds`)
    }

    const targets: string[] = []
    graph.set(path, targets)
    const loaded = importsOf(path, text, false)
    for (const specifier of importsOf(path, text)) {
      if (specifier === null) {
        if (modulesOfImportsAtRunTime.includes(module)) continue
        problems.push(`${path} has an import that is only known at run time`)
      } else if (!specifier.startsWith('.')) {
        const importers = builtinModules.includes(specifier.replace(/^node:/, ''))
          ? modulesOfBuiltins
          : [moduleOfPackage[specifier] ?? []].flat()
        if (importers.length === 0)
          problems.push(`${path} imports ${specifier}, which is not a dependency of src`)
        else if (!importers.includes(module))
          problems.push(`${path} imports ${specifier}, which only ${importers.join(' and ')} may import`)
      } else {
        const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts')
        targets.push(target)
        const imported = moduleOf(target)
        if (!files.has(target)) problems.push(`${path} imports ${specifier}, which does not exist`)
        else if (!loaded.includes(specifier) && mayImportTypes(module).includes(imported)) continue
        else if (imported !== module && !allowed?.includes(imported))
          problems.push(`${path} imports ${target}: ${module} may not import ${imported}`)
      }
    }
  }
  for (const cycle of cyclesOf(graph)) problems.push(`a cycle: ${cycle.join(' → ')}`)
  return problems
}

/** `decide/place-bet.ts` is in `decide`, `money.ts` in `money`, `tools/audit/run.ts` in `tools/audit`. */
function moduleOf(path: string): string {
  const [first = '', second] = path.replace(/\.ts$/, '').split('/')
  return first === 'tools' ? `${first}/${second}` : first
}

/**
 * The import specifiers of a file, in every form; `null` for a specifier that is not a literal.
 *
 * @param types `false`: without type-only imports
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

describe('the modules of src', () => {
  it('import from their own layer and below, and each dependency is imported by one module', () => {
    expect(problemsOf(source)).toEqual([])
  })

  // Of the stores, QueryFailed makes every value readable.
  it('ask for the class of a foreign value by isA alone: a revoked proxy throws', () => {
    const asked = [...source]
      .filter(([path]) => path !== 'foreign-values.ts' && !path.startsWith('stores/'))
      .flatMap(([path, text]) =>
        [...text.matchAll(/ instanceof (\w+)/g)].map(([, type = '']) => ({ path, type })),
      )
    const isOwn = ({ path, type }: (typeof asked)[number]) =>
      /^(?:tools|testing)\//.test(path) && !(/Error$/.test(type) && type in globalThis)
    expect(asked.filter(each => !isOwn(each))).toEqual([])
  })

  it('are all checked, with their imports', () => {
    expect([...new Set([...source.keys()].map(moduleOf))].sort()).toEqual(Object.keys(mayImport).sort())
    expect(importsOf('money.ts', source.get('money.ts') ?? '')).toEqual(['big.js'])
    expect(importsOf('requests.ts', source.get('requests.ts') ?? '')).toContain('zod')
  })

  it('have file names in lower case with hyphens', () => {
    const names = [...source.keys()].map(path => basename(path, '.ts'))
    expect(names.filter(name => !/^[a-z]+(?:-[a-z]+)*$/.test(name))).toEqual([])
  })
})

describe('the check itself', () => {
  const valid = {
    'money.ts': `import Big from 'big.js'`,
    'store.ts': `import type { Decimal } from './money.js'\nexport type { Decimal }`,
    'requests.ts': `import { z } from 'zod'\nimport { add } from './money.js'`,
    'decide/rules.ts': `import { add } from '../money.js'`,
    'decide/index.ts': `export { rule } from './rules.js'\nexport type * from '../store.js'`,
    'http/body.ts': `import { createHash } from 'node:crypto'`,
    'lookups/totals.ts': `import type { Route } from '../http/body.js'`,
    'stores/memory.ts': `import type { Bet } from '../store.js'`,
    'tools/report/markup.ts': '',
    'tools/audit/target.ts': `import type { SettlementRequest } from '../../requests.js'\nexport type * from '../../store.js'`,
  }
  const problemsWith = (files: Record<string, string>) =>
    problemsOf(new Map(Object.entries({ ...valid, ...files })))

  it('finds no problem in a valid sample', () => {
    expect(problemsWith({})).toEqual([])
  })

  it.each([
    ['an import', `import { z } from '../requests.js'`],
    ['an import for its effect', `import '../requests.js'`],
    ['an import of a type', `import type { PlaceBetRequest } from '../requests.js'`],
    ['an inline import type', `let request: import('../requests.js').PlaceBetRequest`],
    ['a re-export', `export { createRequestParser } from '../requests.js'`],
    ['a re-export of everything', `export * from '../requests.js'`],
    ['a re-export of types', `export type * from '../requests.js'`],
    ['a dynamic import', `export const later = () => import('../requests.js')`],
    ['require', `const requests = require('../requests.js')`],
    ['import = require', `import requests = require('../requests.js')`],
  ])('finds a store that imports the requests: %s', (_, text) => {
    expect(problemsWith({ 'stores/memory.ts': text })).toEqual([
      'stores/memory.ts imports requests.ts: stores may not import requests',
    ])
  })

  it.each([
    ['a missing file', { 'store.ts': `import './attic.js'` }, /attic.js, which does not exist/],
    ['upwards', { 'store.ts': `import './requests.js'` }, /store may not import requests/],
    ['further upwards', { 'decide/rules.ts': `import '../http/body.js'` }, /decide may not import http/],
    ['into a store', { 'http/body.ts': `import '../stores/memory.js'` }, /http may not import stores/],
    ['out of the index', { 'index.ts': `export * from './http/body.js'` }, /index may not import http/],
    [
      'from a store into the rules',
      { 'stores/a.ts': `import '../decide/rules.js'` },
      /may not import decide/,
    ],
    ['big.js elsewhere', { 'decide/rules.ts': `import Big from 'big.js'` }, /only money may import/],
    ['zod elsewhere', { 'store.ts': `import type { z } from 'zod'` }, /only requests may import/],
    [
      'a builtin elsewhere',
      { 'store.ts': `import 'node:fs'` },
      /only diagnostics and http and tools.wire and .* may import/,
    ],
    [
      'a builtin without its prefix',
      { 'store.ts': `import 'crypto'` },
      /only diagnostics and http and tools.wire and .* may import/,
    ],
    ['a part of a dependency', { 'requests.ts': `import 'zod/v4/core'` }, /not a dependency/],
    ['a framework', { 'http/body.ts': `import type { Request } from 'express'` }, /not a dependency/],
    ['a driver', { 'stores/pg.ts': `import { Pool } from 'pg'` }, /not a dependency/],
    ['a test runner', { 'http/body.ts': `import { it } from 'vitest'` }, /not a dependency/],
    ['fast-check', { 'http/body.ts': `import * as fc from 'fast-check'` }, /only testing may import/],
    ['a store in the kit', { 'testing/cases.ts': `import '../stores/memory.js'` }, /may not import stores/],
    ['HTTP in the look-ups', { 'lookups/a.ts': `import '../http/body.js'` }, /lookups may not import http/],
    [
      'a tool in the wallet',
      { 'http/body.ts': `import '../tools/report/markup.js'` },
      /may not import tools.report/,
    ],
    [
      'the rules in the audit',
      { 'tools/audit/cases.ts': `import '../../decide/rules.js'` },
      /tools.audit may not import decide/,
    ],
    [
      "the core's arithmetic in the audit",
      { 'tools/audit/amounts.ts': `import { add } from '../../money.js'` },
      /tools.audit may not import money/,
    ],
    [
      'a type of its arithmetic',
      { 'tools/audit/amounts.ts': `import type { Decimal } from '../../money.js'` },
      /tools.audit may not import money/,
    ],
    [
      "the core's schemas in the audit",
      {
        'tools/audit/target.ts': `import { type SettlementRequest, createRequestParser } from '../../requests.js'`,
      },
      /tools.audit may not import requests/,
    ],
    [
      'an import that is loaded for a type',
      { 'tools/audit/target.ts': `import { type SettlementRequest } from '../../requests.js'` },
      /tools.audit may not import requests/,
    ],
    ['a reference', { 'store.ts': `/// <reference types="node" />` }, /not a dependency/],
    ['a computed import', { 'store.ts': 'export const f = (x: string) => import(x)' }, /at run time/],
    ['a module without a layer', { 'attic.ts': '' }, /is in no layer/],
    ['a cycle', { 'money.ts': `import './store.js'` }, /a cycle: money.ts → store.ts → money.ts/],
    ['a file that imports itself', { 'money.ts': `import './money.js'` }, /a cycle: money.ts → money.ts/],
    ['a vague name', { 'decide/helpers.ts': '' }, /the name helpers/],
    ['a vague folder name', { 'http/utils/a.ts': '' }, /the name utils/],
  ])('finds: %s', (_, files, problem) => {
    const problems = problemsWith(files as unknown as Record<string, string>)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(problem)
  })
})

describe('the types of callbacks and services', () => {
  // `const { refuse } = call` of a method fails the rule unbound-method of typescript-eslint.
  it.each([
    ['stores/database/within-transaction.ts', 'PendingCommit'],
    ['http/authentication.ts', 'AuthenticationCall'],
    ['batches/queue.ts', 'Entry'],
    ['operations/health.ts', 'Health'],
    ['stores/database/relay.ts', 'Relay'],
    ['stores/database/store.ts', 'DatabaseStore'],
    ['stores/mysql/store.ts', 'MysqlStore'],
    ['stores/memory.ts', 'MemoryStore'],
    ['lookups/records.ts', 'WalletLookups'],
    ['testing/harness.ts', 'WalletStoreCase'],
    ['tools/try/memory-wallet.ts', 'MemoryWallet'],
    ['tools/try/data-folder.ts', 'DataFolder'],
  ])('%s: %s has properties, no methods: callers take it apart', (path, name) => {
    const text = readFileSync(new URL(`../src/${path}`, import.meta.url), 'utf8')
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
    const found = source.statements.filter(ts.isInterfaceDeclaration).find(each => each.name.text === name)
    expect(found).toBeDefined()
    expect(found?.members.filter(ts.isMethodSignature).map(member => member.getText(source))).toEqual([])
  })
})
