/** An allow-list of IP addresses. */
import { BlockList, isIP } from 'node:net'
import type { AuthenticationCall } from './authentication.js'
import type { HttpRequest } from './message.js'

/**
 * Authenticates calls from these addresses. Anybody at an address is the caller then: combine it with a
 * password or a signature ({@link allOf}). `request.address` comes from the adapter; a call without one is
 * refused. An IPv4 address in the form of IPv6 (`::ffff:203.0.113.5`) is the IPv4 address.
 *
 * @param addresses IPv4 or IPv6 addresses, and networks in CIDR notation: `['203.0.113.0/24', '2001:db8::7']`
 * @returns a function for the option `authenticate`
 * @throws {TypeError} for an empty list, and for anything that is no address and no network
 */
export function allowAddresses(
  addresses: readonly string[],
): (request: HttpRequest, call?: AuthenticationCall) => boolean {
  if (!Array.isArray(addresses) || addresses.length === 0) {
    throw new TypeError('allowAddresses: at least one address is required')
  }
  const allowed = new BlockList()
  for (const address of addresses) add(allowed, address)
  return ({ address }, call) => {
    const given = typeof address === 'string' ? address : ''
    const version = isIP(given)
    if (version !== 0 && allowed.check(given, version === 4 ? 'ipv4' : 'ipv6')) return true
    call?.refuse(
      `allowAddresses: ${version === 0 ? 'the adapter passed no IP address' : `"${given}" is not in the list`}`,
    )
    return false
  }
}

function add(allowed: BlockList, entry: unknown): void {
  const [, address = '', prefix] = /^([0-9a-fA-F.:]+)(?:\/([0-9]{1,3}))?$/.exec(String(entry)) ?? []
  const version = isIP(address)
  const bits = version === 4 ? 32 : 128
  if (version === 0 || Number(prefix ?? bits) > bits) {
    throw new TypeError(
      `allowAddresses: ${JSON.stringify(entry)} must be like "203.0.113.5", "203.0.113.0/24" or "2001:db8::/32"`,
    )
  }
  allowed.addSubnet(address, Number(prefix ?? bits), version === 4 ? 'ipv4' : 'ipv6')
}
