/** Reads Stryker's report: the scores, and the survivors beside the list of those that are known. */

/** The parts of the report that are read, in the schema of `mutation-testing-report`. */
export interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>
}

interface Mutant {
  mutatorName: string
  replacement: string
  status: string
  location: { start: Position; end: Position }
}

/** Both count from 1; the end is exclusive. */
interface Position {
  line: number
  column: number
}

/** A mutant by what is written, not by its position: code above it may change. White space is collapsed. */
export interface Mutation {
  file: string
  /** The whole line in which the mutation begins. */
  line: string
  from: string
  to: string
}

/** A mutant that may survive. */
export interface KnownSurvivor extends Mutation {
  /**
   * - `equivalent`: no input shows a difference.
   * - `unreachable`: no input reaches the code, which the compiler asks for.
   * - `missed`: a difference that no test sees. It counts as a survivor in every score.
   */
  kind: 'equivalent' | 'unreachable' | 'missed'
  reason: string
}

interface Judged extends Mutation {
  status: string
  position: string
}

export interface Score {
  mutants: number
  killed: number
  timedOut: number
  survived: number
  notCovered: number
  /** Survivors, covered or not, that are known as equivalent or unreachable. */
  excused: number
}

export interface Verdict {
  /** By file. */
  scores: ReadonlyMap<string, Score>
  total: Score
  /** What is wrong, one sentence each. */
  problems: string[]
  /** What is worth knowing and fails nothing. */
  notes: string[]
}

/** In percent, as Stryker counts: killed or timed out, of all mutants. */
export const percentOf = ({ mutants, killed, timedOut }: Score): number =>
  (100 * (killed + timedOut)) / mutants

/** In percent, without the mutants that are known as equivalent or unreachable. */
export const percentOfKillable = (score: Score): number =>
  percentOf({ ...score, mutants: score.mutants - score.excused })

/**
 * Judges a report.
 *
 * @param known every mutant that may survive; entries of files that the report does not have are ignored
 * @param percentMin the minimum of the score without equivalent and unreachable mutants
 */
export function judge(report: Report, known: readonly KnownSurvivor[], percentMin: number): Verdict {
  const problems: string[] = []
  const notes: string[] = []
  const left = known.filter(({ file }) => file in report.files)
  const take = (mutant: Judged) => {
    const index = left.findIndex(entry => sameMutation(entry, mutant))
    return index === -1 ? undefined : left.splice(index, 1)[0]
  }

  const scores = new Map<string, Score>()
  const killed: Judged[] = []
  for (const file of Object.keys(report.files)) {
    const score = { mutants: 0, killed: 0, timedOut: 0, survived: 0, notCovered: 0, excused: 0 }
    for (const mutant of mutantsOf(report, file)) {
      const field = fieldOf[mutant.status]
      if (field === undefined) {
        problems.push(`${described(mutant)}: not judged (${mutant.status})`)
        continue
      }
      score.mutants += 1
      score[field] += 1
      if (field === 'killed' || field === 'timedOut') {
        killed.push(mutant)
        continue
      }
      const entry = take(mutant)
      if (entry === undefined) problems.push(`${described(mutant)}: survived, and is not in the list`)
      else if (entry.kind !== 'missed') score.excused += 1
    }
    if (score.mutants > 0) scores.set(file, score)
  }
  for (const mutant of killed) {
    if (take(mutant) !== undefined) notes.push(`${described(mutant)}: in the list, but ${mutant.status}`)
  }
  for (const entry of left)
    problems.push(`${entry.file}: in the list, but not in the code: ${changeOf(entry)}`)

  const total = sumOf([...scores.values()])
  if (total.mutants === 0) problems.push('no mutant was judged')
  else if (percentOfKillable(total) < percentMin) problems.push(`the score is below ${percentMin} %`)
  return { scores, total, problems, notes }
}

const fieldOf: Record<string, 'killed' | 'timedOut' | 'survived' | 'notCovered'> = {
  Killed: 'killed',
  Timeout: 'timedOut',
  Survived: 'survived',
  NoCoverage: 'notCovered',
}

function mutantsOf(report: Report, file: string): Judged[] {
  const { source, mutants } = report.files[file] as Report['files'][string]
  const lines = source.split('\n')
  return mutants.map(({ status, replacement, location: { start, end } }) => {
    const covered = lines.slice(start.line - 1, end.line)
    const last = covered.length - 1
    covered[last] = (covered[last] ?? '').slice(0, end.column - 1)
    covered[0] = (covered[0] ?? '').slice(start.column - 1)
    return {
      file,
      line: collapsed(lines[start.line - 1] ?? ''),
      from: collapsed(covered.join('\n')),
      to: collapsed(replacement),
      status,
      position: `${start.line}:${start.column}`,
    }
  })
}

const collapsed = (text: string) => text.trim().replace(/\s+/g, ' ')

function sameMutation(a: Mutation, b: Mutation): boolean {
  return a.file === b.file && a.line === b.line && a.from === b.from && a.to === b.to
}

const changeOf = ({ from, to }: Mutation) => `\`${from}\` → \`${to}\``
const described = (mutant: Judged) => `${mutant.file}:${mutant.position} ${changeOf(mutant)}`

function sumOf(scores: readonly Score[]): Score {
  const sum = (field: keyof Score) => scores.reduce((total, score) => total + score[field], 0)
  return {
    mutants: sum('mutants'),
    killed: sum('killed'),
    timedOut: sum('timedOut'),
    survived: sum('survived'),
    notCovered: sum('notCovered'),
    excused: sum('excused'),
  }
}
