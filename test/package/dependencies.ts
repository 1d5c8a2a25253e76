/**
 * `npx tsx test/package/dependencies.ts`: the packages that an installation of bet-wallet brings. Their licences must be among
 * those listed here, and the registry must know no vulnerability of them. Exit code 1 if something is wrong. A registry
 * that does not answer is a failure in CI, and NOT CHECKED elsewhere.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const allowedLicences = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT']

interface LockedPackage {
  version?: string
  dev?: boolean
  peer?: boolean
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockedPackage>
}
const installed = Object.entries(packages).filter(([path, { dev, peer }]) => path !== '' && !dev && !peer)

const problems: string[] = []
for (const [path, { version }] of installed) {
  const { name, license = 'none' } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
  console.log(`${name} ${version}: licence ${license}`)
  if (!allowedLicences.includes(license))
    problems.push(`the licence of ${name}, ${license}, is not on the list`)
}
if (installed.length === 0) problems.push('package-lock.json names no dependency at all')

const { stdout, stderr } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  cwd: root,
  encoding: 'utf8',
})
const audit = parsed(stdout) as { vulnerabilities?: Record<string, { severity: string }>; message?: string }
if (audit.vulnerabilities === undefined) {
  const reason = audit.message ?? stderr.trim().split('\n').at(-1)
  const notChecked = `vulnerabilities were not checked, since the registry cannot be asked (${reason})`
  if (process.env.CI) problems.push(notChecked)
  else console.log(`NOT CHECKED: ${notChecked}`)
} else {
  const found = Object.entries(audit.vulnerabilities)
  console.log(`${found.length} vulnerabilities known to the registry`)
  for (const [name, { severity }] of found)
    problems.push(`${name} has a vulnerability (${severity}): npm audit --omit=dev`)
}

for (const problem of problems) console.error(`FAILED: ${problem}`)
process.exitCode = problems.length > 0 ? 1 : 0

function parsed(text: string): object {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
