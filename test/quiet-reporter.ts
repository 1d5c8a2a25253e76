/** Prints what failed, and in a few lines what was skipped and why. No line for what passed. */
import { fileURLToPath } from 'node:url'
import {
  DefaultReporter,
  type SerializedError,
  type TestCase,
  type TestModule,
  type TestRunEndReason,
} from 'vitest/node'

const linesMax = 12

export default class QuietReporter extends DefaultReporter {
  protected override printTestModule(module: TestModule): void {
    if (!module.ok()) super.printTestModule(module)
  }

  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    end: TestRunEndReason,
  ): void {
    super.onTestRunEnd(modules, errors, end)
    for (const line of skippedLines(modules)) this.log(line)
  }
}

function skippedLines(modules: readonly TestModule[]): string[] {
  const counts = new Map<string, number>()
  for (const module of modules) {
    for (const test of module.children.allTests('skipped')) {
      const reason = reasonOf(test)
      counts.set(reason, (counts.get(reason) ?? 0) + 1)
    }
  }
  const lines = [...counts].sort(([, one], [, other]) => other - one)
  const shown = lines
    .slice(0, linesMax)
    .map(([reason, count]) => `${String(count).padStart(5)} skipped: ${reason}`)
  const rest = lines.slice(linesMax).reduce((sum, [, count]) => sum + count, 0)
  return rest === 0
    ? shown
    : [...shown, `${String(rest).padStart(5)} skipped for other reasons: --reporter=verbose`]
}

/** From the call of `skip`, or in brackets or behind a colon in the name of the test or of a group around it. */
function reasonOf(test: TestCase): string {
  const result = test.result()
  if (result.state === 'skipped' && result.note) return result.note
  for (let each: TestCase | TestCase['parent'] = test; each.type !== 'module'; each = each.parent) {
    const reason =
      /\((?:skipped: )?([^()]*(?:\([^()]*\)[^()]*)*)\)$/.exec(each.name)?.[1] ??
      /: (.+)$/.exec(each.name)?.[1]
    if (reason !== undefined) return reason
  }
  return `no reason is given: ${test.fullName}`
}

/** For a configuration: what a passing test prints is not shown. */
export const quiet = { reporters: [fileURLToPath(import.meta.url)], silent: 'passed-only' as const }
