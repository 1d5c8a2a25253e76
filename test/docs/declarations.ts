/** Names that exist only as types, read from the sources: members of interfaces and of unions of text. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from './pages.js'

export interface Member {
  name: string
  required: boolean
  /** The text of its docstring. */
  doc: string
}

function statementOf(file: string, name: string) {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), 'utf8'),
    ts.ScriptTarget.ES2022,
    true,
  )
  const found = source.statements.find(
    statement =>
      (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) &&
      statement.name.text === name,
  )
  if (found === undefined) throw new Error(`${file} declares no ${name}`)
  return found
}

/** The members that an interface declares itself, without those that it inherits. */
export function membersOf(file: string, name: string): Member[] {
  const statement = statementOf(file, name)
  if (!ts.isInterfaceDeclaration(statement)) throw new Error(`${file}: ${name} is not an interface`)
  return statement.members.map(member => ({
    name: member.name?.getText() ?? '',
    required: member.questionToken === undefined,
    doc: ts
      .getJSDocCommentsAndTags(member)
      .map(comment => comment.getText())
      .join('\n'),
  }))
}

/** The literals of a union of texts: `'A' | 'B'`. */
export function literalsOf(file: string, name: string): string[] {
  const statement = statementOf(file, name)
  if (!ts.isTypeAliasDeclaration(statement)) throw new Error(`${file}: ${name} is not a type alias`)
  const { type } = statement
  return (ts.isUnionTypeNode(type) ? [...type.types] : [type]).map(member => {
    if (ts.isLiteralTypeNode(member) && ts.isStringLiteral(member.literal)) return member.literal.text
    throw new Error(`${file}: ${name} is not a union of texts`)
  })
}
