/**
 * examples/prometheus: the metrics by the real library; dashboard and alerts name no other.
 *
 * @vitest-environment-options {"process":"prometheus"}
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { collectMetrics } from 'bet-wallet/operations'
import * as client from 'prom-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { metrics, prometheusName } from '../../src/operations/metrics.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { ids, openWallet } from './telemetry-calls.js'

const folder = fileURLToPath(new URL('../../examples/prometheus/', import.meta.url))
const alerts = readFileSync(`${folder}alerts.yml`, 'utf8')
const dashboard = readFileSync(`${folder}dashboard.json`, 'utf8')

interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** The text format of Prometheus. */
function samplesOf(text: string): Sample[] {
  return text
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text])
      return { name, labels: Object.fromEntries(pairs), value: Number(value) }
    })
}

let samples: Sample[] = []
let described: string[][] = []
let close = async () => {}

beforeAll(async () => {
  const { pool, drop } = await freshDatabase()
  close = drop
  const { store, relay, callAll, statuses } = await openWallet(pool)
  const registry = new client.Registry()
  collectMetrics(client, { store, relay, registry })
  described = registry.getMetricsAsArray().map(({ name, help }) => [name, help])
  const before = samplesOf(await registry.metrics())
  const level = { name: 'bet_wallet_durability', labels: { level: 'alone' }, value: 1 }
  const outbox = { name: 'bet_wallet_outbox_enabled', labels: {}, value: 1 }
  expect(before.filter(({ value }) => value !== 0)).toEqual([level, outbox])
  expect(await callAll()).toEqual(statuses)
  await pool.query(
    'UPDATE bet_wallet.outbox SET due_at = NULL WHERE event_number = (SELECT min(event_number) FROM bet_wallet.outbox)',
  )
  await pool.query("UPDATE bet_wallet.outbox SET recorded_at = recorded_at - interval '1 hour'")
  // Without those of the outbox, if its query takes too long.
  do samples = samplesOf(await registry.metrics())
  while (sumOf('bet_wallet_outbox_events', {}) === 0)
})
afterAll(() => close())

function sumOf(name: string, labels: Record<string, string>): number {
  const found = samples.filter(
    sample =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )
  return found.reduce((sum, { value }) => sum + value, 0)
}

describe('the metrics', () => {
  test('are those of the list, each with its help and its labels', () => {
    expect(described.sort()).toEqual(metrics.map(metric => [prometheusName(metric), metric.help]).sort())
    for (const metric of metrics) {
      // Absent: no server lacks a transaction.
      if (metric.name === 'bet_wallet.missing_transaction') continue
      const own = samples.filter(
        ({ name }) => name.replace(/_(?:sum|count|bucket)$/, '') === prometheusName(metric),
      )
      expect(own.length, metric.name).toBeGreaterThan(0)
      for (const { labels } of own) {
        const names = Object.keys(labels).filter(name => name !== 'le')
        expect(names.sort(), metric.name).toEqual([...metric.labels].sort())
      }
    }
  })

  test.each<[string, Record<string, string>, number]>([
    ['bet_wallet_requests_total', { operation: 'placebet', reason: 'ACCEPTED' }, 3],
    ['bet_wallet_requests_total', { operation: 'placebet', reason: 'REPLAYED' }, 1],
    ['bet_wallet_requests_total', { operation: 'placebet', reason: 'INSUFFICIENT_FUNDS' }, 1],
    ['bet_wallet_requests_total', { operation: 'unsettlement', reason: 'INSUFFICIENT_FUNDS' }, 1],
    ['bet_wallet_requests_total', { operation: 'rollbackbet', reason: 'TOMBSTONE_CREATED' }, 1],
    ['bet_wallet_requests_total', { operation: 'placebet', reason: 'FAULT' }, 1],
    ['bet_wallet_faults_total', { operation: 'placebet', code: 'COMMIT_UNKNOWN' }, 1],
    ['bet_wallet_faults_total', {}, 1],
    ['bet_wallet_commits_total', { operation: 'placebet', status: 'unknown' }, 1],
    ['bet_wallet_request_duration_seconds_count', { operation: 'settlement' }, 1],
    ['bet_wallet_http_responses_total', { route: '/wallet/placebet', status: '200', code: 'OK' }, 4],
    ['bet_wallet_http_responses_total', { status: '500', code: 'INTERNAL_ERROR' }, 1],
    ['bet_wallet_http_responses_total', { route: 'none', status: '404' }, 1],
    ['bet_wallet_http_responses_total', {}, 14],
    ['bet_wallet_http_rejections_total', { rejection: 'AUTHENTICATION_FAILED' }, 1],
    ['bet_wallet_http_rejections_total', { rejection: 'INVALID_BODY' }, 1],
    ['bet_wallet_http_rejections_total', {}, 5],
    ['bet_wallet_lock_wait_seconds_count', { result: 'ended' }, 1],
    ['bet_wallet_lock_wait_seconds_count', { result: 'gave-up' }, 0],
    ['bet_wallet_queue_requests', { queue: 'commits', state: 'queued' }, 0],
    ['bet_wallet_shed_total', { queue: 'commits' }, 0],
    ['bet_wallet_durability', { level: 'alone' }, 1],
    ['bet_wallet_durability', {}, 1],
    ['bet_wallet_outbox_enabled', {}, 1],
    ['bet_wallet_outbox_events', { state: 'queued' }, 6],
    ['bet_wallet_outbox_events', { state: 'dead' }, 1],
  ])('%s %o', (name, labels, value) => {
    expect(samples.some(sample => sample.name === name)).toBe(true)
    expect(sumOf(name, labels)).toBe(value)
  })

  test('the outbox has the age of its oldest event, in seconds', () => {
    expect(sumOf('bet_wallet_outbox_oldest_seconds', {})).toBeGreaterThan(3_600)
    expect(sumOf('bet_wallet_outbox_oldest_seconds', {})).toBeLessThan(7_200)
  })

  test('batches have the kinds of the store', () => {
    const kinds = samples
      .filter(({ name, value }) => name === 'bet_wallet_batch_size_count' && value > 0)
      .map(({ labels }) => labels.kind)
    expect(kinds.sort()).toEqual(['commit', 'load', 'load-confirmed', 'lock-wait'])
  })

  test('no label has an id, or other text of a caller', () => {
    const values = samples.flatMap(({ labels }) => Object.values(labels))
    expect(values.length).toBeGreaterThan(200)
    for (const id of ids) expect(values.filter(value => value.includes(id))).toEqual([])
  })
})

/** The selectors of PromQL expressions: a metric with its labels, and the labels of `by (…)`. */
function usesOf(expressions: readonly string[]) {
  return expressions.flatMap(expression => {
    const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
      list.split(/, */),
    )
    return [...expression.matchAll(/\b(bet_wallet_\w+)(?:\{([^}]*)\})?/g)].map(
      ([, metric = '', selector = '']) => ({
        expression,
        metric,
        matchers: [...selector.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g)].map(
          ([, label = '', how = '', value = '']) => ({
            label,
            how,
            value,
          }),
        ),
        grouped,
      }),
    )
  })
}

const expressionsOf = {
  'alerts.yml': [...alerts.matchAll(/^ +expr: (.+)$/gm)].map(([, expression = '']) => expression),
  'dashboard.json': [...dashboard.matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(
    ([, text = '']) => JSON.parse(text) as string,
  ),
}

describe.each(Object.entries(expressionsOf))('%s', (file, expressions) => {
  const uses = usesOf(expressions)

  test('has an expression for each alert or panel', () => {
    const expected =
      file === 'alerts.yml'
        ? (alerts.match(/^ +- alert: /gm) ?? []).length
        : (JSON.parse(dashboard) as { panels: { targets: unknown[] }[] }).panels.flatMap(
            ({ targets }) => targets,
          ).length
    expect(expressions).toHaveLength(expected)
    expect(expressions.length).toBeGreaterThan(6)
    for (const expression of expressions) expect(expression).toMatch(/bet_wallet_/)
  })

  test('names only metrics and labels that the example exports', () => {
    for (const { metric, matchers, grouped } of uses) {
      const exported = samples.filter(({ name }) => name === metric)
      expect(exported.length, metric).toBeGreaterThan(0)
      const labels = new Set(exported.flatMap(sample => Object.keys(sample.labels)))
      for (const { label } of matchers) if (label !== 'instance') expect([...labels], metric).toContain(label)
      // `wallet` is a label of the targets.
      for (const label of grouped) expect([...labels, 'wallet'], metric).toContain(label)
    }
  })

  test('compares labels only with values that there are', () => {
    for (const { metric, matchers, expression } of uses) {
      for (const { label, how, value } of matchers) {
        if (label === 'instance') continue
        const values = samples.filter(({ name }) => name === metric).map(({ labels }) => labels[label])
        const known = [...values, 'UNAVAILABLE'] // no call of this test is answered 503
        for (const one of how === '=~' ? value.split('|') : [value]) expect(known, expression).toContain(one)
      }
    }
  })
})

const alertExpressions = [...alerts.matchAll(/^ +- alert: (\w+)\n +expr: (.+)$/gm)].map(
  ([, alert = '', expression = '']) => ({ alert, expression }),
)
const cases = readFileSync(new URL('alerts.test.yml', import.meta.url), 'utf8')

test.each(alertExpressions)('$alert fires in a case, and is silent in the healthy one', ({ alert }) => {
  const [healthy = '', ...others] = cases.split(/^ {2}- name: /m).slice(1)
  expect(healthy).toContain(`alertname: ${alert} }`)
  expect(others.join('')).toMatch(new RegExp(`\\{alertname="${alert}"[^}]*\\}', value: 1`))
})

/**
 * Without its part, the process of the wallet or the relay, an alert has no data: another one must fire. The healthy case,
 * without the metrics of that part.
 */
const missingParts = alertExpressions.flatMap(({ alert, expression }) => {
  const isOfRelay = (text: string) =>
    metrics.some(metric => metric.from === 'relay' && text.includes(prometheusName(metric)))
  const names = [...new Set(expression.match(/\bbet_wallet_\w+/g))]
  return [...new Set(names.map(isOfRelay))].map(ofRelay => {
    const series = (cases.split(/^ {2}- name: /m)[1] ?? '')
      .split('\n')
      .filter(line => line.includes('{ series: ') && isOfRelay(line) !== ofRelay)
    return { alert, part: ofRelay ? 'relay' : 'wallet', fires: ofRelay ? 'NoRelay' : 'NoMetrics', series }
  })
})

const noPromtool =
  spawnSync('promtool', ['--version']).error === undefined ? null : 'apt-get install prometheus'

/** Of promtool, if it fails. */
function outputOf(args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, encoding: 'utf8' })
  return status === 0 ? '' : stdout + stderr
}

describe.skipIf(noPromtool !== null)(
  `promtool${noPromtool === null ? '' : ` (skipped: not installed, ${noPromtool})`}`,
  () => {
    test.each([
      ['check', 'rules', '../../examples/prometheus/alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
    ])('%s %s %s', (...args) => {
      const cwd = fileURLToPath(new URL('.', import.meta.url))
      expect(outputOf(args, cwd)).toBe('')
    })

    test.each(missingParts)('$alert without the $part: BetWallet$fires fires', ({ fires, series }) => {
      const cwd = mkdtempSync(join(tmpdir(), 'alerts-'))
      const file = [
        `rule_files: [${join(folder, 'alerts.yml')}]`,
        'tests:',
        '  - interval: 1m',
        `    input_series: ${series.length === 0 ? '[]' : ''}`,
        ...series,
        '    promql_expr_test:',
        '      - expr: count by (alertname) (ALERTS{alertstate="firing"})',
        '        eval_time: 20m',
        `        exp_samples: [{ labels: '{alertname="BetWallet${fires}"}', value: 1 }]`,
      ]
      writeFileSync(join(cwd, 'missing.yml'), file.join('\n'))
      expect(outputOf(['test', 'rules', 'missing.yml'], cwd)).toBe('')
      rmSync(cwd, { recursive: true })
    })
  },
)
