/** Every mutant that may survive, with the reason. See `score.ts` for the kinds. */
import type { KnownSurvivor } from './score.js'

/** Several mutants with one reason. */
function because(
  kind: KnownSurvivor['kind'],
  reason: string,
  file: string,
  line: string,
  changes: readonly (readonly [from: string, to: string])[],
): KnownSurvivor[] {
  return changes.map(([from, to]) => ({ file, line, from, to, kind, reason }))
}

const shortDecimal = String.raw`/^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,14}[1-9])?$/`

export const survivors: readonly KnownSurvivor[] = [
  ...because(
    'equivalent',
    'A snapshot has each currency once.',
    'src/decide/accounts.ts',
    'const first = () => accounts.toSorted((one, other) => (one.currency < other.currency ? -1 : 1))[0]',
    [['one.currency < other.currency', 'one.currency <= other.currency']],
  ),
  ...because(
    'equivalent',
    'The assumed bet is not written, and is placed while it is not rolled back.',
    'src/decide/settlement.ts',
    "bet: { betId, playerId, currency, stake: '0', status: 'PLACED', credits: {}, revision: 1 },",
    [
      ["'0'", '""'],
      ["'PLACED'", '""'],
    ],
  ),
  ...because(
    'equivalent',
    'A placebet and an unsettlement have `refuse`, and no other request is refused: see the next.',
    'src/attempts.ts',
    'if (rule.refuse !== undefined) return rule.refuse(request, snapshot, settings, reason, refusal)',
    [['rule.refuse !== undefined', 'true']],
  ),
  ...because(
    'equivalent',
    'A fast path, switched off: `true`, awaited, is `true`.',
    'src/attempts.ts',
    'if (granted !== true && !(await granted)) return null',
    [['granted !== true', 'true']],
  ),
  ...because(
    'equivalent',
    'For the compiler: a decision with a credit has changes.',
    'src/attempts.ts',
    'if (changes === null || credit === undefined) return decision',
    [['changes === null', 'false']],
  ),
  ...because(
    'unreachable',
    'For the compiler: the outcome of a rule has the currency of an account of its snapshot.',
    'src/attempts.ts',
    'if (account === undefined) return decision',
    [['account === undefined', 'false']],
  ),
  ...because(
    'unreachable',
    'checkResult rejects the refusal of a commit that is neither a debit nor a new bet, and hooks are asked about placebets only.',
    'src/attempts.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of code
    "throw new WalletError('STORE_CONTRACT', `A ${rule.operation} cannot be refused (${refusal.errorCode})`)",
    [
      ["'STORE_CONTRACT'", '""'],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a piece of code
      ['`A ${rule.operation} cannot be refused (${refusal.errorCode})`', '``'],
    ],
  ),
  ...because(
    'equivalent',
    'The result is only tested for truth.',
    'src/authorization.ts',
    '() => false, // thrown again by `ask`, unless another rule refuses the bet',
    [['() => false', '() => undefined']],
  ),
  ...because(
    'equivalent',
    '`accept` writes every delta of 0 as "0".',
    'src/decide/rollback-bet.ts',
    "return accept(request, checks, { delta: '0', bet: tombstone, reason: 'TOMBSTONE_CREATED' })",
    [["'0'", '""']],
  ),
  ...because(
    'equivalent',
    '`accept` writes every delta of 0 as "0".',
    'src/decide/rollback-bet.ts',
    "return accept(request, checks, { delta: '0', bet: null, reason: 'ALREADY_ROLLED_BACK' })",
    [["'0'", '""']],
  ),
  ...because(
    'equivalent',
    'The fast path for most amounts, switched off: the other path has the same result.',
    'src/money.ts',
    'if (shortDecimalText.test(text)) return text',
    [['shortDecimalText.test(text)', 'false']],
  ),
  ...because(
    'equivalent',
    'The fast path for fewer amounts: the other path has the same result.',
    'src/money.ts',
    `const shortDecimalText = ${shortDecimal}`,
    [
      [shortDecimal, String.raw`/^(?:0|[1-9][0-9])(?:\.[0-9]{0,14}[1-9])?$/`],
      [shortDecimal, String.raw`/^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,14}[1-9])$/`],
      [shortDecimal, String.raw`/^(?:0|[1-9][0-9]{0,14})(?:\.[0-9][1-9])?$/`],
    ],
  ),
  ...because(
    'equivalent',
    'A fraction of a unit is no safe integer: big.js compares.',
    'src/money.ts',
    'const decimals = Math.max(writtenDecimalsOf(a), writtenDecimalsOf(b))',
    [
      [
        'Math.max(writtenDecimalsOf(a), writtenDecimalsOf(b))',
        'Math.min(writtenDecimalsOf(a), writtenDecimalsOf(b))',
      ],
    ],
  ),
  ...because(
    'equivalent',
    'The fast path of a sum, switched off: big.js has the same result.',
    'src/money.ts',
    'if (Number.isSafeInteger(units)) return textOfUnits(units, decimals)',
    [['Number.isSafeInteger(units)', 'false']],
  ),
  ...because(
    'equivalent',
    'The fast path, switched off: NaN or undefined is no safe integer, and big.js has the same result.',
    'src/money.ts',
    'function unitsOf(value: Decimal, decimals: number): number {',
    [
      [
        "{ const missing = decimals - writtenDecimalsOf(value) if (value.length + missing > numberDigitsMax) return Number.NaN return Number(value.replace('.', '')) * 10 ** missing }",
        '{}',
      ],
    ],
  ),
  ...because(
    'equivalent',
    'The fast path for fewer amounts: big.js has the same result.',
    'src/money.ts',
    'if (value.length + missing > numberDigitsMax) return Number.NaN',
    [
      ['value.length + missing > numberDigitsMax', 'true'],
      ['value.length + missing > numberDigitsMax', 'value.length + missing >= numberDigitsMax'],
    ],
  ),
  ...because(
    'equivalent',
    'Such units are a multiple of 10, so exact up to 2^54. Beyond, no sum is a safe integer, and big.js adds.',
    'src/money.ts',
    'if (value.length + missing > numberDigitsMax) return Number.NaN',
    [['value.length + missing', 'value.length - missing']],
  ),
  ...because(
    'equivalent',
    'Such a text is no number: NaN, and big.js has the same result.',
    'src/money.ts',
    "return Number(value.replace('.', '')) * 10 ** missing",
    [["''", '"Stryker was here!"']],
  ),
  ...because(
    'equivalent',
    'The fast path for most dates, switched off: the other path has the same result.',
    'src/requests.ts',
    'if (canonicalDate.test(value)) return value',
    [['canonicalDate.test(value)', 'false']],
  ),
  ...because(
    'equivalent',
    'A fast path, switched off or for fewer amounts: the other path has the same result.',
    'src/money.ts',
    'if (text.length <= numberDigitsMax) return text',
    [
      ['text.length <= numberDigitsMax', 'text.length < numberDigitsMax'],
      ['text.length <= numberDigitsMax', 'false'],
    ],
  ),
  ...because(
    'equivalent',
    'A fast path, switched off: equal texts are equal by value.',
    'src/money.ts',
    'if (a === b) return 0',
    [['a === b', 'false']],
  ),
  ...because(
    'equivalent',
    'A fast path, switched off: the other path has the same result.',
    'src/money.ts',
    'if (decimals === 0) return String(units)',
    [['decimals === 0', 'false']],
  ),
  ...because(
    'equivalent',
    'A fast path, switched off: the other path has the same result.',
    'src/money.ts',
    'if (written === decimals) return value',
    [['written === decimals', 'false']],
  ),
  ...because(
    'equivalent',
    'A fast path, switched off: without hooks both are granted.',
    'src/authorization.ts',
    "if (operation !== 'placebet' || (authorizeRequest === undefined && authorizeBet === undefined)) {",
    [['authorizeRequest === undefined && authorizeBet === undefined', 'false']],
  ),
]
