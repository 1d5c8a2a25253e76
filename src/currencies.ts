/**
 * Minor units per currency: the number of decimals that an amount may have (D22).
 *
 * A table of ISO 4217, not `Intl`: `Intl` follows cash usage and returns 0 for HUF, IDR and COP. Recently
 * replaced codes (HRK, BGN, ANG, ZWL, SLL, CUC) stay, for balances that still use them.
 */
const codes: Record<number, string> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2: `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD
    CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
    GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD
    MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR
    PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP
    TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG ZWL`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

const minorUnits = new Map(
  Object.entries(codes).flatMap(([units, list]) =>
    list.split(/\s+/).map(code => [code, Number(units)] as const),
  ),
)

/** For codes that are not in ISO 4217, such as BTC or an operator's own tokens. */
const minorUnitsUnknown = 8

/**
 * The minor units of a currency by ISO 4217: 2 for `"EUR"`, 0 for `"JPY"`; 8 for a code that is not in it.
 */
export function isoMinorUnits(currency: string): number {
  return minorUnits.get(currency) ?? minorUnitsUnknown
}
