import { minorUnits, readAmount, type Units } from './amounts.js'
import type { FaultName } from './faults.js'
import { type Field, readObject } from './json.js'

export type Operation = 'placebet' | 'settlement' | 'unsettlement' | 'rollbackbet'
export type CreditType = 'BET_PAID' | 'VOIDED' | 'CASHOUT'

type Common = { transactionId: string; betId: string; playerId: string; date: number }
type Money = { amount: Units; amountText: string; currency: string }

export type Placebet = Common & Money & { operation: 'placebet'; sessionId: string; odds: string }
export type Settlement = Common & Money & { operation: 'settlement'; type: CreditType }
export type Unsettlement = Common & { operation: 'unsettlement'; type: 'UNSCORED' | 'UNVOIDED' }
export type Rollback = Common & { operation: 'rollbackbet'; type: 'TECHNICAL_ERROR' }
export type Request = Placebet | Settlement | Unsettlement | Rollback

/** A body that is not what the interface describes. The message is fit for the caller. */
export class BadRequest extends Error {}

/**
 * Reads the body of an operation.
 *
 * @throws BadRequest with the names of all bad fields
 */
export const readRequest = (operation: Operation, body: Buffer, fault?: FaultName): Request => {
  const form = new Form(readFields(body, fault), fault)
  const request = fill(operation, form)
  if (fault === 'extra-fields-refused') form.refuseUnread()
  if (form.bad.length > 0) throw new BadRequest(`Missing or invalid: ${form.bad.join(', ')}`)
  return request
}

const fill = (operation: Operation, form: Form): Request => {
  const common = {
    transactionId: form.id('transactionId'),
    betId: form.id('betId'),
    playerId: form.id('playerId'),
    date: form.date('transactionDate'),
  }
  switch (operation) {
    case 'placebet':
      form.betType()
      return { operation, ...common, ...form.money(), sessionId: form.word('sessionId'), odds: form.odds() }
    case 'settlement':
      return {
        operation,
        ...common,
        ...form.money(),
        type: form.choice('type', ['BET_PAID', 'VOIDED', 'CASHOUT']),
      }
    case 'unsettlement':
      return { operation, ...common, type: form.choice('type', ['UNSCORED', 'UNVOIDED']) }
    case 'rollbackbet':
      return { operation, ...common, type: form.choice('type', ['TECHNICAL_ERROR']) }
  }
}

const readFields = (body: Buffer, fault?: FaultName): Map<string, Field> => {
  let fields: Map<string, Field> | undefined
  try {
    // ignoreBOM leaves the mark in the text, where it is not JSON; fatal refuses what is not UTF-8.
    fields = readObject(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch (error) {
    if (fault === 'malformed-json-500') throw error
    throw new BadRequest('The body is not JSON in UTF-8')
  }
  if (fields === undefined) {
    if (fault === 'not-an-object-500') throw new TypeError('Cannot read properties of null')
    throw new BadRequest('The body is not a JSON object')
  }
  return fields
}

/** Takes the fields one by one and notes which are bad, so that one answer can name them all. */
class Form {
  readonly bad: string[] = []
  private readonly read = new Set<string>()

  constructor(
    private readonly fields: Map<string, Field>,
    private readonly fault: FaultName | undefined,
  ) {}

  id(name: string): string {
    return this.canonical(this.word(name))
  }

  /** What holds for every id, and for the session and the currency as well. */
  word(name: string): string {
    const field = this.take(name)
    if (field?.kind !== 'text') return this.refuse(name, '')
    const { text } = field
    if (this.fault === 'nul-500' && text.includes('\0')) throw new Error('invalid byte sequence: 0x00')
    // With the u flag a surrogate matches only where its other half is missing.
    const halfPair = /\p{Surrogate}/u.test(text)
    if (this.fault === 'half-surrogate-500' && halfPair) throw new Error('invalid byte sequence: 0xed')
    const length = [...text].length
    if (this.fault === 'long-id-500' && length > 255) throw new Error('value too long for varchar(255)')
    if (length < 1 || length > 255 || halfPair || /\p{Cc}/u.test(text)) return this.refuse(name, '')
    return text
  }

  money(): Money {
    const currency = this.word('currency')
    const field = this.take('amount')
    if (field?.kind !== 'number' && (field?.kind !== 'text' || this.fault === 'amount-text-refused')) {
      return this.refuse('amount', { amount: 0n, amountText: '', currency })
    }
    const amount = this.amount(field.text, currency)
    if (amount === undefined) return this.refuse('amount', { amount: 0n, amountText: '', currency })
    return { amount, amountText: field.text, currency }
  }

  odds(): string {
    const field = this.take('odds')
    if (field === undefined) return ''
    if (field.kind === 'null' && this.fault !== 'null-odds-refused') return ''
    if ('text' in field && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(field.text)) return field.text
    return this.refuse('odds', '')
  }

  betType(): void {
    if (this.fault === 'bet-type-unchecked') this.word('betType')
    else this.choice('betType', ['SINGLE', 'MULTIPLE', 'TEASER'])
  }

  choice<Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]): Choice {
    const field = this.take(name)
    const found = field?.kind === 'text' ? choices.find(choice => choice === field.text) : undefined
    if (found !== undefined) return found
    const [first] = choices
    const lenient = this.fault === 'unsettlement-type-unchecked' && first === 'UNSCORED'
    return lenient ? first : this.refuse(name, first)
  }

  date(name: string): number {
    const field = this.take(name)
    const instant = field?.kind === 'text' ? this.instant(field.text) : undefined
    if (instant === undefined && this.fault === 'dates-unchecked') return 0
    return instant ?? this.refuse(name, 0)
  }

  refuseUnread(): void {
    for (const name of this.fields.keys()) if (!this.read.has(name)) this.bad.push(name)
  }

  private take(name: string): Field | undefined {
    this.read.add(name)
    const field = this.fields.get(name)
    if (field === undefined && this.fault === 'missing-field-500' && name !== 'odds') {
      throw new TypeError(`Cannot read properties of undefined (${name})`)
    }
    return field
  }

  private refuse<Filler>(name: string, filler: Filler): Filler {
    this.bad.push(name)
    return filler
  }

  /** Ids mean nothing to us: the valid wallet leaves them as they are. */
  private canonical(id: string): string {
    switch (this.fault) {
      case 'ids-trimmed':
        return id.trim()
      case 'ids-case-folded':
        return id.toLowerCase()
      case 'ids-normalised':
        return id.normalize()
      case 'ids-as-numbers':
        return /^\d+$/.test(id) ? String(Number(id)) : id
      case 'ids-as-latin1':
        return Array.from(id, character => (character > '\u00ff' ? '?' : character)).join('')
      case 'ids-as-low-bytes':
        return Buffer.from(id, 'latin1').toString('latin1')
      case 'ids-truncated':
        return id.slice(0, 64)
      default:
        return id
    }
  }

  private amount(text: string, currency: string): Units | undefined {
    const decimals = minorUnits(currency)
    switch (this.fault) {
      case 'float-amounts':
        return readAmount(text, decimals) && BigInt(Math.round(Number(text) * 100)) * 1_000_000n
      case 'third-decimal-rounded': {
        const step = 10n ** BigInt(8 - decimals)
        const exact = readAmount(text, 8)
        return exact === undefined ? undefined : ((exact + step / 2n) / step) * step
      }
      case 'trailing-zeros-refused':
        return (text.split('.')[1] ?? '').length > decimals ? undefined : readAmount(text, decimals)
      case 'negative-amount-accepted': {
        const size = readAmount(text.replace(/^-/, ''), decimals)
        return size !== undefined && text.startsWith('-') ? -size : size
      }
      case 'exponent-500':
        if (/[eE]\+?\d{3}/.test(text)) throw new RangeError('Maximum BigInt size exceeded')
        return readAmount(text, decimals)
      case 'yen-with-decimals':
        return readAmount(text, Math.max(2, decimals))
      case 'dinar-with-two-decimals':
        return readAmount(text, Math.min(2, decimals))
      default:
        return readAmount(text, decimals)
    }
  }

  private instant(text: string): number | undefined {
    const parts =
      /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)?$/.exec(
        text,
      )
    if (parts === null) return undefined
    const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
      .slice(1, 7)
      .map(part => Number(part ?? 0))
    const [, , , , , , , fraction = '', zulu, sign, offsetHours = '0', offsetMinutes = '0'] = parts
    if (this.fault === 'dates-need-zone' && zulu === undefined && sign === undefined) return undefined
    if (this.fault === 'dates-of-six-decimals' && fraction.length > 6) return undefined
    if (this.fault === 'dates-need-utc' && sign !== undefined) return undefined
    const midnight = new Date(0)
    midnight.setUTCFullYear(year, month - 1, day)
    const exists = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === day
    // A leap second is a date like another.
    if (!exists || hour > 23 || minute > 59 || second > 60) return undefined
    if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined
    const offset = (sign === '-' ? -1 : 1) * (Number(offsetHours) * 60 + Number(offsetMinutes))
    const millis = Number(fraction.slice(0, 3).padEnd(3, '0'))
    return midnight.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000 + millis
  }
}
