/**
 * Ids are opaque (D24): one that differs in letter case, or in spaces at its ends, is another id. But a
 * report whose ids all do was written by a tool.
 */
export const similarOf = (id: string) => id.trim().toLowerCase()
