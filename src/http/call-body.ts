/** The body of one call, read at most once: for the signature over it and for the rules, the same bytes. */
import { parseBody, type ReceivedBody, receiveBody, tooLarge } from './body.js'
import { type HttpRequest, headerOf } from './message.js'

/** A signature cannot be checked behind a body parser that kept no bytes. The message is for the operator. */
export class BytesDropped extends Error {
  override readonly name = 'BytesDropped'
  constructor() {
    super(
      'the body parser in front of the wallet kept no raw bytes: mount the wallet before it, or keep them in request.rawBody (express.json has the option verify)',
    )
  }
}

export type CallBody = ReturnType<typeof callBody>

/** Nothing is read before it is asked for. */
export function callBody(request: HttpRequest, bytesMax: number) {
  let receiving: Promise<ReceivedBody> | null = null
  const received = () => {
    receiving ??= receive(request, bytesMax)
    return receiving
  }
  return {
    /**
     * The bytes as they were received.
     *
     * @throws {BodyError} if they cannot be used
     * @throws {LostBodyError}
     * @throws {BytesDropped} if the application's body parser kept none
     */
    async bytes(): Promise<Uint8Array> {
      const body = await received()
      if ('parsed' in body) throw new BytesDropped()
      return typeof body.raw === 'string' ? Buffer.from(body.raw) : body.raw
    },
    /**
     * The parsed body, with exact numbers.
     *
     * @throws {BodyError} if it cannot be used
     */
    async parsed(): Promise<unknown> {
      return parseBody(await received())
    },
  }
}

/** A body is not read if its Content-Length exceeds the limit. */
function receive(request: HttpRequest, bytesMax: number): Promise<ReceivedBody> {
  if (Number(headerOf(request, 'content-length') ?? 0) > bytesMax) return Promise.reject(tooLarge(bytesMax))
  return receiveBody(request.body, bytesMax)
}
