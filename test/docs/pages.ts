/** The pages of the documentation, and their parts: code blocks, links, anchors, table rows. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The paths of the files below a folder of the repository. Tests that run meanwhile remove folders of `.tmp`. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    if (entry.name === '.tmp' || entry.name === 'node_modules') return []
    return entry.isDirectory() ? filesBelow(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`]
  })
}

export interface Page {
  /** Below the root of the repository: `docs/http.md`. */
  path: string
  text: string
}

export interface CodeBlock {
  page: string
  /** Counted per page and language, from 1. */
  number: number
  language: string
  code: string
  /** The text block directly below: what the code prints. */
  output: string | null
}

export function readPage(path: string, folder = root): Page {
  return { path, text: readFileSync(join(folder, path), 'utf8') }
}

/** README.md, the pages of docs/, and the READMEs of the examples. */
export function readPages(): Page[] {
  const pages = (folder: string, recursive: boolean) =>
    readdirSync(join(root, folder), { recursive, encoding: 'utf8' })
      .filter(file => file.endsWith('.md'))
      .sort()
      .map(file => `${folder}/${file}`)
  const paths = ['README.md', ...pages('docs', false), ...pages('examples', true)]
  return paths.map(path => readPage(path))
}

/** Matches a fenced block, and the text block that follows it after one empty line. */
export const fencedBlock = /^```(\w+)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```\n)?/gm

export function codeBlocksOf({ path, text }: Page): CodeBlock[] {
  const counts = new Map<string, number>()
  return [...text.matchAll(fencedBlock)].map(([, language = '', code = '', output = null]) => {
    const number = (counts.get(language) ?? 0) + 1
    counts.set(language, number)
    return { page: path, number, language, code, output }
  })
}

function proseOf({ text }: Page): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}

/** Targets of links and images, as they are written. */
export function linksOf(page: Page): string[] {
  return [...proseOf(page).matchAll(/(?:\]\(|<img src=")([^)"\s]+)[)"]/g)].map(([, target = '']) => target)
}

/** Every anchor of a page: its headings as GitHub names them, and explicit ids. */
export function anchorsOf({ text }: Page): ReadonlySet<string> {
  const headings = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.*)$/gm)
  const slugs = [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/<[^>]*>/g, '')
      .replace(/[^\p{L}\p{N}_\s-]/gu, '')
      .replace(/\s/g, '-'),
  )
  const ids = [...text.matchAll(/<a (?:id|name)="([^"]+)">/g)].map(([, id = '']) => id)
  return new Set([...slugs, ...ids])
}

/**
 * What is wrong with a link: `null` where it resolves. Addresses of the web are not called.
 *
 * @param folder that the pages are in: the repository, or the package as it is installed
 */
export function linkProblem(page: Page, target: string, folder = root): string | null {
  if (/^https?:/.test(target)) return null
  const [file = '', anchor] = target.split('#')
  const path = file === '' ? page.path : relative(folder, join(folder, dirname(page.path), file))
  if (!existsSync(join(folder, path))) return `${page.path}: ${target} does not exist`
  if (anchor === undefined) return null
  const anchors = anchorsOf(readPage(path, folder))
  return anchors.has(anchor) ? null : `${page.path}: ${target} has no such anchor`
}

/** The cells of every table row, without the rows that separate headers. */
export function rowsOf({ text }: Page): string[][] {
  return text
    .split('\n')
    .filter(line => line.startsWith('|') && !/^\|[\s:|-]+\|$/.test(line))
    .map(line =>
      line
        .slice(1, line.lastIndexOf('|'))
        .split(/(?<!\\)\|/)
        .map(cell => cell.trim()),
    )
}

/** The rows of one section: from its heading to the next heading of any level. */
export function sectionOf({ path, text }: Page, heading: string): Page {
  const lines = text.split('\n')
  const start = lines.findIndex(line => line.replace(/^#+ /, '') === heading && line.startsWith('#'))
  if (start === -1) throw new Error(`${path} has no section "${heading}"`)
  const length = lines.slice(start + 1).findIndex(line => /^#+ /.test(line))
  return { path, text: lines.slice(start, length === -1 ? undefined : start + 1 + length).join('\n') }
}

/** The items of a list that begin with a name in code style: `- \`name(call)\` (given): meaning`. */
export function itemsOf({ text }: Page): { name: string; given: string }[] {
  return [...text.matchAll(/^- `([\w-]+)[^`]*`(?: \((.*?)\))?: /gm)].map(([, name = '', given = '']) => ({
    name,
    given,
  }))
}

/** The names in code style in a cell: `` `a`, `b(c)` `` returns a and b. */
export function namesIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name.replace(/\(.*$/, ''))
}
