import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { createGatewayMetrics } from '../../../gateway/records/metrics.js';
import { idleMetrics } from '../../fakes/app.js';
import { metricsOf } from './metrics-of.js';

const ROOT = join(import.meta.dirname, '../../..');
const ALERTS = join(ROOT, 'docs/monitoring/alerts.yaml');

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string }[];
}
const { panels } = JSON.parse(readFileSync(join(ROOT, 'docs/monitoring/dashboard.json'), 'utf8')) as {
  panels: Panel[];
};
const { groups } = parse(readFileSync(ALERTS, 'utf8')) as {
  groups: { rules: { alert: string; expr: string }[] }[];
};

const expressions = [
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const)),
];

let known: ReadonlySet<string>;
beforeAll(async () => {
  const gateway = createGatewayMetrics({
    ...{ running: () => [], waiting: () => 0, activeCalls: () => 0, pendingBytes: () => 0 },
    pendingRequests: () => 0,
  });
  known = new Set([...metricsOf(await gateway.text()), ...metricsOf(await idleMetrics().text())]);
});

test.each(expressions)('%s asks for metrics that there are: %s', (_, expr) => {
  const named = expr.match(/slipway_\w+/g) ?? [];
  expect(named.length).toBeGreaterThan(0);
  for (const name of named) expect([name, known.has(name)]).toEqual([name, true]);
});

test('no two panels of the dashboard share an id or a place', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: h }, (_, i) => `${x} ${y + i} ${w}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

/** scripts/promtool.sh fetches it where it may; in CI it has to be there. */
const PATH = [process.env.PATH, join(ROOT, '.cache/promtool/usr/bin')].join(delimiter);
const promtool = (...args: string[]) =>
  spawnSync('promtool', args, { encoding: 'utf8', env: { ...process.env, PATH } });
const isThere = promtool('--version').status === 0 || process.env['REQUIRE_PROMTOOL'] === '1';

(isThere ? describe : describe.skip)('alert rules, by promtool (skipped where there is none)', () => {
  test('are well-formed, and fire where they should', () => {
    for (const args of [
      ['check', 'rules', ALERTS],
      ['test', 'rules', join(import.meta.dirname, 'alerts.test.yaml')],
    ])
      expect(promtool(...args)).toMatchObject({ status: 0 });
  });

  test('each rule has a test', () => {
    const tests = readFileSync(join(import.meta.dirname, 'alerts.test.yaml'), 'utf8');
    for (const { rules } of groups)
      for (const { alert } of rules) expect(tests).toContain(`alertname: ${alert}\n`);
  });
});
