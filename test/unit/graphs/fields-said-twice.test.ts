import { familyOf } from '../../../runtime/models/registry.js';
import { writeGraphs } from '../../../runtime/models/write-graphs.js';
import { readNetwork } from './network.js';

/** Transformers 5 saves both where the table is no one else's, and adds the second one. */
test.each([
  ['bert-relative-key', 'cls.predictions.bias', 'cls.predictions.decoder.bias'],
  ['albert-mask', 'predictions.bias', 'predictions.decoder.bias'],
  ['longformer-mask', 'lm_head.bias', 'lm_head.decoder.bias'],
  ['mobilebert-mask', 'cls.predictions.bias', 'cls.predictions.decoder.bias'],
  ['deberta-v2-conv-mask', 'cls.predictions.bias', 'cls.predictions.decoder.bias'],
])('%s: of two biases of its scores, %s and %s, the second is read', async (name, bias, own) => {
  const { config, index, head } = await readNetwork(name);
  const stored = index.get(bias) ?? index.get(own)!;
  const both = new Map(index).set(bias, stored).set(own, stored);
  expect([...writeGraphs({ config, index: both, head }).used]).toContain(own);
  const one = new Map(both);
  one.delete(own);
  expect([...writeGraphs({ config, index: one, head }).used]).toContain(bias);
});

test('GPT-Neo’s layers go by attention_layers, where the file says both', async () => {
  const { config, index, head } = await readNetwork('gpt-neo');
  const graph = (attention_layers?: string[]) =>
    writeGraphs({ config: { ...config, attention_layers }, index, head }).graphs;
  expect(graph(['global', 'local'])).toEqual(graph());
  expect(graph(['local', 'global'])).not.toEqual(graph());
  expect(() => graph(['local'])).toThrow('1 for 2 layers');
});

test('T5’s layers go by dense_act_fn and is_gated_act, where a file says them', async () => {
  const { config: given, index, head } = await readNetwork('t5');
  const { dense_act_fn: _, is_gated_act: __, ...config } = given;
  const graph = (changes: object) => writeGraphs({ config: { ...config, ...changes }, index, head }).graphs;
  expect(graph({ dense_act_fn: 'relu', is_gated_act: false, feed_forward_proj: 'gelu' })).toEqual(
    graph({ feed_forward_proj: 'relu' }),
  );
  expect(() => graph({ feed_forward_proj: 'relu', is_gated_act: true })).toThrow('lack');
});

test.each([
  [12, 6, true],
  [12, 5, false],
  [null, -1, true],
  [12, null, true],
])('ModernBERT as a decoder: a window of %p beside its half, %p: known is %p', (both, half, isKnown) => {
  const config = { local_attention: both, sliding_window: half };
  expect(familyOf('modernbert-decoder')!.config.safeParse(config).success).toBe(isKnown);
});
