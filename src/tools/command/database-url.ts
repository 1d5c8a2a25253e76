/** The database URL, checked before a driver sees it: a driver's errors quote what it cannot read. */

/**
 * The scheme in lower case; `null` for a URL that cannot be read, or that was not read as it was meant: a
 * `/`, `?` or `#` in a password that is not percent-encoded ends the host too early, and parts of the
 * password become its port, the name of the database or an option.
 */
export function schemeOf(url: string): string | null {
  const scheme = /^([a-z]+):\/\//i.exec(url)?.[1]?.toLowerCase()
  if (scheme === undefined) return null
  try {
    // `user:password@/database` is the default host for drivers.
    const { pathname, search, hash, username, password } = new URL(url.replace('@/', '@localhost/'))
    for (const part of [username, password, pathname]) decodeURIComponent(part)
    return hash !== '' || `${pathname}${search}`.includes('@') ? null : scheme
  } catch {
    return null
  }
}

/** The text without the parts of the URL that are secret, as they are written and as they are sent. */
export function withoutPassword(text: string, url: string): string {
  const { password, searchParams } = new URL(url.replace('@/', '@localhost/'))
  const secrets = [password, decodeURIComponent(password), ...searchParams.getAll('password')]
  return secrets
    .filter(secret => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text.replaceAll(url, '***'))
}
