/** Names the pages of the API by what an application imports: `bet-wallet/http`, not `http/index`. */
import { Converter, ReflectionKind } from 'typedoc'

export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, context => {
    for (const module of context.project.getReflectionsByKind(ReflectionKind.Module)) {
      const path = module.name.replace(/^stores\//, '').replace(/\/?index$/, '')
      module.name = ['bet-wallet', path].filter(Boolean).join('/')
    }
  })
}
