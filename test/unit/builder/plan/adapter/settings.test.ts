import { readSettings } from '../../../../../builder/plan/adapter/settings.js';
import { Refusal } from '../../../../../builder/plan/index.js';

const PLAIN = {
  peft_type: 'LORA',
  base_model_name_or_path: 'org/base',
  r: 8,
  lora_alpha: 16,
  bias: 'none',
  use_dora: false,
  layer_replication: null,
  loftq_config: {},
};

test('scales are alpha by rank, or by its root; patterns are whole names or ends of paths', () => {
  const { base, revision, rankOf, scaleOf } = readSettings('a/b', {
    ...PLAIN,
    revision: 'v1',
    rank_pattern: { q_proj: 4, '^h.0.k_proj': 2 },
    alpha_pattern: { 'h.1.q_proj': 2 },
  });
  expect([base, revision]).toEqual(['org/base', 'v1']);
  const modules = ['h.0.q_proj', 'h.1.q_proj', 'h.0.xq_proj', 'h.0.k_proj', 'x.h.0.k_proj'];
  expect(modules.map(rankOf)).toEqual([4, 4, 8, 2, 8]);
  expect(modules.map(scaleOf)).toEqual([4, 0.5, 2, 8, 2]);
  expect(readSettings('a/b', { ...PLAIN, r: 16, use_rslora: true }).scaleOf('x')).toBe(4);
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ['another kind', { peft_type: 'IA3' }, /of the kind "IA3" for org\/base, and only LORA is merged/],
  ['DoRA', { use_dora: true }, /with use_dora "true", which is not merged here; merge them with Python/],
  ['trained biases', { bias: 'lora_only' }, /with bias "lora_only"/],
  ['biases of its own', { lora_bias: true }, /with lora_bias/],
  ['copied layers', { layer_replication: [[0, 2]] }, /with layer_replication "\[\[0,2\]\]"/],
  ['tokens of its own', { trainable_token_indices: [1] }, /with trainable_token_indices/],
  ['what is not known', { use_something: 1 }, /with use_something "1"/],
  ['another start', { init_lora_weights: 'pissa_niter_4' }, /with init_lora_weights "pissa_niter_4"/],
  ['no base', { base_model_name_or_path: undefined }, /of a model that it does not name/],
  ['a folder as its base', { base_model_name_or_path: '/home/x' }, /of "\/home\/x", which is no id on a hub/],
  ['a rank that is none', { r: 0 }, /adapter_config.json is wrong: r: /],
  ['no scale', { lora_alpha: 'x' }, /adapter_config.json is wrong: lora_alpha: /],
  ['a pattern', { rank_pattern: { '(a+)+b': 3 } }, /with "\(a\+\)\+b" as a pattern/],
])('refused: %s', (_, settings, reason) => {
  const read = () => readSettings('org/adapter', { ...PLAIN, ...settings });
  expect(read).toThrow(Refusal);
  expect(read).toThrow(reason);
});
