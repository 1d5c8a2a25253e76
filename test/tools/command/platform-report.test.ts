/** The platform's report that `simulate --report` writes at the end of a run. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { openReport } from '../../../src/tools/command/output.js'
import { endPlatformReport } from '../../../src/tools/command/simulate.js'

const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-report-'))
afterEach(() => vi.restoreAllMocks())
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function end(file: string, complete: boolean) {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const platform = openReport(file, 'header\n')
  endPlatformReport(file, platform, { complete, startedAt: '2026-11-23T20:00:00.000Z' })
  platform.discard()
  return { out: log.mock.calls.join('\n'), error: error.mock.calls.join('\n') }
}

test('given an incomplete run, then no report is left, and why', () => {
  const file = join(folder, 'platform.csv')
  expect(end(file, false)).toEqual({ out: '', error: expect.stringContaining(`Not written: ${file}.`) })
  expect(readdirSync(folder)).toEqual([])
})

test('given a name that a shell would split, then it is quoted in the next command', () => {
  const file = join(folder, "anna's report.csv")
  expect(end(file, true).error).toContain(
    `npx bet-wallet reconcile '${file.replace("'", `'\\''`)}' --from 2026-11-23T20:00:00Z --to `,
  )
  expect(existsSync(file) && readFileSync(file, 'utf8')).toBe('header\n')
})
