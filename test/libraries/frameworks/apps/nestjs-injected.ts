import { Inject, Injectable } from '@nestjs/common'
import type { WalletStore } from 'bet-wallet'
import { createNodeListener } from 'bet-wallet/http'
import { createPostgresStore, fromTypeOrm } from 'bet-wallet/postgres'
import { DataSource } from 'typeorm'
import { options, players } from './wallet.js'

export const walletStore = {
  provide: 'WALLET_STORE',
  inject: [DataSource],
  useFactory: (source: DataSource) => createPostgresStore(fromTypeOrm(source), { players }),
}

@Injectable()
export class WalletService {
  @Inject('WALLET_STORE') private readonly store!: WalletStore
  listener = () => createNodeListener(this.store, options)
}
