/** What the examples say of an address that is wrong. test/examples/start.test.ts sees it printed by their processes. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { mustBeDatabaseUrl } from '../../examples/database-url.js'
import { exposureWarning, readListenAddress } from '../../examples/listen-address.js'

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('given the address on which a server listens', () => {
  test.each(['abc', '-1', '65536', '3000.5', ' ', '1e3'])(
    'when PORT is %j, then the error names the valid range',
    async port => {
      vi.stubEnv('PORT', port)
      await expect(readListenAddress()).rejects.toThrow(
        `PORT must be a whole number from 0 to 65535, but is ${JSON.stringify(port)}`,
      )
    },
  )

  test.each([
    ['PORT', 3001],
    ['INTERNAL_PORT', 9464],
  ])('when %s is in use, then the error says so', async (name, another) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    vi.stubEnv('PORT', '0')
    vi.stubEnv(name, String(port))
    await expect(readListenAddress()).rejects.toThrow(
      `Port ${port} is in use. Choose another: ${name}=${another} npm start`,
    )
    other.close()
  })

  test('when the host does not exist, then the error says so', async () => {
    vi.stubEnv('PORT', '0')
    vi.stubEnv('HOST', '203.0.113.1')
    await expect(readListenAddress()).rejects.toThrow(/^Cannot listen on 203\.0\.113\.1, port 0: /)
  })

  test.each([
    ['127.0.0.1', null],
    ['127.1.2.3', null],
    ['::1', null],
    ['::ffff:127.0.0.1', null],
    ['0.0.0.0', /listens on 0\.0\.0\.0, and its password is public: demo-secret/],
    ['::', /listens on ::, and/],
    ['1.127.0.0', /listens on 1\.127\.0\.0, and/],
  ])('when it is %s, then it warns if others can reach it', (address, warning) => {
    if (warning === null) expect(exposureWarning(address)).toBeNull()
    else expect(exposureWarning(address)).toMatch(warning)
  })
})

describe('given DATABASE_URL', () => {
  const all = ['postgres', 'postgresql', 'mysql']
  const problemOf = (url: string, schemes: readonly string[]) => {
    try {
      mustBeDatabaseUrl(url, schemes)
      return null
    } catch (error) {
      return (error as Error).message
    }
  }

  test.each([
    'postgres://anna:hid%40den@127.0.0.1:1/casino',
    'postgresql://anna:p@ss@127.0.0.1/casino',
    'postgres://anna@/casino',
    'mysql://anna:hidden@127.0.0.1:1/casino',
  ])('when it can be read, then there is no problem: %s', url => {
    expect(problemOf(url, all)).toBeNull()
  })

  test.each([
    ['no URL', 'banana', all],
    ['of another database', 'redis://127.0.0.1/0', all],
    ['without slashes', 'postgres:anna@127.0.0.1', all],
    ['of MySQL, where only PostgreSQL can be', 'mysql://anna:hidden@127.0.0.1:1/casino', all.slice(0, 2)],
  ])('when it is %s, then the error names a URL that can be', (_, url, schemes) => {
    const problem = problemOf(url, schemes)
    const expected = 'DATABASE_URL must be a URL here, such as postgres://user:password@host:5432/database'
    expect(problem?.startsWith(expected), `${problem}`).toBe(true)
    expect(problem).not.toMatch(/hid/)
  })

  test.each([
    ['@ and /', 'postgres://anna:hid@d/en@127.0.0.1:1/casino'],
    ['/', 'postgres://anna:hid/den@127.0.0.1:1/casino'],
    ['digits and /', 'postgres://anna:12/hidden@127.0.0.1:1/casino'],
    ['#', 'postgres://anna:hid#den@127.0.0.1:1/casino'],
    ['digits and ?', 'postgres://anna:12?hidden@127.0.0.1:1/casino'],
    ['%', 'postgres://anna:hidden%@127.0.0.1:1/casino'],
    ['/, of MySQL', 'mysql://anna:hid/den@127.0.0.1:1/casino'],
    ['@ and /, of MySQL', 'mysql://anna:hid@d/en@127.0.0.1:1/casino'],
    ['%, of MySQL', 'mysql://anna:hidden%@127.0.0.1:1/casino'],
  ])('when its password has %s, then the error says how to escape it, without the password', (_, url) => {
    const problem = problemOf(url, all)
    expect(problem).toMatch(
      /^DATABASE_URL cannot be read as (?:postgres|mysql):\/\/user:password@host:\d+\/database\. A special character in the user or the password must be escaped: @ as %40, .*\.$/,
    )
    expect(problem).not.toMatch(/hid/)
  })
})
