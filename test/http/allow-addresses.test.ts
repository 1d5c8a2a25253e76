import { describe, expect, test } from 'vitest'
import { allowAddresses } from '../../src/http/index.js'
import { placeBetRequest } from './calls.js'

const reasons: string[] = []
const call = {
  rawBody: () => Promise.reject(new Error('not needed')),
  refuse(reason: string): false {
    reasons.push(reason)
    return false
  },
}
const allows = (list: string[], address: unknown) =>
  allowAddresses(list)({ ...placeBetRequest(), address: address as string }, call)

describe('given allowAddresses', () => {
  test.each<[string, string]>([
    ['203.0.113.5', '203.0.113.5'],
    ['203.0.113.0/24', '203.0.113.0'],
    ['203.0.113.0/24', '203.0.113.255'],
    ['203.0.113.77/24', '203.0.113.1'],
    ['203.0.113.4/31', '203.0.113.5'],
    ['0.0.0.0/0', '203.0.113.5'],
    ['203.0.113.0/24', '::ffff:203.0.113.5'],
    ['203.0.113.0/24', '::FFFF:cb00:7105'],
    ['2001:db8::7', '2001:db8:0:0:0:0:0:7'],
    ['2001:DB8::/32', '2001:db8:ffff::1'],
    ['fe80::/10', 'fe80::1%eth0'],
    ['::1', '::1'],
  ])('when the list has %s, then %s is allowed', (entry, address) => {
    expect(allows([entry], address)).toBe(true)
    expect(allows(['192.0.2.1', entry, '2001:db8:1::/48'], address)).toBe(true)
  })

  test.each<[string, string]>([
    ['203.0.113.5', '203.0.113.6'],
    ['203.0.113.0/24', '203.0.114.0'],
    ['203.0.113.0/24', '::ffff:203.0.114.5'],
    ['203.0.113.4/31', '203.0.113.6'],
    ['2001:db8::/32', '2001:db9::1'],
    ['2001:db8::/32', '32.1.13.184'],
    ['203.0.113.0/24', '::203.0.113.5'],
    ['203.0.113.0/24', '64:ff9b::203.0.113.5'],
    ['::1', '127.0.0.1'],
  ])('when the list has %s, then %s is refused', (entry, address) => {
    expect(allows([entry], address)).toBe(false)
    expect(reasons.at(-1)).toBe(`allowAddresses: "${address}" is not in the list`)
  })

  test.each([
    undefined,
    null,
    '',
    'localhost',
    '203.0.113.5:443',
    '[::1]',
    '203.0.113.5, 192.0.2.1',
    ' 203.0.113.5',
    5,
  ])('when the adapter passes %j as the address, then the call is refused', address => {
    expect(allows(['0.0.0.0/0', '::/0'], address)).toBe(false)
    expect(reasons.at(-1)).toBe('allowAddresses: the adapter passed no IP address')
  })

  test.each([
    undefined,
    [],
    '203.0.113.5',
    ['localhost'],
    [''],
    [undefined],
    ['203.0.113'],
    ['203.0.113.0/33'],
    ['203.0.113.0/'],
    ['203.0.113.0/-1'],
    ['203.0.113.0/24 '],
    ['203.0.113.0/255.255.255.0'],
    ['2001:db8::/129'],
    ['203.0.113.5', 'fe80::1%eth0'],
  ])('when it is created with %j, then it throws a TypeError', list => {
    expect(() => allowAddresses(list as string[])).toThrow(/^allowAddresses: /)
    expect(() => allowAddresses(list as string[])).toThrow(TypeError)
  })

  test('when the list is changed later, then the change has no effect', () => {
    const list = ['203.0.113.5']
    const check = allowAddresses(list)
    list.push('203.0.113.6')
    expect(check({ ...placeBetRequest(), address: '203.0.113.6' })).toBe(false)
  })
})
