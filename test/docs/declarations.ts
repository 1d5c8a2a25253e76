/** Names that exist only as types, read from the sources: members of interfaces and of unions of text. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from './pages.js'

export interface Member {
  name: string
  required: boolean
  /** `null` has a meaning of its own. */
  nullable: boolean
  /** The text of its docstring. */
  doc: string
  /** Of a function: `['request']`. */
  parameters: string[] | null
}

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts'))
  .map(file => {
    const text = readFileSync(join(root, 'src', file), 'utf8')
    return ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true)
  })

/** The declaration of an exported type, in whatever file of src it stands. */
function declarationOf(name: string) {
  const found = sources
    .flatMap(source => [...source.statements])
    .filter(statement => ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
    .filter(
      ({ name: { text }, modifiers }) =>
        text === name && modifiers?.[0]?.kind === ts.SyntaxKind.ExportKeyword,
    )
  const [declaration, ...others] = found
  if (declaration === undefined || others.length > 0)
    throw new Error(`src declares ${name} ${found.length} times`)
  return declaration
}

const isNull = (type: ts.TypeNode) =>
  ts.isLiteralTypeNode(type) && type.literal.kind === ts.SyntaxKind.NullKeyword

const alternativesOf = (type: ts.TypeNode): readonly ts.TypeNode[] =>
  ts.isUnionTypeNode(type) ? type.types : [type]

/** Of a method, or of a property whose type is a function, or a function or `null`. */
function parametersOf(member: ts.TypeElement): string[] | null {
  if (ts.isMethodSignature(member)) return member.parameters.map(({ name }) => name.getText())
  if (!ts.isPropertySignature(member) || member.type === undefined) return null
  const [type, ...others] = alternativesOf(member.type).filter(alternative => !isNull(alternative))
  const functionType = type !== undefined && ts.isParenthesizedTypeNode(type) ? type.type : type
  if (functionType === undefined || others.length > 0 || !ts.isFunctionTypeNode(functionType)) return null
  return functionType.parameters.map(({ name }) => name.getText())
}

/** The members that an interface declares itself, without those that it inherits. */
export function membersOf(name: string): Member[] {
  const statement = declarationOf(name)
  if (!ts.isInterfaceDeclaration(statement)) throw new Error(`${name} is not an interface`)
  return statement.members.map(member => ({
    parameters: parametersOf(member),
    name: member.name?.getText() ?? '',
    required: member.questionToken === undefined,
    nullable:
      ts.isPropertySignature(member) && member.type !== undefined && alternativesOf(member.type).some(isNull),
    doc: ts
      .getJSDocCommentsAndTags(member)
      .map(comment => comment.getText())
      .join('\n'),
  }))
}

/** The keys of an object that a file declares. */
function keysOf(source: ts.SourceFile, name: string): string[] {
  const declaration = source.statements
    .filter(statement => ts.isVariableStatement(statement))
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .find(each => each.name.getText() === name)
  const value = declaration?.initializer
  const object = value !== undefined && ts.isSatisfiesExpression(value) ? value.expression : value
  if (object === undefined || !ts.isObjectLiteralExpression(object))
    throw new Error(`${name} is not an object`)
  return object.properties.map(property => property.name?.getText() ?? '')
}

/** The literals of a union of texts, `'A' | 'B'`, or the keys of an object. */
export function literalsOf(name: string): string[] {
  const statement = declarationOf(name)
  if (!ts.isTypeAliasDeclaration(statement)) throw new Error(`${name} is not a type alias`)
  const { type } = statement
  const [, object] = /^keyof typeof (\w+)$/.exec(type.getText()) ?? []
  if (object !== undefined) return keysOf(statement.getSourceFile(), object)
  return (ts.isUnionTypeNode(type) ? [...type.types] : [type]).flatMap(member => {
    if (ts.isLiteralTypeNode(member) && ts.isStringLiteral(member.literal)) return [member.literal.text]
    const [, union, without] = /^Exclude<(\w+), '(\w+)'>$/.exec(member.getText()) ?? []
    if (union !== undefined) return literalsOf(union).filter(text => text !== without)
    throw new Error(`${name} is not a union of texts`)
  })
}
