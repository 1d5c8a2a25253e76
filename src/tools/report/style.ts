/** The style of the reports' pages: light and dark, on a phone, and on paper. */
import { html } from './markup.js'

/** Every pair of colours that carries text has a contrast of at least 4.5; a test computes it. */
const day = `
  --paper: #ffffff; --ink: #1b1e23; --soft: #59616c; --line: #d8dbe0; --wash: #f4f5f7;
  --pass: #17664f; --fail: #b0201a; --warn: #7d5200; --none: #59616c; --call: #2c5f8a;`
const night = `
  --paper: #14171b; --ink: #e4e7ea; --soft: #a3abb5; --line: #363c44; --wash: #1d2126;
  --pass: #6fc9ae; --fail: #ff8b7e; --warn: #e4b45e; --none: #a3abb5; --call: #7fb4de;`

export const palettes = { day, night }

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
ol, ul { list-style: none }
h1, h2, h3, .sentence, .lead, dd { text-wrap: pretty }
h1, h2 { font-family: var(--serif); font-weight: 600; line-height: 1.15 }
h2 { font-size: 1.5rem; margin: 3.5rem 0 1rem; padding-top: .9rem; border-top: 2px solid var(--ink) }
h3 { font-size: 1rem; font-weight: 600; line-height: 1.4 }
h4 { font-size: .8rem; font-weight: 600; color: var(--soft); margin: 1.4rem 0 .4rem }
a { color: inherit }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--call); outline-offset: 2px }
span, b, i, dd, h3, code { unicode-bidi: isolate }
time, td, .nr, .status, .balance, .ticks, .effort, svg text { font-variant-numeric: tabular-nums }
.on-paper { display: none }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.quiet, .legend, figcaption { color: var(--soft); font-size: .85rem }
.pass { --tone: var(--pass) } .fail { --tone: var(--fail) } .warn { --tone: var(--warn) } .none { --tone: var(--none) }

.kind { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between; border-bottom: 1px solid var(--line); padding-bottom: .6rem; font-weight: 600 }
.kind span { font-weight: 400; color: var(--soft) }
.verdict { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 1.25rem; align-items: center; margin: 2.2rem 0 }
.verdict svg { fill: none; stroke: var(--tone); stroke-width: 5; stroke-linecap: round; stroke-linejoin: round }
.warn .verdict circle { stroke-dasharray: 8 10 }
.verdict h1 { font-size: clamp(2.2rem, 7vw, 3.4rem); color: var(--tone); letter-spacing: -.01em }
.sentence { margin-top: .35rem; font-size: 1.05rem; max-width: 44rem }
.protocol { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 1.5rem 3rem; align-items: start; border-top: 1px solid var(--line); padding-top: 1.1rem }
.protocol dl > div, .finding > div { display: grid; grid-template-columns: 4.5rem minmax(0, 1fr); gap: .75rem; padding: .16rem 0 }
dt { color: var(--soft) }
table { border-collapse: collapse; font-size: .9rem }
caption { text-align: left; color: var(--soft); padding-bottom: .2rem }
th { font-weight: 400; color: var(--soft); text-align: right; padding: .2rem 0 .2rem 1.4rem }
tbody th { text-align: left; padding-left: 0; color: var(--ink) }
td { padding: .2rem 0 .2rem 1.4rem; text-align: right; border-top: 1px solid var(--line); font-weight: 600; color: var(--tone) }
tbody th { border-top: 1px solid var(--line) }
thead th:first-child { text-align: left; padding-left: 0 }
.wide { width: 100% } .wide td { white-space: nowrap }
td.zero { font-weight: 400; color: var(--soft) }
.scroll { overflow-x: auto }

.group { margin-top: 1rem } .group p { font-size: .85rem; color: var(--soft); margin-bottom: .4rem } .group p b { color: var(--ink) }
.group ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(4.6rem, 1fr)); gap: .3rem }
.tile { display: block; position: relative; font: 600 .75rem/1.9 var(--sans); text-align: center; text-decoration: none; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; border: 1.5px solid var(--line); border-radius: 3px; color: var(--tone); padding: 0 .3rem }
.tile.fail { background: var(--tone); border-color: var(--tone); color: var(--paper) }
.tile.warn { border-color: var(--tone); border-width: 2.5px; line-height: 1.75 }
.tile.none { border-style: dashed; border-color: var(--none) }
a.tile:hover { border-color: var(--ink) }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.3rem; margin-top: 1rem }
.legend > * { display: inline-flex; gap: .45rem; align-items: center }
i.tile { font-style: normal; width: 1.6rem }

.failed { border-left: 3px solid var(--tone); padding-left: 1.25rem; margin-top: 2.25rem }
.failed + .failed { margin-top: 3rem }
.failed header { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .1rem .75rem; align-items: center }
.failed h3 { grid-column: 1 / -1; font: 600 1.25rem/1.3 var(--serif); margin-top: .3rem }
.origin { font-size: .85rem; color: var(--soft) } .failed .origin b { color: var(--tone); font-size: 1rem }
.source { border-left: 1px solid var(--line); padding-left: .5rem; margin-left: .25rem }
.sign { display: inline-block; flex: none; width: 1.35rem; height: 1.35rem; border-radius: 50%; border: 1.5px solid var(--tone); color: var(--tone); text-align: center; font: 700 .75rem/1.15rem var(--sans) }
.sign.fail { background: var(--tone); color: var(--paper) } .sign.none { border-style: dashed }
.finding { margin-top: 1rem } .finding > div { grid-template-columns: 6.5rem minmax(0, 1fr); padding: .3rem 0; border-top: 1px solid var(--line) }
.finding > div:last-child { border-bottom: 1px solid var(--line) }
.actual dd { font-weight: 600 }
.impact { margin-top: .6rem; font-size: 1.05rem; max-width: 44rem }
.followers li { padding: .1rem 0 } .followers a { font-weight: 600; font-size: .85rem; margin-right: .3rem } .followers .quiet { margin-left: .2rem }
.not-seen li { padding: .15rem 0 .15rem 1.1rem; text-indent: -1.1rem; max-width: 48rem } .not-seen li::before { content: '–'; display: inline-block; width: 1.1rem; text-indent: 0; color: var(--soft) }
pre { font: .8rem/1.55 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; background: var(--wash); border-radius: 3px; padding: .6rem .75rem; user-select: all; -webkit-user-select: all }
pre code { font: inherit } pre + pre { margin-top: .35rem }
.curl { border-left: 3px solid var(--call) }

.case { scroll-margin-top: 1rem }
summary { cursor: pointer; list-style: none } summary::-webkit-details-marker { display: none }
details.case { border-top: 1px solid var(--line) } details.case:last-of-type { border-bottom: 1px solid var(--line) }
details.case > summary { display: grid; grid-template-columns: auto 4rem minmax(0, 1fr) auto auto; gap: .75rem; align-items: baseline; padding: .5rem 0 }
details.case > summary::after, .call > summary::after { content: '+'; color: var(--soft); width: .8rem; text-align: center }
details[open].case > summary::after, .call[open] > summary::after { content: '–' }
details.case h3 { font-weight: 400 } details.case[open] h3 { font-weight: 600 }
.id { font-weight: 600; font-size: .85rem } .effort { color: var(--soft); font-size: .8rem; white-space: nowrap }
.reason { display: block; color: var(--soft); font-size: .85rem; font-weight: 400 }
.case-body { padding: 0 0 1.5rem 2.1rem }
.case:target { background: var(--wash); box-shadow: 0 0 0 .5rem var(--wash) }
.case:target pre { background: var(--paper) }
.lead { color: var(--soft); margin-bottom: 1rem }

.timeline { font-size: .85rem; margin-top: .5rem }
.axis, .call > summary { display: grid; grid-template-columns: 1.6rem minmax(8rem, 15rem) minmax(6rem, 1fr) 3.2rem minmax(5rem, 7rem) .8rem; gap: 0 .75rem; align-items: center }
.axis { color: var(--soft); font-size: .75rem; padding-bottom: .2rem }
.axis-name { grid-column: 1 / 3 } .ticks { display: flex; justify-content: space-between }
.axis::after { content: ''; width: .8rem }
.timeline li { border-top: 1px solid var(--line) }
.call > summary { padding: .18rem 0 }
.nr { color: var(--soft); text-align: right } .balance, .head-balance { text-align: right }
.label i { color: var(--soft) }
.bar, .ticks { background: linear-gradient(to right, var(--line) 1px, transparent 1px) 0 0 / 50% 100%; border-right: 1px solid var(--line) }
.ticks { background: none; border: 0 }
.bar rect { fill: var(--call) }
.refusal .bar rect, .bar.refusal rect { fill: var(--paper); stroke: var(--call); stroke-width: 1.5 }
.fault .bar rect, .bar.fault rect { fill: var(--fail); stroke: var(--fail); stroke-width: 2 }
.bar line { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 3 4 } .bar circle { fill: var(--soft) }
.bar path { fill: none; stroke: var(--ink); stroke-width: 2.2; stroke-linecap: round }
.legend .bar { background: none; border: 0; overflow: visible }
.success .status { color: var(--call) } .fault .status { color: var(--fail) } .unanswered .status { color: var(--soft); font-weight: 400 }
.decisive { background: var(--wash); box-shadow: -.5rem 0 0 var(--wash), .5rem 0 0 var(--wash) }
.decisive > summary .label { font-weight: 600 } .decisive > summary .label::before { content: '▸ '; color: var(--fail) }
.decisive pre { background: var(--paper) }
.bodies { display: grid; grid-template-columns: 8rem minmax(0, 1fr); gap: .4rem .75rem; padding: .3rem 0 .9rem 2.35rem } .bodies dt { font-size: .75rem; padding-top: .6rem }
.bodies .quiet { margin-top: .2rem }
.case-curve { display: grid; grid-template-columns: 1.6rem minmax(8rem, 15rem) minmax(6rem, 1fr) 3.2rem minmax(5rem, 7rem) .8rem; gap: 0 .75rem; align-items: center; border-top: 1px solid var(--line); padding: .5rem 0; break-inside: avoid }
.case-curve figcaption { grid-column: 2; font-size: .75rem; line-height: 1.4 } .case-curve b { color: var(--ink) }

.plot { display: block; overflow: visible }
.curve-line { fill: none; stroke: var(--ink); stroke-width: 1.6; stroke-linejoin: round; vector-effect: non-scaling-stroke }
.case-curve .curve-line { stroke: var(--call) }
.band { fill: var(--wash) } .band-failed { fill: url(#hatch) } .pause { fill: none; stroke: var(--soft); stroke-width: 1.5 } .hatch-line { fill: var(--fail); fill-opacity: .45 }
.mark-line { stroke: var(--soft); stroke-dasharray: 1 4 } .rule, .axis-line { stroke: var(--line) } .plot text { font: .75rem var(--sans); fill: var(--soft) }
.plot .band-name { fill: var(--fail); font-weight: 600 } .plot .extreme { fill: var(--ink) }
.plot .mark { paint-order: stroke; stroke: var(--paper); stroke-width: 4px }
.audit-curve figcaption { margin-top: .6rem }
.chart { margin-top: 1.4rem } .chart figcaption { margin-bottom: .4rem } .chart b { color: var(--ink) } .key { white-space: nowrap } .key .plot { display: inline-block; vertical-align: middle }
h1.subject { font-size: clamp(1.9rem, 6vw, 2.8rem); margin: 2rem 0 1.4rem }
.answers { margin-top: 1.2rem } .answers dl > div, .counts dl > div { display: grid; grid-template-columns: 10rem minmax(0, 1fr); gap: .75rem; padding: .4rem 0; border-top: 1px solid var(--line) } .counts dt::first-letter { text-transform: uppercase }
.story li { display: grid; grid-template-columns: 9rem minmax(0, 1fr) minmax(9rem, auto); gap: .1rem 1rem; padding: .6rem 0; border-top: 1px solid var(--line) } .story .when { color: var(--soft); font-size: .85rem } .when b { display: block; color: var(--ink) }
.story li.warn { box-shadow: -.75rem 0 var(--paper), calc(-.75rem - 3px) 0 var(--tone) } .story .change { text-align: right; max-width: 18rem } .change > * { display: block } .change span { font-size: .85rem } .terms { color: var(--soft); font-size: .75rem } .interface li { color: var(--soft); font-size: .85rem }
.dashed { stroke-dasharray: 7 4 } .dotted { stroke-dasharray: 1.5 4 }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(26rem, 100%), 1fr)); gap: 0 2.5rem }

footer { margin-top: 4rem; font-size: .85rem; color: var(--soft) } footer h2 { font-size: 1.1rem; color: var(--ink); margin-top: 0 } footer p { margin-top: .5rem; max-width: 48rem } footer .legend { margin-top: .5rem }

@media (max-width: 44rem) {
  body { padding: 1.25rem 1rem 3rem }
  .verdict { gap: .9rem; margin: 1.4rem 0 } .verdict svg { width: 48px; height: 48px }
  .protocol { grid-template-columns: minmax(0, 1fr) } table { width: 100% }
  .wide, .wide caption, .wide tbody, .wide tr, .wide tbody th { display: block } .wide thead { display: none }
  .wide tr { border-top: 1px solid var(--line); padding: .5rem 0 } .wide tbody th { border: 0; padding: 0; font-weight: 600 }
  .wide td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .1rem 0; white-space: normal }
  .wide td::before { content: attr(data-name); font-weight: 400; color: var(--soft) }
  .failed { padding-left: .8rem } details .failed { padding-left: .8rem }
  .finding > div, .answers dl > div, .counts dl > div { grid-template-columns: minmax(0, 1fr); gap: 0 }
  .story li { grid-template-columns: minmax(0, 1fr) } .story .change { text-align: left; max-width: none }
  details.case > summary { grid-template-columns: auto minmax(0, 1fr) auto auto; gap: .1rem .6rem } details.case h3 { grid-column: 1 / -1; grid-row: 2 }
  .case-body, .bodies { padding-left: 0 } .bodies { grid-template-columns: minmax(0, 1fr); gap: .1rem }
  .axis, .call > summary, .case-curve { grid-template-columns: 1.3rem minmax(0, 1fr) 2.9rem fit-content(7rem) .8rem; gap: 0 .5rem }
  .call > summary .bar { grid-area: 2 / 1 / 3 / -1; margin-top: .1rem }
  .axis-name { grid-column: 1 / 3 } .axis .ticks { grid-area: 2 / 1 / 3 / -1 }
  .call > summary { padding: .35rem 0 }
  .case-curve figcaption, .case-curve svg { grid-column: 1 / -1 }
  .tick-odd { display: none }
}

@media print {
  @page { margin: 16mm 14mm }
  html { font-size: 9.5pt } body { max-width: none; padding: 0 }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact }
  details::details-content { content-visibility: visible; block-size: auto }
  .passed .bodies, .skipped .bodies, .reproduce { display: none }
  .later, .failed .later-body .bodies { display: none } .on-paper { display: block; color: var(--soft); padding: .2rem 0 }
  .bodies { font-size: 7.5pt; gap: .15rem .75rem; padding: 0 0 .5rem 2.35rem } .bodies pre { font-size: 6.8pt; padding: .15rem .5rem } .bodies dt { padding-top: .1rem } .bodies .quiet { display: none }
  summary::after { display: none }
  h2, h3, h4, header, .axis, summary { break-after: avoid }
  h2 { margin-top: 2rem }
  .finding, .failed > pre, .audit-curve, .chart, .story li, .group, tr, summary, details.case { break-inside: avoid }
  .case:target { background: none; box-shadow: none }
  .case-body { padding-bottom: .8rem }
  a { text-decoration: none } footer { margin-top: 2rem; break-inside: avoid }
}
`
