/** The proof of a player's books, in exact arithmetic: whole numbers of the smallest unit, never floats. */

interface Books {
  title: string
  /** How many decimals the currency has. */
  decimals: number
  opening: string
  movements: { label: string; delta: string; remark: string }[]
  closing: string
  /** What was not collected and is the platform's to collect: no part of the balance. */
  owed: string
}

/** One line per movement, the sum, and whether it is the closing balance. */
export function balanceSheet({ title, decimals, opening, movements, closing, owed }: Books) {
  const unitsOf = (amount: string): bigint => {
    const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? []
    const digits = fraction.replace(/0+$/, '').padEnd(decimals, '0')
    if (whole === '' || digits.length > decimals) throw new Error(`${title}: ${amount} is no amount`)
    return BigInt(`${sign}${whole}${digits}`)
  }
  const textOf = (units: bigint): string => {
    const digits = `${units < 0n ? -units : units}`.padStart(decimals + 1, '0')
    const cut = digits.length - decimals
    return `${units < 0n ? '-' : ''}${digits.slice(0, cut)}${decimals === 0 ? '' : `.${digits.slice(cut)}`}`
  }
  const line = (label: string, amount: string, remark = '') =>
    `  ${label.padEnd(24)}${amount.padStart(12)}  ${remark}`.trimEnd()

  const sum = movements.reduce((total, { delta }) => total + unitsOf(delta), unitsOf(opening))
  const holds = sum === unitsOf(closing)
  const text = [
    title,
    line('opening balance', textOf(unitsOf(opening))),
    ...movements.map(({ label, delta, remark }) => line(label, textOf(unitsOf(delta)), remark)),
    line('', '─'.repeat(12)),
    line('sum', textOf(sum)),
    line('closing balance', textOf(unitsOf(closing)), holds ? 'equal' : 'NOT EQUAL'),
    ...(unitsOf(owed) === 0n ? [] : [line('owed to the platform', textOf(unitsOf(owed)), 'no part of it')]),
  ].join('\n')
  return { text, holds }
}
