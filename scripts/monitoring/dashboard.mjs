/** The dashboard for Grafana: a row for the gateway, a row for the models' own servers. Written to docs/monitoring/dashboard.json. */

const RATE = '$__rate_interval';
const SOURCE = { type: 'prometheus', uid: '${source}' };

const rate = (metric, by) => `sum by (${by}) (rate(${metric}[${RATE}]))`;
const quantile = (share, metric, by) =>
  `histogram_quantile(${share}, sum by (le, ${by}) (rate(${metric}_bucket[${RATE}])))`;
const failed = (metric, by) =>
  `sum by (${by}) (rate(${metric}{status=~"5.."}[${RATE}])) / sum by (${by}) (rate(${metric}[${RATE}]))`;

/** Title, unit, and queries with their legends. */
const GATEWAY = [
  ['Calls by model', 'reqps', [[rate('slipway_gateway_requests_total', 'model'), '{{model}}']]],
  [
    'Share of failed calls',
    'percentunit',
    [[failed('slipway_gateway_requests_total', 'model'), '{{model}}']],
  ],
  ['Errors by code', 'reqps', [[rate('slipway_gateway_errors_total', 'code'), '{{code}}']]],
  [
    'Time of calls',
    's',
    [
      [quantile(0.5, 'slipway_gateway_call_seconds', 'model'), '{{model}} median'],
      [quantile(0.95, 'slipway_gateway_call_seconds', 'model'), '{{model}} 95 %'],
    ],
  ],
  ['Wait for a server, 95 %', 's', [[quantile(0.95, 'slipway_gateway_wait_seconds', 'model'), '{{model}}']]],
  [
    'Cold starts',
    'short',
    [['sum by (model) (increase(slipway_gateway_cold_starts_total[1h]))', '{{model}}']],
  ],
  [
    'Servers by state',
    'short',
    [['sum by (model, state) (slipway_gateway_instances)', '{{model}} {{state}}']],
  ],
  ['Memory of models', 'bytes', [['sum by (model) (slipway_gateway_model_memory_bytes)', '{{model}}']]],
  [
    'Callers',
    'short',
    [
      ['sum(slipway_gateway_calls)', 'served'],
      ['sum(slipway_gateway_waiting)', 'waiting'],
    ],
  ],
  ['Seconds of models by key', 's', [[rate('slipway_gateway_key_seconds_total', 'key'), '{{key}}']]],
  [
    'Dollars a second by key',
    'currencyUSD',
    [[rate('slipway_gateway_key_cost_dollars_total', 'key'), '{{key}}']],
  ],
  [
    'Tokens by direction',
    'short',
    [[rate('slipway_gateway_key_tokens_total', 'direction'), '{{direction}}']],
  ],
];

const MODELS = [
  ['Ready', 'short', [['slipway_ready', '{{instance}}']]],
  ['Requests by status', 'reqps', [[rate('slipway_requests_total', 'status'), '{{status}}']]],
  [
    'Time of runs',
    's',
    [
      [quantile(0.5, 'slipway_run_duration_seconds', 'instance'), '{{instance}} median'],
      [quantile(0.95, 'slipway_run_duration_seconds', 'instance'), '{{instance}} 95 %'],
    ],
  ],
  [
    'First piece of a text, 95 %',
    's',
    [[quantile(0.95, 'slipway_first_piece_seconds', 'instance'), '{{instance}}']],
  ],
  ['Wait in the queue, 95 %', 's', [[quantile(0.95, 'slipway_queue_seconds', 'instance'), '{{instance}}']]],
  ['Tokens', 'short', [[rate('slipway_tokens_total', 'instance, direction'), '{{instance}} {{direction}}']]],
  [
    'Rows in a run of the graph',
    'short',
    [
      [
        `${rate('slipway_batch_rows_sum', 'task, instance')} / ${rate('slipway_batch_rows_count', 'task, instance')}`,
        '{{task}} {{instance}} mean',
      ],
      [quantile(0.95, 'slipway_batch_rows', 'task, instance'), '{{task}} {{instance}} 95 %'],
    ],
  ],
  [
    'Tokens written in a run of the graph',
    'short',
    [
      [
        `${rate('slipway_tokens_total{direction="out"}', 'instance')} / ${rate('slipway_graph_runs_total', 'instance')}`,
        '{{instance}}',
      ],
    ],
  ],
  [
    'Requests under way',
    'short',
    [
      ['slipway_running', '{{instance}} running'],
      ['slipway_queued', '{{instance}} queued'],
    ],
  ],
  ['Parts of the last start', 's', [['slipway_start_seconds', '{{instance}} {{phase}}']]],
  [
    'Restarts and answers that are not numbers',
    'short',
    [
      ['slipway_engine_restarts', '{{instance}} restarts'],
      ['slipway_not_finite_total', '{{instance}} not finite'],
    ],
  ],
];

const [WIDTH, HEIGHT, ACROSS] = [12, 8, 2];

/** Panels of one row, two beside each other. */
function rowOf(title, panels, { id, y }) {
  return [
    { id, type: 'row', title, collapsed: false, panels: [], gridPos: { h: 1, w: 24, x: 0, y } },
    ...panels.map(([name, unit, targets], i) => ({
      ...{ id: id + i + 1, type: 'timeseries', title: name, datasource: SOURCE },
      gridPos: { h: HEIGHT, w: WIDTH, x: (i % ACROSS) * WIDTH, y: y + 1 + Math.floor(i / ACROSS) * HEIGHT },
      fieldConfig: {
        defaults: { unit, min: 0, custom: { fillOpacity: 8, showPoints: 'never' } },
        overrides: [],
      },
      options: {
        legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
      targets: targets.map(([expr, legendFormat], n) => ({
        ...{ refId: String.fromCodePoint(65 + n), datasource: SOURCE, expr, legendFormat },
      })),
    })),
  ];
}

export function dashboard() {
  const below = 1 + Math.ceil(GATEWAY.length / ACROSS) * HEIGHT;
  return {
    ...{ uid: 'slipway', title: 'Slipway', tags: ['slipway'], editable: true, schemaVersion: 39, version: 1 },
    annotations: { list: [] },
    time: { from: 'now-3h', to: 'now' },
    refresh: '30s',
    templating: {
      list: [{ name: 'source', label: 'Data source', type: 'datasource', query: 'prometheus' }],
    },
    panels: [
      ...rowOf('Gateway', GATEWAY, { id: 1, y: 0 }),
      ...rowOf('Models', MODELS, { id: 100, y: below }),
    ],
  };
}
