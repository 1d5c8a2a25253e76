import { Inject, Injectable } from '@nestjs/common'
import type { WalletStore } from 'bet-wallet'
import { createNodeListener } from 'bet-wallet/http'
import { options } from './wallet.js'

@Injectable()
export class WalletService {
  @Inject('WALLET_STORE') private readonly store!: WalletStore
  listener = () => createNodeListener(this.store, options)
}
