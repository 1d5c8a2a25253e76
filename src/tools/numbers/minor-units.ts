/**
 * Minor units of currencies by ISO 4217. Separate from the library's table, so that an error in one does not
 * hide in the other; a test compares them.
 */
const without = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'
const withTwo = `
  AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD
  CAD CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL
  GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR
  LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB
  PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP
  SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG ZWL`
const withThree = 'BHD IQD JOD KWD LYD OMR TND'
const withFour = 'CLF UYW'

const minorUnits = new Map<string, number>()
for (const [codes, units] of [
  [without, 0],
  [withTwo, 2],
  [withThree, 3],
  [withFour, 4],
] as const) {
  for (const code of codes.trim().split(/\s+/)) minorUnits.set(code, units)
}

/** For codes that are not in ISO 4217: BTC, an operator's own tokens. */
const defaultMinorUnits = 8

/** 2 for `"EUR"`, 0 for `"JPY"`; 8 for a code that is not in ISO 4217. */
export function isoMinorUnits(currency: string): number {
  return minorUnits.get(currency) ?? defaultMinorUnits
}
