/**
 * A short hash for names: FNV-1a, 32 bits, 8 hexadecimal digits. It tells a handful of texts apart, and
 * protects nothing.
 */
export function nameHash(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
