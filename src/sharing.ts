/** @returns `work`, of which calls at the same time share one run; later ones run it again */
export function sharing<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null
  return () => {
    running ??= work().finally(() => {
      running = null
    })
    return running
  }
}
