import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common'
import { createNodeListener } from 'bet-wallet/http'
import { options, store } from './wallet.js'

@Module({})
export class WalletModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    const wallet = createNodeListener(store, { ...options, basePath: '/wallet' })
    consumer.apply(wallet).forRoutes('wallet/*path')
  }
}
