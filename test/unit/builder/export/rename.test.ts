import { renameCache } from '../../../../builder/export/finish/rename.js';
import { cacheName } from '../../../../runtime/onnx/exporter-names.js';
import { readGraphBytes } from '../../../../runtime/onnx/graph.js';
import { exportedGraph } from './exported-graph.js';

test.each([
  ['input.cache.layers.11.keys', 'input', 'past_key_values.11.key'],
  ['output.cache.layers.0.values', 'output', 'present.0.value'],
  ['cache.layers.2.values', 'input', 'past_key_values.2.value'],
  ['cache.layers.2.conv_states.0', 'input', 'cache.layers.2.conv_states.0'],
  ['input_ids', 'input', 'input_ids'],
  ['logits', 'output', 'logits'],
] as const)('%s as an %s is %s', (name, side, wanted) => expect(cacheName(name, side)).toBe(wanted));

test('ports of a cache and all that reads and gives them have the new names', () => {
  const float = 1;
  const { model } = exportedGraph({
    weights: {},
    nodes: [
      { op: 'Concat', inputs: ['input.cache.layers.0.keys', 'new'], outputs: ['output.cache.layers.0.keys'] },
      { op: 'Identity', inputs: ['output.cache.layers.0.keys'], outputs: ['logits'] },
    ],
    inputs: { 'input.cache.layers.0.keys': [float, ['rows']], new: [float, ['rows']] },
    outputs: { logits: [float, ['rows']], 'output.cache.layers.0.keys': [float, ['rows']] },
  });
  const { nodes, inputs, outputs } = renameCache(readGraphBytes(model));
  expect(nodes.map(({ inputs, outputs }) => [...inputs, '->', ...outputs].join(' '))).toEqual([
    'past_key_values.0.key new -> present.0.key',
    'present.0.key -> logits',
  ]);
  expect([...inputs, ...outputs].map(({ name }) => name)).toEqual([
    ...['past_key_values.0.key', 'new', 'logits', 'present.0.key'],
  ]);
});
