/** The web's streams, as the body of a Fetch `Request` is one. */

/**
 * What is read of a `ReadableStream`. Not that it can be iterated: the DOM types of TypeScript before 6 do
 * not say it, and some runtimes cannot do it.
 */
export interface WebStream {
  getReader(): unknown
}

interface Reader {
  read(): Promise<{ done: boolean; value?: Uint8Array }>
}

/** Where the caller of the generator stops early, the rest is dropped: the connection stays usable. */
export async function* chunksOf(stream: WebStream): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader() as Reader
  let last = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      last = done
      if (value === undefined) return
      yield value
    }
  } finally {
    // Too large. The answer does not wait for the rest, which the server's time limit bounds.
    if (!last) drain(reader).catch(() => undefined) // the caller closed the connection
  }
}

async function drain(reader: Reader): Promise<void> {
  while (!(await reader.read()).done);
}
