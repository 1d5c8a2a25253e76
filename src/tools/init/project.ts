/** What the operator's `package.json` names: the framework, the migration tool, the kind of modules. */

export type Framework = 'nestjs' | 'fastify' | 'express' | 'koa' | 'hono' | 'node'
export type MigrationTool =
  | 'flyway'
  | 'node-pg-migrate'
  | 'prisma'
  | 'drizzle'
  | 'knex'
  | 'kysely'
  | 'typeorm'
  | 'none'

export interface Project {
  /** Those that it names; the most specific first. */
  frameworks: readonly Framework[]
  tools: readonly MigrationTool[]
  /** `false`: CommonJS. */
  isModule: boolean
  has(dependency: string): boolean
}

/** The package of each framework. NestJS brings Express or Fastify, which are then not meant. */
const frameworkPackages: Readonly<Record<Exclude<Framework, 'node'>, string>> = {
  nestjs: '@nestjs/core',
  fastify: 'fastify',
  express: 'express',
  koa: 'koa',
  hono: 'hono',
}

const toolPackages: Readonly<Record<Exclude<MigrationTool, 'none'>, readonly string[]>> = {
  flyway: ['node-flywaydb', 'flyway'],
  'node-pg-migrate': ['node-pg-migrate'],
  prisma: ['prisma'],
  drizzle: ['drizzle-kit'],
  knex: ['knex'],
  kysely: ['kysely', 'kysely-ctl'],
  typeorm: ['typeorm'],
}

export const frameworks = [...Object.keys(frameworkPackages), 'node'] as Framework[]
export const migrationTools = [...Object.keys(toolPackages), 'none'] as MigrationTool[]

/** @param manifest the content of package.json */
export function projectOf(manifest: unknown): Project {
  const { type, dependencies, devDependencies } = (manifest ?? {}) as Record<string, unknown>
  const names = new Set(
    [dependencies, devDependencies].flatMap(list => Object.keys((list as object | undefined) ?? {})),
  )
  const found = frameworks.filter(each => each !== 'node' && names.has(frameworkPackages[each]))
  const tools = migrationTools.filter(
    each => each !== 'none' && toolPackages[each].some(name => names.has(name)),
  )
  return {
    frameworks: found.includes('nestjs') ? ['nestjs'] : found,
    tools,
    isModule: type === 'module',
    has: name => names.has(name),
  }
}
