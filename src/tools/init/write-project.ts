/** Everything that `init` writes for a mapping. Pure. */
import { kitFile } from './kit-file.js'
import type { Mapping } from './mapping.js'
import { type MigrationPlace, migrationOf, type WrittenFile } from './migration-files.js'
import type { Framework, MigrationTool } from './project.js'
import { type Nest, serverFile } from './server-file.js'
import { storeFile } from './store-file.js'

export interface Choices {
  framework: Framework
  tool: MigrationTool
  /** Where the programs go, below the current folder: `.`, `src/wallet`. */
  folder: string
  place: MigrationPlace
  nest: Nest
  /** The GRANT statements. */
  grants: string
}

/** The names of the files that every project gets, below its folder. */
const fixedFiles = ['store.ts', 'server.ts', 'kit.ts', 'grants.sql']

/** @returns the files, and how the migration is run */
export function projectFiles(mapping: Mapping, choices: Choices): { files: WrittenFile[]; run: string } {
  const { framework, tool, folder, place, nest, grants } = choices
  const { isModule } = place
  const migration = migrationOf(mapping, tool, place)
  const inFolder = (path: string) => (folder === '.' ? path : `${folder}/${path}`)
  const texts = [
    storeFile(mapping, isModule, migration.byProgram),
    serverFile(framework, isModule, nest),
    kitFile(mapping, isModule),
    grants,
  ]
  return {
    files: [
      ...fixedFiles.map((name, index) => ({ path: inFolder(name), text: texts[index] ?? '' })),
      ...migration.files.map(({ path, text }) => ({
        path: migration.byProgram ? inFolder(path) : path,
        text,
      })),
    ],
    run: migration.byProgram ? `npx tsx ${inFolder('migrate.ts')}` : migration.run,
  }
}
