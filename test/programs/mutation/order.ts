/** The order of the test files: the first failure ends a mutant, so the fast tests that kill most come first. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const first = [
  'test/money.test.ts',
  'test/requests.test.ts',
  'test/http/basic-auth.test.ts',
  'test/decide/',
  'test/store-checks.test.ts',
  'test/attempts.test.ts',
  'test/assumed-commit.test.ts',
  'test/confirmed-load.test.ts',
  'test/http/json.test.ts',
  'test/http/',
  'test/', // the others
  'test/properties/',
  'test/programs/mutation/',
]

/** The position of the longest entry that the path contains. */
function rankOf(path: string): number {
  const entries = first.filter(entry => path.includes(`/${entry}`)).sort((a, b) => b.length - a.length)
  return first.indexOf(entries[0] ?? 'test/')
}

export class FastestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return [...files].sort((a, b) => rankOf(a.moduleId) - rankOf(b.moduleId))
  }
}
