import { randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import type { PlainWallet } from './plain.js'

export type Fields = { [name: string]: unknown }
export type Call = { method?: string; headers?: Record<string, string>; text?: string | Buffer }

/**
 * Plays the platform against a wallet. Every answer comes back as one short line, such as `200 70.00`,
 * `200 70 JPY`, `402 INSUFFICIENT_FUNDS`, or the whole of an answer that the interface does not allow.
 */
export class Platform {
  /** The walletTransactionId of the last success. */
  reference = ''
  private serial = 0

  constructor(private readonly wallet: PlainWallet) {}

  place(amount: unknown, fields: Fields = {}): Promise<string> {
    return this.call('/placebet', this.placebet(amount, fields))
  }

  settle(amount: unknown, fields: Fields = {}): Promise<string> {
    return this.call('/settlement', this.settlement(amount, fields))
  }

  unsettle(fields: Fields = {}): Promise<string> {
    return this.call('/unsettlement', { ...this.common(), type: 'UNSCORED', ...fields })
  }

  rollBack(fields: Fields = {}): Promise<string> {
    return this.call('/rollbackbet', { ...this.common(), type: 'TECHNICAL_ERROR', ...fields })
  }

  /** The wallet has no way in for deposits: a free bet that wins is one. */
  async deposit(amount: string, playerId = 'p'): Promise<void> {
    const bet = { betId: randomUUID(), playerId, transactionId: randomUUID() }
    await this.place('0', bet)
    await this.settle(amount, bet)
  }

  /** The balance alone. A stake of 0 shows it. */
  balance(playerId = 'p', currency = 'EUR'): Promise<string> {
    return this.place('0', { playerId, currency, transactionId: randomUUID(), betId: randomUUID() })
  }

  placebet(amount: unknown, fields: Fields = {}): Fields {
    const stake = { sessionId: 's', amount: numeral(amount), currency: 'EUR', odds: 2.5, betType: 'SINGLE' }
    return { ...this.common(), ...stake, ...fields }
  }

  settlement(amount: unknown, fields: Fields = {}): Fields {
    return { ...this.common(), type: 'BET_PAID', amount: numeral(amount), currency: 'EUR', ...fields }
  }

  call(path: string, fields: Fields, call: Call = {}): Promise<string> {
    return this.send(path, { text: write(fields), ...call })
  }

  send(path: string, { method = 'POST', headers = {}, text = '' }: Call = {}): Promise<string> {
    return new Promise(resolve => {
      const outgoing = httpRequest(`${this.wallet.url}${path}`, {
        method,
        agent: false,
        headers: this.headers(headers),
      })
      outgoing.once('error', () => resolve('no answer'))
      outgoing.once('response', response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', () => resolve('no answer'))
        response.once('end', () => {
          const body = Buffer.concat(chunks).toString('utf8')
          const challenged = response.statusCode !== 401 || response.headers['www-authenticate'] !== undefined
          const typed = /^application\/json/.test(response.headers['content-type'] ?? '')
          resolve(
            typed && challenged
              ? this.line(response.statusCode ?? 0, body)
              : `${response.statusCode} ${JSON.stringify(response.headers)} ${body}`,
          )
        })
      })
      outgoing.end(text)
    })
  }

  /** Sends a request as it goes over the wire, and hangs up without waiting for the answer. */
  sendAndHangUp(path: string, fields: Fields, bytesMissing = 0): Promise<void> {
    const body = write(fields)
    const head = Object.entries({
      host: 'wallet',
      ...this.headers({}),
      'content-length': body.length + bytesMissing,
    })
    const lines = [`POST ${path} HTTP/1.1`, ...head.map(([name, value]) => `${name}: ${value}`)]
    const { hostname, port } = new URL(this.wallet.url)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      socket.once('error', reject)
      // The wallet ends its half as well: by then it has seen that the client has gone.
      socket.once('close', () => resolve())
      socket.resume()
      socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
    })
  }

  /** Sends bytes that need not be HTTP. Resolves with all that comes back. */
  sendRaw(text: string): Promise<string> {
    const { hostname, port } = new URL(this.wallet.url)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      let answer = ''
      socket.setEncoding('utf8')
      socket.once('error', reject)
      socket.on('data', chunk => {
        answer += chunk
      })
      socket.once('close', () => resolve(answer))
      socket.write(text)
    })
  }

  /** Fresh transaction, fixed bet: most scenes are about one bet. */
  private common(): Fields {
    this.serial += 1
    return {
      transactionId: `t${this.serial}`,
      betId: 'b',
      playerId: 'p',
      transactionDate: '2026-11-21T10:00:00Z',
    }
  }

  private headers(more: Record<string, string>): Record<string, string> {
    const { username, password } = this.wallet.credentials
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const all = { 'content-type': 'application/json', authorization, ...more }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  }

  private line(status: number, text: string): string {
    const whole = `${status} ${text}`
    const body: Fields = JSON.parse(text)
    const names = Object.keys(body).sort().join()
    if (status >= 400 && names === 'description,errorCode') return `${status} ${body.errorCode}`
    // Not from the parsed body: a float would not show what was written.
    const [, balance] = /"balance":(-?[\d.]+)[,}]/.exec(text) ?? []
    if (status !== 200 || names !== 'balance,currency,walletTransactionId' || balance === undefined)
      return whole
    this.reference = String(body.walletTransactionId)
    return `200 ${balance}${body.currency === 'EUR' ? '' : ` ${body.currency}`}`
  }
}

/** Stands for a JSON number with exactly these characters. */
class Numeral {
  constructor(readonly text: string) {}
}

const numeral = (amount: unknown): unknown =>
  typeof amount === 'string' && /^-?\d[\d.eE+-]*$/.test(amount) ? new Numeral(amount) : amount

const write = (fields: Fields): string => {
  const members = Object.entries(fields).map(([name, value]) => {
    const text = value instanceof Numeral ? value.text : JSON.stringify(value)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${members.flat().join(',')}}`
}
