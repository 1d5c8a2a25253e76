import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { afterAll, describe, expect, test } from 'vitest'
import { defaultStatusCodes } from '../src/http/index.js'
import { errorCodes } from '../src/index.js'
import { walletStoreCases } from '../src/testing/index.js'

const path = (relative: string) => fileURLToPath(new URL(`../${relative}`, import.meta.url))
const readme = readFileSync(path('README.md'), 'utf8')
const manifest = JSON.parse(readFileSync(path('package.json'), 'utf8'))

/** The fenced blocks, each with the block of output that stands directly behind it, where there is one. */
const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```\n)?/gm)].map(
  ([, language, code = '', output]) => ({ language, code, output }),
)
const programs = blocks
  .filter(({ language }) => language === 'ts')
  .map((block, index) => ({
    ...block,
    name: `block ${index + 1}`,
    file: path(`test/.tmp/readme/block-${index + 1}.ts`),
  }))

// Inside the package, so that it is found by its public name.
mkdirSync(path('test/.tmp/readme'), { recursive: true })
for (const { file, code } of programs) writeFileSync(file, code)
afterAll(() => rmSync(path('test/.tmp/readme'), { recursive: true, force: true }))

/** In a process of its own, on the build. */
function runsAs(file: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', file], {
    cwd: path('.'),
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', TSX_TSCONFIG_PATH: 'examples/tsconfig.json' },
  })
  return { status, stdout, stderr }
}

describe('the code blocks of the README', () => {
  test('are there, and most of them show what they print', () => {
    expect(programs.length).toBeGreaterThanOrEqual(7)
    expect(programs.filter(({ output }) => output === undefined)).toHaveLength(1) // under node:test
  })

  test('compile, strictly', () => {
    const { config } = ts.readConfigFile(path('tsconfig.json'), ts.sys.readFile)
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, path('.'))
    const program = ts.createProgram(
      programs.map(({ file }) => file),
      { ...options, module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    )
    const flaws = ts
      .getPreEmitDiagnostics(program)
      .map(
        ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
      )
    expect(flaws).toEqual([])
  })

  test.each(programs)('run, and print what the page says ($name)', ({ file, code, output }) => {
    const { status, stdout, stderr } = runsAs(file)
    expect(stderr).toBe('')
    if (output === undefined) expect(status).toBe(0)
    else {
      expect(stdout).toBe(output)
      expect(status).toBe(code.includes('process.exitCode') ? 1 : 0)
    }
  })

  test('name only scripts that exist', () => {
    const scripts = [...readme.matchAll(/npm (?:run (\w+(?::\w+)*)|(start|test)\b)/g)].map(
      ([, a, b]) => a ?? b ?? '',
    )
    expect(scripts).toContain('start')
    for (const script of scripts) expect(Object.keys(manifest.scripts)).toContain(script)
  })
})

describe.each([
  ['README', programs[1]?.code ?? ''],
  ['contract', readFileSync(path('src/store.ts'), 'utf8').match(/```ts\n([\s\S]*? \* ```)/)?.[1] ?? ''],
])('the store that the %s shows', (where, code) => {
  test('passes the kit', () => {
    const sample = code.replace(/^ \* ?/gm, '').match(/^function openStore[\s\S]*?^}\n/m)?.[0]
    const file = path(`test/.tmp/readme/store-of-${where}.ts`)
    writeFileSync(
      file,
      `import Big from 'big.js'
      import { checkWalletStore } from 'bet-wallet/testing'
      ${sample}
      const harness = { open: players => ({ store: openStore(players) }) }
      const { passed, counts } = await checkWalletStore(harness, { runs: 50, print: null })
      console.log(passed, counts.passed > 60, counts.failed)`,
    )
    expect(runsAs(file)).toEqual({ status: 0, stdout: 'true true 0\n', stderr: '' })
  })
})

describe('the tables of the README', () => {
  test('list every error code with its default status', () => {
    const rows = readme.split('\n').map(line => line.split('|').map(cell => cell.trim()))
    for (const code of errorCodes) {
      const row = rows.find(
        ([, codes = '', statuses = '']) => codes.includes(`\`${code}\``) && /^\d/.test(statuses),
      )
      const position = row?.[1]?.split(', ').indexOf(`\`${code}\``) ?? -1
      expect(row?.[2]?.split(', ')[position], code).toBe(String(defaultStatusCodes[code]))
    }
  })

  test('list every case of the kit, and no other', () => {
    const cases = walletStoreCases({ open: () => ({ store: {} as never }) })
    const rows = readme.split('\n').filter(line => line.startsWith('| WS-'))
    expect(rows).toEqual(cases.map(({ id, level, name }) => `| ${id} | ${level} | ${name} |`))
  })

  test('list every decision, D1 to D27', () => {
    for (let number = 1; number <= 27; number += 1) expect(readme).toContain(`| D${number} |`)
  })

  test('link to what exists', () => {
    const prose = readme.replace(/^```[\s\S]*?^```/gm, '')
    const targets = [...prose.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target)
    const headings = [...readme.matchAll(/^#+ (.*)$/gm)].map(
      ([, heading = '']) =>
        `#${heading
          .toLowerCase()
          .replace(/[^\w\s-]/g, '')
          .replace(/\s/g, '-')}`,
    )
    for (const target of targets) {
      expect(target.startsWith('#') ? headings.includes(target) : existsSync(path(target)), target).toBe(true)
    }
  })
})
