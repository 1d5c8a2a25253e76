/** Comments wrap at 110 columns, which the formatter does not do. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './project.js'

const columnsMax = 110

/** The lines of comments that are too long. Code in a docstring, between ``` and ```, is not wrapped. */
function longComments(text: string): string[] {
  let isCode = false
  return text.split('\n').filter(line => {
    if (/^\s*\* ```/.test(line)) isCode = !isCode
    return !isCode && /^\s*(?:\/\*|\*|\/\/|--) ?/.test(line) && line.length > columnsMax
  })
}

describe('comments', () => {
  const [long, short] = ['x'.repeat(columnsMax), 'x']

  it('finds lines of comments that are too long, and no code', () => {
    const lines = [`// ${long}`, `  /** ${long} */`, ` * ${long}`, `  -- ${long}`]
    const text = [...lines, `// ${short}`, `const ${long} = 1`].join('\n')
    expect(longComments(text)).toEqual(lines)
    expect(longComments(` * \`\`\`ts\n * ${long}\n * \`\`\`\n * ${long}`)).toEqual([` * ${long}`])
  })

  it.each(['src', 'examples'])('wrap at 110 columns in %s', folder => {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(path => /[.][cm]?ts$/.test(path) && !path.includes('node_modules'))
      .map(path => join(folder, path))
    expect(files.length).toBeGreaterThan(10)
    const found = files.flatMap(path =>
      longComments(readFileSync(join(root, path), 'utf8')).map(line => `${path}: ${line.trim()}`),
    )
    expect(found).toEqual([])
  })
})
