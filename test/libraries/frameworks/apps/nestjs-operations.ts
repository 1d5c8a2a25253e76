import { Inject, Injectable } from '@nestjs/common'
import { HttpAdapterHost } from '@nestjs/core'
import { operate } from './operations.js'

@Injectable()
export class WalletOperations {
  @Inject(HttpAdapterHost) private readonly host!: HttpAdapterHost
  beforeApplicationShutdown = async () => {}
  onApplicationBootstrap() {
    this.beforeApplicationShutdown = operate(this.host.httpAdapter.getHttpServer(), { signals: [] })
  }
}
