/**
 * Converts between the text of the contract and the columns of the players' table: exactly or not at all,
 * never rounded.
 */
import { type Decimal, decimalsOf, subtract } from '../../money.js'
import type { OptionChecks } from '../../option-checks.js'
import type { Players } from './tables.js'

/** The range of the balance column, from the catalog. */
export interface BalanceColumn {
  /** How many decimals it holds; `null`: any number. */
  scale: number | null
  /** The greatest amount that it holds, in the column's unit; `null`: any. */
  max: Decimal | null
  /** Whether the least is 0; otherwise it is the negative of the greatest. */
  isUnsigned: boolean
  /** Of a text column: the most characters; `null`: any number. */
  length: number | null
}

/** Columns of a player, in their unit. */
export interface Amounts {
  balance: string | null
  /** Absent without the option `players.reserved`. */
  reserved?: string | null
}

export interface Columns {
  /** The playerId as text for a comparison with the id column; `null`: the column cannot hold such an id. */
  idOf(playerId: string): string | null
  /** Whether this currency can be converted: a placebet states its currency before it is compared. */
  hasCurrency(currency: string): boolean
  /** An amount in the column's unit; `null`: the column cannot hold it exactly. */
  toColumn(amount: Decimal, currency: string): string | null
  /** A floor in the column's unit. It is only compared, so the column need not hold it. */
  floorToColumn(floor: Decimal, currency: string): string
  /** A balance in the column's unit, as a decimal. */
  fromColumn(balance: string, currency: string): Decimal
  /** What is available of a balance, as a decimal. */
  available(amounts: Amounts, currency: string): Decimal
}

/**
 * @param column the balance column, from the check at start
 * @param check of the store; its functions throw `INVALID_OPTIONS`
 */
export function columnsOf(
  { idType, balanceType, minorUnits }: Pick<Players, 'idType' | 'balanceType' | 'minorUnits'>,
  column: Pick<BalanceColumn, 'scale'>,
  check: OptionChecks,
): Columns {
  const decimals = (currency: string): number => {
    const units = typeof minorUnits === 'number' ? minorUnits : minorUnits.get(currency)
    if (units !== undefined) return units
    return check.invalid(`players.minorUnits has no entry for the currency ${currency}`)
  }
  const columns: Omit<Columns, 'available'> = {
    idOf: idType === 'bigint' ? bigintOf : idType === 'uuid' ? uuidOf : playerId => playerId,
    ...(balanceType === 'minor-units'
      ? {
          hasCurrency: currency => typeof minorUnits === 'number' || minorUnits.has(currency),
          toColumn: (amount, currency) => {
            const shifted = shiftedUp(amount, decimals(currency))
            return shifted.includes('.') ? null : shifted
          },
          floorToColumn: (floor, currency) => shiftedUp(floor, decimals(currency)),
          fromColumn: (balance, currency) => shiftedDown(balance, decimals(currency)),
        }
      : {
          hasCurrency: () => true,
          toColumn: amount => (column.scale === null || decimalsOf(amount) <= column.scale ? amount : null),
          floorToColumn: floor => floor,
          fromColumn: balance => balance,
        }),
  }
  return {
    ...columns,
    available({ balance, reserved }, currency) {
      const whole = columns.fromColumn(balance ?? '', currency)
      return reserved == null ? whole : subtract(whole, columns.fromColumn(reserved, currency))
    },
  }
}

const wholeNumber = /^(?:0|-?[1-9][0-9]{0,18})$/
const bigintMax = 2n ** 63n

/** Only in the format that databases print: "007" and " 7" are other ids than "7" (D24). */
function bigintOf(playerId: string): string | null {
  if (!wholeNumber.test(playerId)) return null
  const value = BigInt(playerId)
  return value < bigintMax && value >= -bigintMax ? playerId : null
}

function uuidOf(playerId: string): string | null {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(playerId) ? playerId : null
}

/** "12.5" with 2 decimals is "1250", "0.125" is "12.5". */
function shiftedUp(amount: Decimal, decimals: number): string {
  const sign = amount.startsWith('-') ? '-' : ''
  const [whole = '0', fraction = ''] = amount.slice(sign.length).split('.')
  const digits = `${whole}${fraction.slice(0, decimals).padEnd(decimals, '0')}`.replace(/^0+(?=[0-9])/, '')
  const rest = fraction.slice(decimals).replace(/(?<!0)0+$/, '')
  return rest === '' ? `${sign}${digits}` : `${sign}${digits}.${rest}`
}

/** "1250" with 2 decimals is "12.50". */
function shiftedDown(balance: string, decimals: number): Decimal {
  if (decimals === 0 || balance === '') return balance
  const sign = balance.startsWith('-') ? '-' : ''
  const digits = balance.slice(sign.length).padStart(decimals + 1, '0')
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
