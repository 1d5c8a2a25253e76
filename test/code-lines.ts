/** Counts lines of code and data: no blank lines, no comments, no comments of SQL; a long line counts as several. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

export interface Size {
  lines: number
  tokens: number
}

const width = 110
const linesOf = (row: string) => Math.max(1, Math.ceil([...row.trimEnd()].length / width))
const isCode = /\.([mc]?ts|tsx|[mc]?js|jsx|sql|css|html|json|py|sh|txt)$/

function sizeOfTypeScript(path: string, text: string): Size {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const rows = text.split('\n')
  const counted = new Set<number>()
  const sqlComments = new Set<number>()
  const rowAt = (position: number) => file.getLineAndCharacterOfPosition(position).line
  let tokens = 0
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(file).filter(({ kind }) => kind !== ts.SyntaxKind.JSDoc)
    if (node.getChildCount(file) > 0) {
      for (const child of children) visit(child)
      return
    }
    const start = node.getStart(file)
    if (node.end <= start) return
    // A long text is worth several tokens.
    tokens += 1 + Math.floor((node.end - start) / 40)
    const [first, last] = [rowAt(start), rowAt(node.end)]
    for (let row = first; row <= last; row += 1) {
      counted.add(row)
      if (last > first && /^\s*-- /.test(rows[row] as string)) sqlComments.add(row)
    }
  }
  visit(file)
  const code = rows.filter((row, index) => counted.has(index) && row.trim() !== '' && !sqlComments.has(index))
  return { lines: code.reduce((sum, row) => sum + linesOf(row), 0), tokens }
}

function sizeOfText(text: string): Size {
  const rows = text.split('\n').filter(row => row.trim() !== '' && !/^\s*(--|\/\/|#|\/?\*)/.test(row))
  return { lines: rows.reduce((sum, row) => sum + linesOf(row), 0), tokens: Math.round(text.length / 6) }
}

/** The size of each file of code or data below a folder, by its path in that folder. */
export function sizesBelow(folder: string): Map<string, Size> {
  const sizes = new Map<string, Size>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !isCode.test(path) || /node_modules|package-lock\.json$/.test(path)) continue
    const text = readFileSync(path, 'utf8')
    const size = /tsx?$/.test(path) ? sizeOfTypeScript(path, text) : sizeOfText(text)
    sizes.set(path.slice(folder.length + 1), size)
  }
  return sizes
}
