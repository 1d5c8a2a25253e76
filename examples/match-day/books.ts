/** The balance sheet of a player, in exact arithmetic: whole minor units, never floats. */

interface Books {
  title: string
  /** The decimals of the currency. */
  decimals: number
  openingBalance: string
  movements: { label: string; delta: string; remark: string }[]
  closingBalance: string
  /** Uncollected clawbacks, owed to the platform: not part of the balance. */
  owed: string
}

/** One line per movement, the sum, and whether it equals the closing balance. */
export function balanceSheet({ title, decimals, openingBalance, movements, closingBalance, owed }: Books) {
  const unitsOf = (amount: string): bigint => {
    const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? []
    const digits = fraction.replace(/0+$/, '').padEnd(decimals, '0')
    if (whole === '' || digits.length > decimals) throw new Error(`${title}: ${amount} is not an amount`)
    return BigInt(`${sign}${whole}${digits}`)
  }
  const textOf = (units: bigint): string => {
    const digits = `${units < 0n ? -units : units}`.padStart(decimals + 1, '0')
    const cut = digits.length - decimals
    return `${units < 0n ? '-' : ''}${digits.slice(0, cut)}${decimals === 0 ? '' : `.${digits.slice(cut)}`}`
  }
  const line = (label: string, amount: string, remark = '') =>
    `  ${label.padEnd(24)}${amount.padStart(12)}  ${remark}`.trimEnd()

  const sum = movements.reduce((total, { delta }) => total + unitsOf(delta), unitsOf(openingBalance))
  const balanced = sum === unitsOf(closingBalance)
  const text = [
    title,
    line('opening balance', textOf(unitsOf(openingBalance))),
    ...movements.map(({ label, delta, remark }) => line(label, textOf(unitsOf(delta)), remark)),
    line('', '─'.repeat(12)),
    line('sum', textOf(sum)),
    line('closing balance', textOf(unitsOf(closingBalance)), balanced ? 'equal' : 'NOT EQUAL'),
    ...(unitsOf(owed) === 0n
      ? []
      : [line('owed to the platform', textOf(unitsOf(owed)), 'not in the balance')]),
  ].join('\n')
  return { text, balanced }
}
