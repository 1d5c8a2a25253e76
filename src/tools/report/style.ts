/** The style of the reports' pages: light and dark, on a phone, and on paper. */
import { html } from './markup.js'

/** Every pair of colours that carries text has a contrast of at least 4.5; a test computes it. */
const day = `
  --paper: #ffffff; --ink: #1b1e23; --soft: #59616c; --line: #d8dbe0; --wash: #f4f5f7;
  --pass: #17664f; --fail: #b0201a; --warn: #7d5200; --none: #59616c; --call: #2c5f8a;`
const night = `
  --paper: #14171b; --ink: #e4e7ea; --soft: #a3abb5; --line: #363c44; --wash: #1d2126;
  --pass: #6fc9ae; --fail: #ff8b7e; --warn: #e4b45e; --none: #a3abb5; --call: #7fb4de;`

export const style = html`
:root {${day} color-scheme: light dark;
  --serif: Charter, 'Bitstream Charter', 'Iowan Old Style', 'Palatino Linotype', Georgia, 'Noto Serif', serif;
  --sans: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
  --mono: ui-monospace, 'SF Mono', Menlo, Consolas, 'Liberation Mono', monospace }
@media screen and (prefers-color-scheme: dark) { :root {${night} } }

* { box-sizing: border-box }
html { background: var(--paper); color: var(--ink); font: 15px/1.5 var(--sans); -webkit-text-size-adjust: 100% }
body { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; overflow-wrap: anywhere }
h1, h2, h3, h4, p, dl, dd, ol, ul, figure, pre { margin: 0; padding: 0 }
h1, h2 { font-family: var(--serif); font-weight: 600; line-height: 1.15 }
h1 { font-size: clamp(2.2rem, 7vw, 3.4rem); margin: 2rem 0 .4rem; color: var(--tone, inherit) }
h2 { font-size: 1.5rem; margin: 3rem 0 1rem; padding-top: .9rem; border-top: 2px solid var(--ink) }
h3 { font-size: 1rem; font-weight: 400; line-height: 1.4 }
h4 { font-size: .8rem; font-weight: 600; color: var(--soft); margin: 1.4rem 0 .4rem }
ul { padding-left: 1.1rem } li { padding: .15rem 0; max-width: 48rem }
a { color: inherit }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--call); outline-offset: 2px }
span, b, i, dd, h3, code { unicode-bidi: isolate }
td, dd, svg text { font-variant-numeric: tabular-nums }
.pass { --tone: var(--pass) } .fail { --tone: var(--fail) } .warn { --tone: var(--warn) } .none { --tone: var(--ink) }
.kind { font-weight: 600; border-bottom: 1px solid var(--line); padding-bottom: .6rem }
.sentence { margin: .35rem 0 1rem; font-size: 1.05rem; max-width: 44rem }
.lead { color: var(--soft); margin-bottom: 1rem } .quiet, figcaption { color: var(--soft); font-size: .85rem }
dl > div { display: grid; grid-template-columns: 10rem minmax(0, 1fr); gap: .75rem; padding: .25rem 0 }
dl > div { border-top: 1px solid var(--line) } dt { color: var(--soft) } dt::first-letter { text-transform: uppercase }

table { border-collapse: collapse; font-size: .9rem; width: 100% }
th { font-weight: 400; color: var(--soft) }
th, td { text-align: left; vertical-align: top; padding: .25rem 1.4rem .25rem 0 }
td { border-top: 1px solid var(--line) } td > span { color: var(--tone) } td > .fail, td > .warn { font-weight: 600 }
.number { text-align: right; white-space: nowrap }
pre { font: .8rem/1.55 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; background: var(--wash) }
pre { border-radius: 3px; padding: .6rem .75rem; margin-top: .4rem; user-select: all; -webkit-user-select: all }
pre code { font: inherit }
.finding { border-left: 3px solid var(--tone); padding-left: 1.25rem; margin-top: 2rem }
.finding h3 { font-size: 1.1rem } .title { font-weight: 600 }
.finding b, summary b { color: var(--tone) }
details { border-top: 1px solid var(--line); padding: .4rem 0 } details:target { background: var(--wash) }
summary { cursor: pointer }

.chart { margin-top: 1.4rem } .chart figcaption { margin-bottom: .4rem } .chart b { color: var(--ink) }
.plot { display: block } .plot text { font: .75rem var(--sans); fill: var(--soft) } .plot .extreme { fill: var(--ink) }
.curve-line { fill: none; stroke: var(--call); stroke-width: 1.75; vector-effect: non-scaling-stroke }
.dashed { stroke-dasharray: 7 4 } .dotted { stroke-dasharray: 1.5 4 }
.rule, .axis-line { stroke: var(--line) } .mark-line { stroke: var(--soft); stroke-dasharray: 1 4 }
.key { white-space: nowrap } .key .plot { display: inline-block; vertical-align: middle }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(26rem, 100%), 1fr)); gap: 0 2.5rem }
footer { margin-top: 4rem; font-size: .85rem; color: var(--soft) } footer p { margin-top: .5rem; max-width: 48rem }
footer h2 { font-size: 1.1rem; color: var(--ink); margin-top: 0 }

@media (max-width: 44rem) {
  body { padding: 1.25rem 1rem 3rem }
  dl > div { grid-template-columns: minmax(0, 1fr); gap: 0 }
  table, tbody, tr { display: block } thead { display: none } tr { border-top: 1px solid var(--line); padding: .5rem 0 }
  td, td.number { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .1rem 0 }
  td, td.number { text-align: right; white-space: normal } td::before { content: attr(data-name); color: var(--soft) }
  td::before { text-align: left } .tick-odd { display: none }
}

@media print {
  @page { margin: 16mm 14mm }
  html { font-size: 9.5pt } body { max-width: none; padding: 0 }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact }
  details::details-content { content-visibility: visible; block-size: auto }
  h2, h3, header, summary { break-after: avoid } .finding, .chart, tr, summary { break-inside: avoid }
}
`
