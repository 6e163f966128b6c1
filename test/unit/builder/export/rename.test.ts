import { cacheName, exportedDecoder, renameCache } from '../../../../runtime/onnx/exporter-names.js';
import { readGraphBytes } from '../../../../runtime/onnx/graph.js';
import { exportedGraph } from './exported-graph.js';

test.each([
  ['input.cache.layers.11.keys', 'input', 'past_key_values.11.key'],
  ['output.cache.layers.0.values', 'output', 'present.0.value'],
  ['cache.layers.2.values', 'input', 'past_key_values.2.value'],
  ['cache.self_attention_cache.layers.1.keys', 'output', 'present.1.decoder.key'],
  ['input.cache.cross_attention_cache.layers.0.values', 'input', 'past_key_values.0.encoder.value'],
  ['input.cache.layers.2.conv_states.0', 'input', 'past_conv0.2'],
  ['output.cache.layers.0.recurrent_states.1', 'output', 'present_recurrent1.0'],
  ['input.cache.layers.3.indexer_keys', 'input', 'past_index.3'],
  ['output.cache.layers.3.indexer_keys', 'output', 'present_index.3'],
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

test('inputs have the names that a recipe gives them', () => {
  const { model } = exportedGraph({
    weights: {},
    nodes: [{ op: 'Identity', inputs: ['decoder_input_ids'], outputs: ['logits'] }],
    inputs: { decoder_input_ids: [7, ['rows']] },
    outputs: { logits: [7, ['rows']] },
  });
  const { nodes, inputs } = renameCache(readGraphBytes(model), { decoder_input_ids: 'input_ids' });
  expect(inputs.map(({ name }) => name)).toEqual(['input_ids']);
  expect(nodes.map(({ inputs: [read] }) => read)).toEqual(['input_ids']);
});

const number = (name: string): [string, [number, string[]]] => [name, [7, []]];

test('numbers of a cache that a graph hands through are left out', () => {
  const [past, present] = ['input.cache.layers.0._window', 'output.cache.layers.0._window'];
  const { model } = exportedGraph({
    weights: {},
    nodes: [
      { op: 'Identity', inputs: [past], outputs: [present] },
      { op: 'Identity', inputs: ['input_ids'], outputs: ['logits'] },
    ],
    inputs: Object.fromEntries([number(past), number('input_ids')]),
    outputs: Object.fromEntries([number('logits'), number(present)]),
  });
  const { nodes, inputs, outputs } = exportedDecoder(readGraphBytes(model));
  expect(nodes).toHaveLength(1);
  expect([...inputs, ...outputs].map(({ name }) => name)).toEqual(['input_ids', 'logits']);
});

test('a number that the graph computes with stays, to be refused as an input that no text gives', () => {
  const past = 'input.cache.layers.0._window';
  const { model } = exportedGraph({
    weights: {},
    nodes: [{ op: 'Add', inputs: [past, 'input_ids'], outputs: ['logits'] }],
    inputs: Object.fromEntries([number(past), number('input_ids')]),
    outputs: Object.fromEntries([number('logits')]),
  });
  const graph = readGraphBytes(model);
  expect(exportedDecoder(graph)).toBe(graph);
});
