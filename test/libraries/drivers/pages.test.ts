/** The blocks of the page compile, strictly and with the types of the real libraries, and are short. */
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { codeBlocksOf, readPage, root } from '../../docs/pages.js'
import { folderOf, migrationsPage, nameOf, page, write } from './blocks.js'

const blocks = [
  ...codeBlocksOf(readPage(page)),
  ...codeBlocksOf(readPage(migrationsPage)).filter(({ code }) => nameOf(code) !== null),
].filter(({ language }) => language === 'ts')

test('no block has more than fifteen lines', () => {
  const long = blocks.filter(({ code }) => code.trimEnd().split('\n').length > 15)
  expect(long.map(({ code }) => code)).toEqual([])
})

test('every block compiles', () => {
  const files = blocks.map(({ number, code }) => {
    const name = nameOf(code)
    return name === null ? write(page, `block-${number}.ts`, code) : join(folderOf(page), name)
  })
  const configFile = join(root, 'tsconfig.json')
  const { config } = ts.readConfigFile(configFile, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root, undefined, configFile)
  const program = ts.createProgram(files, options)
  const problems = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1
    return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
  expect(problems).toEqual([])
})
