/** What the pages list from data: cases, options, versions that were tested; and llms.txt, the list of the pages. */

import { sections } from '../../docs/.vitepress/sections.js'
import manifest from '../../package.json' with { type: 'json' }
import { metrics, prometheusName } from '../../src/operations/metrics.js'
import { walletStoreCases } from '../../src/testing/index.js'
import { cases as auditCases } from '../../src/tools/audit/cases.js'
import { allCommands } from '../../src/tools/command/commands.js'
import { readResults, requirements } from '../programs/versions/requirements.js'
import { membersOf } from './declarations.js'
import { linksOf, type Page, readPage, readPages } from './pages.js'

const section = '\\d(?:\\.\\d)?(?: rule \\d)?'

/** References to rules become links: D7, P01, spec 4.2 rule 1, decisions: the hooks. */
export function withLinks(text: string): string {
  return text
    .replaceAll('|', '\\|')
    .replaceAll('__', '\\_\\_')
    .replace(/\bD[1-9]\d?\b/g, rule => `[${rule}](decisions.md#${rule.toLowerCase()})`)
    .replace(/\b[APRSU]\d\d\b/g, id => `[${id}](decisions.md#${id.toLowerCase()})`)
    .replace(new RegExp(`\\bspec ${section}(?:, ${section}(?![\\w.]))*`, 'g'), sections =>
      sections.replace(
        new RegExp(`(?:spec )?(${section})`, 'g'),
        (name, number: string) => `[${name}](interface.md#spec-${number.replace(/[. ]/g, '-')})`,
      ),
    )
    .replace(
      /\bdocs\/([a-z-]+)\.md(#[a-z-]+)?/g,
      (_, page: string, section = '') => `[${page}](${page}.md${section})`,
    )
    .replace(
      /\bdecisions: ([\w ]+)/g,
      (name, chapter: string) => `[${name}](decisions.md#${chapter.toLowerCase().replaceAll(' ', '-')})`,
    )
}

const anchored = (id: string) => `<a id="${id.toLowerCase()}"></a>${id}`
/** Without these the case is skipped. */
const needed = (needs: readonly string[]) => (needs.length === 0 ? '' : ` *(${needs.join(', ')})*`)

function kitCaseList(): string {
  const open = () => ({ store: {} as never })
  const hooks = membersOf('StoreHarness')
    .map(({ name }) => name)
    .filter(name => !['open', 'close', 'playerIds', 'idScope'].includes(name)) // no case is skipped without them
  const everyHook = Object.fromEntries(hooks.map(hook => [hook, () => undefined]))
  /** The ids of the cases that run with these hooks, and with this scope of ids. */
  const running = (of: object) =>
    walletStoreCases({ ...of, open }).flatMap(({ id, skip }) => (skip === null ? id : []))
  const runningInAScope = (of: object) => [...running(of), ...running({ ...of, idScope: 'player' })]
  const inOneLedger = running(everyHook)
  /** The ids of the cases that do not run without this hook. */
  const needing = new Map(
    hooks.map(hook => {
      const { [hook]: _, ...others } = everyHook
      const without = runningInAScope(others)
      return [hook, runningInAScope(everyHook).filter(id => !without.includes(id))]
    }),
  )
  const lines = walletStoreCases({ open }).map(({ id, level, name }) => {
    const scope = inOneLedger.includes(id) ? [] : ["`idScope: 'player'`"]
    const needs = [
      ...scope,
      ...hooks.filter(hook => needing.get(hook)?.includes(id)).map(hook => `\`${hook}\``),
    ]
    return `- ${anchored(id)}: ${withLinks(name)}${level === 'MUST' ? '' : `. ${level}`}${needed(needs)}`
  })
  return lines.join('\n')
}

function auditCaseList(): string {
  const lines = auditCases.map(({ id, level, name, source, needs = [] }) => {
    // A number alone is a section of the interface.
    const sources = withLinks(source).replaceAll('[spec ', '[')
    const others = needs.filter(need => need !== 'settle' || !needs.includes('clawbacks'))
    const marked = level === undefined ? '' : ` ${level}`
    return `- ${anchored(id)}${marked}: ${withLinks(name)}${needed(others)}. ${sources}`
  })
  return lines.join('\n')
}

/** The text of a docstring, without its tags. */
const proseOf = (doc: string) =>
  doc
    .replace(/^\/\*\*|\*\/$/g, '')
    .replace(/^ *\* ?/gm, '')
    .replace(/(^|\n) *@[\s\S]*/, '')
    .replace(/\{@link (\w+)\}/g, '`$1`')
    .replace(/\s+/g, ' ')
    .trim()

/** A line per option: its name, its default if it has one, and the first sentence of its docstring. */
export function optionsList(interfaces: readonly string[]): string {
  const lines = interfaces.flatMap(membersOf).map(({ name, required, nullable, doc, parameters }) => {
    const [sentence = ''] = proseOf(doc).split(/(?<=[^.])\.(?= |$)/)
    if (sentence === '') throw new Error(`The docstring of ${name} has no sentence`)
    const tag = /@default ([^\n]*?)(?: *\*\/)?$/m.exec(doc)?.[1]?.trim()
    const number = tag?.replace(/(?<=\d)_(?=\d)/g, ',')
    const value = number?.replace(/^(?:['[{].*|true|false)$/, '`$&`')
    const call = parameters === null ? name : `${name}(${parameters.join(', ')})`
    const given = required ? 'required' : (value ?? (nullable ? 'or `null`' : ''))
    return `- \`${call}\`${given === '' ? '' : ` (${withLinks(given)})`}: ${withLinks(sentence)}`
  })
  return lines.join('\n')
}

/** Of the names in Prometheus: those of OpenTelemetry follow from them. */
const metricList = (): string =>
  metrics
    .map(metric => {
      const labels = metric.labels.map(label => ` \`${label}\``).join(',')
      return `- \`${prometheusName(metric)}\` (${metric.kind}${labels === '' ? '' : `;${labels}`}): ${metric.help}`
    })
    .join('\n')

const commands = await allCommands()

/** The options by the commands that have them: `--help` says what each means. */
function commandOptionsList(): string {
  const usedBy = new Map<string, string[]>()
  for (const { usage, options } of commands)
    for (const { flag } of Object.values(options)) {
      if (flag === '--help') continue
      usedBy.set(flag, [...(usedBy.get(flag) ?? []), usage.split(' ')[0] ?? ''])
    }
  const groups = new Map<string, string[]>()
  for (const [flag, names] of usedBy)
    groups.set(names.join(', '), [...(groups.get(names.join(', ')) ?? []), `\`${flag}\``])
  return [...groups].map(([names, flags]) => `- **${names}**: ${flags.join(', ')}`).join('\n')
}

const tables: Record<string, () => string> = {
  'options of the commands': commandOptionsList,
  requirements: () => requirements(readResults()),
  metrics: metricList,
  'cases of the kit': kitCaseList,
  'cases of the audit': auditCaseList,
}

/** Stands between these two lines. The first says what is in it: the name of a table, or interfaces of options. */
const generated =
  /(^<!-- Generated by test\/docs\/write-tables\.ts: (.*?) -->\n\n)[\s\S]*?(\n\n<!-- End of the generated table -->$)/gm

/** What a page is about: its sections. */
const headingsOf = ({ text }: Page) =>
  [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)

/** docs/llms.txt: every page in the order of the site, then the examples that the pages name. */
function listForTools(): Page {
  const lines = sections.flatMap(({ text, items }) => [
    `\n## ${text}\n`,
    ...items.map(({ text: title, link }) => {
      const path = `${link.slice(1)}.md`
      const headings = headingsOf(readPage(`docs/${path}`))
      return `- [${title}](${path})${headings.length === 0 ? '' : `: ${headings.join('; ')}`}`
    }),
  ])
  const targets = readPages().flatMap(page => linksOf(page).filter(target => target.includes('examples/')))
  const examples = [...new Set(targets.map(target => target.replace(/^(?:\.\.\/)*/, '')))].sort()
  const head = [
    `# bet-wallet\n\n> ${manifest.description}.\n`,
    'All paths are relative to this file, in the repository and in the npm package. [README](../README.md), [home](index.md), [changelog](../CHANGELOG.md), [OpenAPI 3.1](openapi.json).',
  ]
  const list = examples.map(path => `- [${path}](../${path})`)
  return { path: 'docs/llms.txt', text: `${[...head, ...lines, '\n## Examples\n', ...list].join('\n')}\n` }
}

/** What write-tables.ts writes. */
export const generatedPages = (): Page[] => [...pagesWithTables(), listForTools()]

/** The pages that hold generated tables, with the tables as they must be now. */
function pagesWithTables(): Page[] {
  const pages = readPages().filter(({ text }) => text.includes('<!-- Generated by'))
  return pages.map(({ path, text }) => {
    if (text.match(generated)?.length !== text.match(/^<!-- Generated by/gm)?.length)
      throw new Error(`${path} has a table without its last line`)
    const made = (name: string) => tables[name]?.() ?? optionsList(name.split(', '))
    return { path, text: text.replace(generated, (_, start, name, end) => `${start}${made(name)}${end}`) }
  })
}
