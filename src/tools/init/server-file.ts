/** `server.ts`: the platform's calls, over `node:http`. */
import { programText } from './program-text.js'

export const serverFile = (isModule: boolean): string =>
  programText(
    {
      file: 'server.ts',
      imports: [
        { names: ['createServer'], from: 'node:http' },
        { names: ['recordSettlement'], from: 'bet-wallet' },
        { names: ['basicAuth', 'createNodeListener'], from: 'bet-wallet/http' },
        { names: ['store'], from: './store.js' },
      ],
      work: [
        'await store.ready()',
        'const wallet = createNodeListener(store, {',
        "  basePath: '/wallet',",
        "  authenticate: basicAuth({ username: 'platform', password: process.env.BET_WALLET_PASSWORD ?? '' }),",
        '  // By this path the platform could credit any bet: only for the audit, never in production.',
        "  routes: process.env.AUDIT === '1' ? { '/settlement': body => recordSettlement(store, body) } : {},",
        '})',
        '// In your framework: node_modules/bet-wallet/docs/frameworks.md',
        "createServer(wallet).listen(3000, '127.0.0.1', () => console.log('listening'))",
      ],
    },
    isModule,
  )
