/** Numbers, durations and times for people, independent of the locale and time zone of the machine. */

/** `7.5 ms`, `240 ms`, `3.20 s`, `4 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 1) return `${Number(ms.toFixed(2))} ms`
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_995) return `${(ms / 1000).toFixed(2)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const months = 'January February March April May June July August September October November December'.split(
  ' ',
)

/** `21 November 2026, 07:45:57 UTC` for `2026-11-21T07:45:57.120Z`. Other text is returned unchanged. */
export function momentText(iso: string): string {
  const parts = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(iso)
  const month = months[Number(parts?.[2]) - 1]
  return parts && month ? `${Number(parts[3])} ${month} ${parts[1]}, ${parts[4]} UTC` : iso
}

/** `1 call`, `1,200 calls`. */
export function countText(count: number, singular: string, plural = `${singular}s`): string {
  return `${numberText(count)} ${count === 1 ? singular : plural}`
}

/** `12,345`. */
export function numberText(number: number): string {
  return number.toLocaleString('en')
}

/** Cuts text for a place that does not wrap. */
export function shortText(text: string, charactersMax: number): string {
  const characters = [...text]
  return characters.length > charactersMax ? `${characters.slice(0, charactersMax - 1).join('')}…` : text
}
