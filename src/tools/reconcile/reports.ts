/** Several reports of the platform as one. */
import { ofReport, ReconcileError } from './errors.js'
import { type Field, fields } from './mapping.js'
import type { Settings } from './options.js'
import { type OpenedReport, openReport } from './report-rows.js'
import type { ReportSource } from './text-chunks.js'

/**
 * Opens the reports one after the other: only one is open at a time.
 *
 * @throws {ReconcileError} `INVALID_REPORT`, `INVALID_MAPPING`, with the name of the report if there are
 *   several; so do the rows, when they are read
 */
export async function openReports({ reports, mapping, isInRange }: Settings): Promise<OpenedReport> {
  const fileOf = (index: number) => (reports.length === 1 ? null : nameOf(reports[index], index))
  let ignored = 0
  const open = (index: number) =>
    openReport(reports[index] as ReportSource, mapping, isInRange, fileOf(index)).catch(error => {
      throw ofReport(fileOf(index), error)
    })
  const first = await open(0)
  async function* rows() {
    for (const index of reports.keys()) {
      const report = index === 0 ? first : await open(index)
      checkColumns(first, fileOf(0), report, fileOf(index))
      try {
        yield* report.rows
      } catch (error) {
        throw ofReport(fileOf(index), error)
      }
      ignored += report.ignored()
    }
  }
  return { ...first, rows: rows(), ignored: () => ignored }
}

function nameOf(source: ReportSource | undefined, index: number): string {
  return typeof source === 'string' ? source.replace(/\p{Cc}/gu, '?') : `report ${index + 1}`
}

/** What one report says and the other does not would be compared for some rows only. */
function checkColumns(
  first: OpenedReport,
  firstFile: string | null,
  report: OpenedReport,
  file: string | null,
): void {
  const differing = fields.find((field: Field) => first.has(field) !== report.has(field))
  if (differing === undefined) return
  const [has, lacks] = first.has(differing) ? [firstFile, file] : [file, firstFile]
  throw new ReconcileError(
    'INVALID_REPORT',
    `The platform's reports must have the same columns: ${has} has ${differing}, and ${lacks} has not`,
  )
}
