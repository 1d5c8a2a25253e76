import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { expressionsOf, growthProblem } from './regular-expressions.js'

const src = fileURLToPath(new URL('../src/', import.meta.url))
const found = (readdirSync(src, { recursive: true }) as string[])
  .filter(file => file.endsWith('.ts'))
  .flatMap(file => expressionsOf(file, readFileSync(src + file, 'utf8')).map(item => ({ file, ...item })))

describe('the regular expressions of src', () => {
  it('are found', () => {
    expect(found.length).toBeGreaterThan(140)
    const source = 'a = /a+b/gi; b = RegExp(`^$' + '{a}x`); c = "/no/" // /no/'
    expect(expressionsOf('a.ts', source).map(({ pattern }) => `${pattern}`)).toEqual(['/a+b/gi', '/^ax/'])
    expect(() => expressionsOf('a.ts', 'new RegExp(text)')).toThrow('is made elsewhere')
  })

  it('take at most about twice the time for twice the text', () => {
    const slow = found.flatMap(({ file, line, pattern }) => {
      const result = growthProblem(pattern)
      return result === null ? [] : [{ place: `${file}:${line}`, pattern: `${pattern}`, ...result }]
    })
    expect(slow).toEqual([])
  })

  // The first three were in src.
  it.each([
    /\bat (?:async )?[\w.<>[\] ]+ \(?(?:file:|node:)/,
    /\S*\d\S*/g,
    /0+$/,
    /^(?:a+)+$/,
    /^abc(?:\w+\s?)*:$/,
    /"errorCode":\s*\s*"/,
    /<[a-z].*>/,
  ])('%s would be noticed', pattern => {
    expect(growthProblem(pattern)).not.toBeNull()
  })
})
