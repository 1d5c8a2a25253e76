/** The connections of a server, and its calls in flight. */

/** What the stop uses of a server. */
export interface StoppableServer {
  // biome-ignore-start lint/suspicious/noExplicitAny: @types/node 26 says any, and never excludes it.
  on(event: string, listener: (...values: any[]) => void): unknown
  prependListener(event: string, listener: (...values: any[]) => void): unknown
  // biome-ignore-end lint/suspicious/noExplicitAny: @types/node 26 says any, and never excludes it.
  close(callback: () => void): unknown
  /** Required. Servers of HTTP/2, whose connections carry several calls, do not have it. */
  closeIdleConnections?: (() => void) | undefined
}

/** Of a request as it came: a framework shortens its URL below a mount point. */
export interface Call {
  readonly method: string | undefined
  readonly url: string | undefined
}

interface Socket {
  readonly writableEnded: boolean
  once(event: 'close', listener: () => void): unknown
  destroy(): unknown
}

interface Response {
  readonly headersSent: boolean
  setHeader(name: string, value: string): unknown
  once(event: 'close', listener: () => void): unknown
}

export class OpenCalls {
  readonly #calls = new Map<Response, Call>()
  readonly #sockets = new Set<Socket>()
  #isEnding = false
  #onAnswered: () => void = () => {}

  constructor(server: StoppableServer) {
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    // First: the answer must not be on its way yet.
    server.prependListener('request', ({ method, url }: Call, response: Response) =>
      this.#began({ method, url }, response),
    )
  }

  list(): Call[] {
    return [...this.#calls.values()]
  }

  /** From now on every connection is closed behind its call. */
  announceEnd(): void {
    this.#isEnding = true
    for (const response of this.#calls.keys()) announceEnd(response)
  }

  /** Resolved when every call is answered; the other connections are closed then. */
  async answered(): Promise<void> {
    if (this.#calls.size > 0) await new Promise<void>(resolve => (this.#onAnswered = resolve))
    // Idle, or without a whole request head. One that has its answer closes when the caller has read it.
    for (const socket of this.#sockets) if (!socket.writableEnded) socket.destroy()
  }

  cutOff(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #began(call: Call, response: Response): void {
    this.#calls.set(response, call)
    if (this.#isEnding) announceEnd(response)
    response.once('close', () => {
      this.#calls.delete(response)
      if (this.#calls.size === 0) this.#onAnswered()
    })
  }
}

/** The caller must not send its next call on a connection that closes. */
function announceEnd(response: Response): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}
