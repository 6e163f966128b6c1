import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const SDK = join(ROOT, 'node_modules/@grafana/grafana-foundation-sdk/dist');

interface Panel {
  type: string;
  fieldConfig: { defaults: { custom: object } };
  options: object;
  targets: object[];
}
interface Dashboard {
  panels: Panel[];
  templating: { list: object[] };
}
const dashboard = () =>
  JSON.parse(readFileSync(join(ROOT, 'docs/monitoring/dashboard.json'), 'utf8')) as Dashboard;

/** Each data source has a type of its own for them. */
const withoutQueries = (panel: Panel) => (panel.type === 'row' ? panel : { ...panel, targets: [] });

/**
 * Types that Grafana generates from its schema; there is no JSON schema in a registry. JSON has the values of enumerations
 * as text, so each becomes the union of its values. What the schema leaves open (options and fields of a panel, queries)
 * is checked by the types of the plugin.
 */
function faultsOf({ panels, ...rest }: Dashboard): string {
  const charts = panels.filter(({ type }) => type === 'timeseries');
  const lines = [
    `import type { Dashboard } from '${SDK}/dashboard';`,
    `import type { GraphFieldConfig } from '${SDK}/common';`,
    `import type { Options } from '${SDK}/timeseries';`,
    `import type { Dataquery } from '${SDK}/prometheus';`,
    'type Plain<T> = T extends string ? `${T}` : T extends (...given: never[]) => unknown ? never',
    '  : T extends readonly (infer I)[] ? Plain<I>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;',
    `export const dashboard: Plain<Dashboard> = ${JSON.stringify({ ...rest, panels: panels.map(withoutQueries) })};`,
    ...charts.flatMap(({ fieldConfig, options, targets }, i) => [
      `export const fields${i}: Plain<GraphFieldConfig> = ${JSON.stringify(fieldConfig.defaults.custom)};`,
      `export const options${i}: Plain<Options> = ${JSON.stringify(options)};`,
      `type Query${i} = Omit<Plain<Dataquery>, '_implementsDataqueryVariant'>;`,
      `export const targets${i}: Query${i}[] = ${JSON.stringify(targets)};`,
    ]),
  ];
  const file = join(mkdtempSync(join(tmpdir(), 'slipway-dashboard-')), 'dashboard.ts');
  writeFileSync(file, `${lines.join('\n')}\n`);
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, '--ignoreConfig', file], {
    encoding: 'utf8',
  });
  return status === 0 ? '' : stdout;
}

test('the dashboard is what Grafana’s schema allows', () => {
  expect(faultsOf(dashboard())).toBe('');
}, 60_000);

test.each([
  ['a field that there is not', (panel: Panel) => Object.assign(panel, { hight: 8 }), 'hight'],
  ['an option that there is not', (panel: Panel) => Object.assign(panel.options, { legends: {} }), 'legends'],
  [
    'a value that there is not',
    (panel: Panel) => Object.assign(panel.fieldConfig.defaults.custom, { showPoints: 'nevr' }),
    'nevr',
  ],
  [
    'a query without its name',
    (panel: Panel) => Object.assign(panel.targets[0]!, { refId: 1 }),
    "'number' is not assignable",
  ],
] as const)(
  '%s is noticed',
  (_, spoil, named) => {
    const spoilt = dashboard();
    spoil(spoilt.panels.find(({ type }) => type === 'timeseries')!);
    expect(faultsOf(spoilt)).toContain(named);
  },
  60_000,
);
