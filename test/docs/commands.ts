/** Runs the commands of the pages, `npx bet-wallet …`, against a wallet like the one that `npm start` starts. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { basicAuth, createHttpHandler } from '../../src/http/index.js'
import { recordSettlement } from '../../src/index.js'
import { createMemoryStore } from '../../src/stores/memory.js'
import { type CodeBlock, codeBlocksOf, type Page, root } from './pages.js'
import { type Ran, run } from './programs.js'

/** What `npx bet-wallet` runs. */
export const commandFile = join(root, manifest.bin['bet-wallet'])

/** The sh blocks whose output is shown: a sample, since times and amounts differ from run to run. */
export function samplesOf(pages: readonly Page[]): (CodeBlock & { output: string })[] {
  return pages
    .flatMap(codeBlocksOf)
    .filter(
      (block): block is CodeBlock & { output: string } => block.language === 'sh' && block.output !== null,
    )
}

/** Runs the block as it stands; only the address and the way to the command are replaced. */
export async function runSample({ code }: CodeBlock): Promise<Ran> {
  const store = createMemoryStore([
    { playerId: 'anna', currency: 'EUR', balance: '100.00' },
    { playerId: 'kenji', currency: 'JPY', balance: '5000' },
  ])
  const handle = createHttpHandler(store, {
    authenticate: basicAuth({ username: 'platform', password: 'demo-secret' }),
    basePath: '/wallet',
    routes: { '/settlement': body => recordSettlement(store, body) },
  })
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const answer = await handle({ method, path, headers, body: request })
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    const script = code
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${(server.address() as AddressInfo).port}`)
      .replaceAll('npx bet-wallet', `"${process.execPath}" "${commandFile}"`)
    return await run('sh', ['-c', script])
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/**
 * The part of a real output that a sample shows: as many lines before and after its line `…`.
 *
 * @param sample the text block of the page
 */
export function excerptLike(sample: string, real: string): string {
  const lines = real.trimEnd().split('\n')
  const shown = sample.trimEnd().split('\n')
  const cut = shown.indexOf('…')
  const excerpt =
    cut === -1
      ? lines
      : [...lines.slice(0, cut), '…', ...lines.slice(lines.length - (shown.length - cut - 1))]
  return `${excerpt.join('\n')}\n`
}

/** Numbers differ from run to run. */
export function withoutNumbers(text: string): string {
  return text.replace(/\d[\d,.]*/g, '#').replace(/ +/g, ' ')
}
