/** The blocks of the pages compile, strictly and with the types of the real libraries, and are short. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { codeBlocksOf, readPage, root } from '../docs/pages.js'
import { folderOf, write, writeNamedBlocks } from './blocks.js'

const configFile = join(root, 'tsconfig.json')

describe.each(['docs/drivers.md', 'docs/drivers-mysql.md', 'docs/migrations.md'])('%s', path => {
  const blocks = codeBlocksOf(readPage(path)).filter(({ language }) => language === 'ts')

  test('no block has more than fifteen lines', () => {
    const long = blocks.filter(({ code }) => code.trimEnd().split('\n').length > 15)
    expect(long.map(({ code }) => code)).toEqual([])
  })

  test('every block compiles', () => {
    const named = [
      ...(path === 'docs/migrations.md' ? writeNamedBlocks('docs/drivers.md', path) : []),
      ...writeNamedBlocks(path),
    ]
    const files = blocks
      .filter(({ code }) => !code.startsWith('// '))
      .map(({ number, code }) => write(path, `block-${number}.ts`, code))
    const { config } = ts.readConfigFile(configFile, ts.sys.readFile)
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root, undefined, configFile)
    const program = ts.createProgram([...named, ...files], options)
    const problems = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
      const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1
      return `${file?.fileName.replace(folderOf(path), '')}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
    })
    for (const file of files) rmSync(file)
    expect(problems).toEqual([])
  })
})
