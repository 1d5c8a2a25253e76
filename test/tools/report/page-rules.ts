/** What holds for every page of a report: well-formed, without scripts, links that lead somewhere. */
import { expect } from 'vitest'
import { tagsOf } from './markup-reader.js'

export function expectGoodPage(page: string): void {
  const tags = tagsOf(page)
  const ids = tags.flatMap(({ attributes }) => attributes.id ?? [])
  expect(new Set(ids).size).toBe(ids.length)
  for (const { name, attributes } of tags) {
    expect(['script', 'link', 'img', 'iframe', 'object', 'form', 'base']).not.toContain(name)
    expect(Object.keys(attributes).filter(each => /^on|^src$|^style$/.test(each))).toEqual([])
    expect(attributes.href ?? '#').toMatch(/^#/)
    for (const id of attributes['aria-labelledby']?.split(' ') ?? []) expect(ids).toContain(id)
  }
  expect(page).toContain(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; `)
  expect(page).not.toMatch(/undefined|NaN|\[object/)
}

/** The text that people see, in one line. */
export const textOf = (markup: string) =>
  markup
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/\s+/g, ' ')
