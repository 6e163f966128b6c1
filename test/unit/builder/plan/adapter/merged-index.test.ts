import { mergeIndex } from '../../../../../builder/plan/adapter/merged-index.js';
import { readSettings } from '../../../../../builder/plan/adapter/settings.js';
import type { StoredTensor } from '../../../../../runtime/weights/index.js';

const SETTINGS = { peft_type: 'LORA', base_model_name_or_path: 'org/base', r: 2, lora_alpha: 4 };

const tensor = (file: string, shape: readonly number[], type = 'F32'): StoredTensor => ({
  ...{ file, offset: 0, length: 4 * shape.reduce((a, b) => a * b, 1), type, shape },
});
const tensorsOf = (file: string, shapes: Record<string, number[]>) =>
  new Map(Object.entries(shapes).map(([name, shape]) => [name, tensor(file, shape)]));

const BASE = { 'model.up.weight': [6, 4], 'model.norm.weight': [4], 'model.embed_tokens.weight': [10, 4] };

function merge(
  adapter: Record<string, number[]>,
  { config = {}, base = tensorsOf('base', BASE) }: { config?: object; base?: Map<string, StoredTensor> } = {},
) {
  const named = Object.entries(adapter).map(([name, shape]) => [`base_model.model.${name}`, shape]);
  return mergeIndex({
    id: 'org/adapter',
    settings: readSettings('org/adapter', SETTINGS),
    adapter: tensorsOf('adapter', Object.fromEntries(named) as Record<string, number[]>),
    index: base,
    config: { model_type: 'llama', vocab_size: 10, tie_word_embeddings: false, ...config },
  });
}

const UP = { 'model.up.lora_A.weight': [2, 4], 'model.up.lora_B.weight': [6, 2] };

test('products, tables and tensors of its own; names with and without that of the base model', () => {
  const table = {
    'model.embed_tokens.lora_embedding_A': [2, 10],
    'model.embed_tokens.lora_embedding_B': [4, 2],
  };
  const own = { 'model.norm.modules_to_save.weight': [4], 'score.weight': [3, 4] };
  const { index, changed, merged } = merge({ ...UP, ...table, ...own });
  expect(merged).toBe(2);
  expect([...changed.keys()].sort()).toEqual([
    ...['model.embed_tokens.weight', 'model.norm.weight', 'model.up.weight', 'score.weight'],
  ]);
  expect(index.get('model.up.weight')).toMatchObject({
    file: 'base',
    merge: { scale: 2, transposed: false },
  });
  expect(index.get('model.embed_tokens.weight')?.merge?.transposed).toBe(true);
  expect(index.get('model.norm.weight')).toMatchObject({ file: 'adapter' });
  const bare = merge({ 'up.lora_A.weight': [2, 4], 'up.lora_B.weight': [6, 2] });
  expect([...bare.changed.keys()]).toEqual(['model.up.weight']);
});

test.each<[string, Record<string, number[]>, object, RegExp]>([
  [
    'another base',
    { 'h.lora_A.weight': [2, 4], 'h.lora_B.weight': [6, 2] },
    {},
    /changes h.weight, which org\/base lacks/,
  ],
  [
    'half of a product',
    { 'model.up.lora_A.weight': [2, 4] },
    {},
    /matrices for model.up.weight \[6, 4\] that do not fit/,
  ],
  ['another size', { ...UP, 'model.up.lora_B.weight': [5, 2] }, {}, /that do not fit/],
  [
    'another rank than it says',
    { 'model.up.lora_A.weight': [3, 4], 'model.up.lora_B.weight': [6, 3] },
    {},
    /that do not fit/,
  ],
  [
    'DoRA',
    { ...UP, 'model.up.lora_magnitude_vector': [6] },
    {},
    /lora_magnitude_vector, which is not merged/,
  ],
  [
    'a larger vocabulary',
    { 'model.embed_tokens.weight': [12, 4] },
    {},
    /makes model.embed_tokens.weight \[12, 4\]/,
  ],
  [
    'tied tables',
    { 'model.embed_tokens.weight': [10, 4] },
    { tie_word_embeddings: true },
    /is tied to another/,
  ],
  [
    'tied by default',
    { 'model.embed_tokens.weight': [10, 4] },
    { tie_word_embeddings: undefined },
    /is tied/,
  ],
  ['nothing', {}, {}, /changes nothing/],
])('refused: %s', (_, adapter, config, reason) => {
  expect(() => merge(adapter, { config })).toThrow(reason);
});

test('refused: weights that are no floats, and tensors of others', () => {
  const base = new Map([['model.up.weight', tensor('base', [6, 4], 'U8')]]);
  expect(() => merge(UP, { base })).toThrow(/model.up.weight, which is stored as U8/);
  const named = tensorsOf('adapter', { 'up.hada_w1_a': [2, 2] });
  const settings = readSettings('org/adapter', SETTINGS);
  expect(() => mergeIndex({ id: 'org/adapter', settings, adapter: named, index: base, config: {} })).toThrow(
    /a tensor up.hada_w1_a, which is none of LoRA's/,
  );
});
