/** The connections of a server, and its calls in flight. */

/** What the stop uses of a server. */
export interface StoppableServer {
  // biome-ignore-start lint/suspicious/noExplicitAny: @types/node 26 says any, and never excludes it.
  on(event: string, listener: (...values: any[]) => void): unknown
  listenerCount(event: string): number
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
  readonly writable: boolean
  readonly writableEnded: boolean
  once(event: 'close', listener: () => void): unknown
  write(text: string): unknown
  destroy(): unknown
}

interface Response {
  readonly headersSent: boolean
  setHeader(name: string, value: string): unknown
  hasHeader(name: string): boolean
  once(event: 'close', listener: () => void): unknown
}

export class OpenCalls {
  /** Per socket its calls, in the order of their answers: a caller need not wait for one to send the next. */
  readonly #calls = new Map<Socket, Map<Response, Call>>()
  #open = 0
  readonly #sockets = new Set<Socket>()
  #isEnding = false
  #onAnswered: () => void = () => {}

  constructor(server: StoppableServer) {
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    // First: the answer must not be on its way yet.
    server.prependListener(
      'request',
      ({ method, url, socket }: Call & { socket: Socket }, response: Response) =>
        this.#began({ method, url }, socket, response),
    )
    server.prependListener('clientError', (error: { code?: string }, socket: Socket) => {
      // An answer now would be taken for that of the call, which may change a balance.
      if (this.#calls.get(socket)?.size) socket.destroy()
      else if (server.listenerCount('clientError') === 1) refuse(socket, error.code)
    })
  }

  list(): Call[] {
    return [...this.#calls.values()].flatMap(calls => [...calls.values()])
  }

  /** From now on every connection is closed behind the last of its calls. */
  announceEnd(): void {
    this.#isEnding = true
    for (const calls of this.#calls.values()) announceEnd([...calls.keys()])
  }

  /** Resolved when every call is answered; the other connections are closed then. */
  async answered(): Promise<void> {
    if (this.#open > 0) await new Promise<void>(resolve => (this.#onAnswered = resolve))
    // Idle, or without a whole request head. One that has its answer closes when the caller has read it.
    for (const socket of this.#sockets) if (!socket.writableEnded) socket.destroy()
  }

  cutOff(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #began(call: Call, socket: Socket, response: Response): void {
    const calls = this.#calls.get(socket) ?? this.#follow(socket)
    calls.set(response, call)
    this.#open += 1
    if (this.#isEnding) announceEnd([...calls.keys()])
    response.once('close', () => {
      if (calls.delete(response)) this.#ended(1)
    })
  }

  #follow(socket: Socket): Map<Response, Call> {
    const calls = new Map<Response, Call>()
    this.#calls.set(socket, calls)
    // A response whose turn has not come emits no event.
    socket.once('close', () => {
      this.#calls.delete(socket)
      this.#ended(calls.size)
      calls.clear()
    })
    return calls
  }

  #ended(calls: number): void {
    this.#open -= calls
    if (this.#open === 0) this.#onAnswered()
  }
}

/** The caller must not send a call on a connection that closes: only its last answer says so. */
function announceEnd(responses: Response[]): void {
  for (const response of responses) {
    if (response.headersSent) continue
    if (response === responses.at(-1)) response.setHeader('connection', 'close')
    else if (response.hasHeader('connection')) response.setHeader('connection', 'keep-alive')
  }
}

/** By the code of the error, as Node.js answers where no listener is. */
const statuses: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

function refuse(socket: Socket, code = ''): void {
  if (socket.writable)
    socket.write(`HTTP/1.1 ${statuses[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`)
  socket.destroy()
}
