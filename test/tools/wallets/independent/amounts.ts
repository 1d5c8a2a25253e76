/** Money as a whole number of hundred-millionths: 1 EUR is 100_000_000n. */
export type Units = bigint

const scale = 8
const wholeDigitsMax = 15

const byMinorUnits: Record<number, string> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2: `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE
    CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG
    HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK
    MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE
    SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW
    ZWG`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

const minorUnitsOf = new Map(
  Object.entries(byMinorUnits).flatMap(([digits, codes]) =>
    codes.split(/\s+/).map(code => [code, Number(digits)] as const),
  ),
)

/** How many decimals a currency has. Codes outside ISO 4217 (coins, mostly) get all that a balance can hold. */
export const minorUnits = (currency: string): number => minorUnitsOf.get(currency) ?? scale

/**
 * Reads a decimal as it is written, without ever making a number of it: the digits are looked at in place, so that
 * a large exponent or a long tail of zeros costs nothing. Undefined if it is not a decimal, is too large, or has
 * more decimals than allowed.
 */
export const readAmount = (text: string, decimalsMax: number): Units | undefined => {
  const parts = /^(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?0*\d{1,2}))?$/.exec(text)
  if (parts === null) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = parts
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  const first = digits.search(/[1-9]/)
  if (first < 0) return 0n
  const end = digits.search(/[1-9]0*$/) + 1
  const decimals = end - point
  if (point - first > wholeDigitsMax || decimals > decimalsMax) return undefined
  return BigInt(digits.slice(first, end)) * 10n ** BigInt(scale - decimals)
}

/** Writes an amount with at least the decimals given, and more only where they are not zero. */
export const writeAmount = (units: Units, decimalsMin: number): string => {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0')
  let fraction = digits.slice(-scale)
  while (fraction.length > decimalsMin && fraction.endsWith('0')) fraction = fraction.slice(0, -1)
  return `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}${fraction === '' ? '' : `.${fraction}`}`
}

/** An amount as a floating point number: for the faulty wallets only. */
export const asFloat = (units: Units): number => Number(units) / 10 ** scale
