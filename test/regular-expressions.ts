/** Finds the regular expressions of a source, and texts on which a backtracking one takes longest. */
import ts from 'typescript'

/** An expression as the source has it. */
export interface Found {
  line: number
  pattern: RegExp
}

/**
 * Every literal, and every `new RegExp` of a text. What a template inserts is taken for a letter.
 *
 * @throws {Error} for an expression whose text is made elsewhere
 */
export function expressionsOf(file: string, source: string): Found[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const found: Found[] = []
  const visit = (node: ts.Node) => {
    const pattern = patternOf(node)
    if (pattern !== null)
      found.push({ line: tree.getLineAndCharacterOfPosition(node.getStart()).line + 1, pattern })
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function patternOf(node: ts.Node): RegExp | null {
  if (ts.isRegularExpressionLiteral(node)) {
    const end = node.text.lastIndexOf('/')
    return new RegExp(node.text.slice(1, end), node.text.slice(end + 1))
  }
  const isMade =
    (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp'
  if (!isMade) return null
  const [text, flags] = node.arguments ?? []
  if (text === undefined) return null
  return new RegExp(partsOf(text), flags === undefined ? '' : partsOf(flags))
}

function partsOf(node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isTemplateExpression(node)) throw new Error(`the expression of ${node.getText()} is made elsewhere`)
  return node.templateSpans.reduce((text, { literal }) => `${text}a${literal.text}`, node.head.text)
}

/** A text of any length: the start, then the repeated part, then what no expression matches. */
interface Attack {
  start: string
  repeated: string
}

/** It fails at the end, and must try again. */
const mismatch = '\u0001'

function textOf({ start, repeated }: Attack, length: number): string {
  return start + repeated.repeat(Math.ceil(length / repeated.length)) + mismatch
}

const repeatedLengthMax = 12

/** Repeats each run of the characters that the expression matches, and each pair of them. */
function attacksOn(pattern: RegExp): Attack[] {
  const characters = charactersOf(pattern)
  const attacks = new Map<string, Attack>()
  const add = (start: string, repeated: string) => attacks.set(`${start}\n${repeated}`, { start, repeated })
  for (let from = 0; from < characters.length; from += 1) {
    for (let to = from + 1; to <= Math.min(from + repeatedLengthMax, characters.length); to += 1) {
      add(characters.slice(0, from).join(''), characters.slice(from, to).join(''))
      add('', characters.slice(from, to).join(''))
    }
  }
  const alphabet = [...new Set([...characters, ...'a0 '])]
  for (const one of alphabet) for (const other of alphabet) add('', one === other ? one : one + other)
  return [...attacks.values()]
}

/** In order, a character or two for each atom of the pattern. Groups, quantifiers and assertions have none. */
function charactersOf({ source, flags }: RegExp): string[] {
  const literals = [...source.replace(/\\[a-z]/g, '')].filter(character => /[\w"'<>.,:;\s-]/.test(character))
  const candidates = [...new Set([...literals, ...'a0 x\n"-é\u0000\u202e{}()'])]
  const atoms = source.match(
    /\\u\{?[\da-f]+\}?|\\x..|\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\(\?<?[:=!]|\{\d+(?:,\d*)?\}|./gsu,
  )
  return (atoms ?? []).flatMap(atom => {
    if (/^(?:\(\?|\{\d|[()|*+?^$]$|\\[bBk]$)/.test(atom)) return []
    const one = new RegExp(`^(?:${atom})$`, flags.replace(/[gy]/g, ''))
    return candidates.filter(character => one.test(character)).slice(0, atom.length > 1 ? 2 : 1)
  })
}

/** Below it, a time is noise. */
const measurableUs = 3_000
/** The first ones are for an expression that takes twice the time for one character more. */
const lengths = [16, 20, 24, 32, 128, 512, 2_048, 8_192]
const repetitions = 5
/** Twice the text takes a linear expression twice the time, a quadratic one four times. A busy machine blurs it. */
const ratioMax = 2.8

/** @returns the text that takes more than about twice the time when it is twice as long, and by how much */
export function growthProblem(pattern: RegExp): { attack: Attack; ratios: number[] } | null {
  for (const attack of attacksOn(pattern)) {
    for (const length of lengths) {
      if (timeUs(pattern, textOf(attack, length)) < measurableUs) continue
      const first = ratioAt(pattern, attack, length)
      if (first <= ratioMax) continue
      const ratios = [first, ...Array.from({ length: 4 }, () => ratioAt(pattern, attack, length))]
      const [, , median = 0] = [...ratios].sort((one, other) => one - other)
      if (median > ratioMax) return { attack, ratios }
    }
  }
  return null
}

function ratioAt(pattern: RegExp, attack: Attack, length: number): number {
  const least = (text: string) =>
    Math.min(...Array.from({ length: repetitions }, () => timeUs(pattern, text)))
  const time = least(textOf(attack, length))
  // The first time was that of something else in this process, such as a garbage collection.
  return time < measurableUs ? 0 : time / least(textOf(attack, length / 2))
}

/** Of the processor, not of the clock: other processes may run. All matches are looked for. */
function timeUs({ source, flags }: RegExp, text: string): number {
  const pattern = new RegExp(source, `${flags.replace(/[gy]/g, '')}g`)
  const before = process.cpuUsage()
  for (let last = -1; pattern.test(text); last = pattern.lastIndex)
    if (pattern.lastIndex === last) pattern.lastIndex += 1 // an empty match
  const { user, system } = process.cpuUsage(before)
  return user + system
}
