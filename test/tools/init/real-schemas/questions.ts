/** What `init` asks its operator, and what it decides without. */
import { type Answers, propose } from '../../../../src/tools/init/propose.js'
import type { DatabaseSchema } from '../../../../src/tools/init/schema.js'
import type { RealSchema } from './real-schema.js'

export interface Questioned {
  /** Those of its questions, as options of the command. */
  options: string[]
  /** What it decided without a question, though it is wrong or only the operator may decide it. */
  wrong: string[]
  /** Why it ended without a mapping; `null`: it has one. */
  problem: string | null
}

const optionOf: Readonly<Record<string, keyof Answers>> = { unit: 'minor-units', 'may bet': 'may-bet' }

/** @param isPrepared whether the operator has made the changes that the table needs */
export function question(schema: DatabaseSchema, real: RealSchema, isPrepared: boolean): Questioned {
  // A table is proposed before a view: that of the operator is named.
  const given: Answers = isPrepared && real.prepared?.of ? { players: real.right.players ?? '' } : {}
  const wrong = new Set<string>()
  const options = () => Object.entries(given).flatMap(([name, answer]) => [`--${name}`, answer])
  for (;;) {
    const proposal = propose(schema, given)
    if (proposal.status === 'impossible')
      return { options: options(), wrong: [...wrong], problem: proposal.problem }
    for (const { part, value } of proposal.reasons) {
      const option = optionOf[part] ?? (part as keyof Answers)
      if (part !== 'collation' && given[option] === undefined && !isRight(real, option, value))
        wrong.add(`${part}: ${value}`)
    }
    if (proposal.status === 'ready') return { options: options(), wrong: [...wrong], problem: null }
    const [asked] = proposal.questions
    const isOfTable = asked?.option === 'players' && !isPrepared
    const answer = isOfTable ? (real.prepared?.of ?? real.right.players) : asked && real.right[asked.option]
    if (asked === undefined || answer === undefined || given[asked.option] !== undefined)
      return { options: options(), wrong: [...wrong], problem: `no answer for --${asked?.option}` }
    given[asked.option] = answer
  }
}

function isRight(
  { right, prepared, asks = [] }: RealSchema,
  option: keyof Answers,
  decided: string,
): boolean {
  if (option === 'may-bet' || asks.includes(option)) return false
  if (option === 'players') return [right.players, prepared?.of].includes(decided)
  const units = right['minor-units']
  if (option !== 'minor-units') return decided === right[option]
  return (
    decided === (units === undefined || units === 'none' ? 'whole units' : `minor units, ${units} decimals`)
  )
}
