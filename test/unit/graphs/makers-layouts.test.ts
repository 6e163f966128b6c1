import { normalizeConfig } from '../../../runtime/hub-config/normalize.js';
import { familyOf } from '../../../runtime/models/registry.js';

const parsed = (config: Record<string, unknown>) =>
  familyOf(config['model_type'] as string)!.config.safeParse(normalizeConfig(config));

const NOMIC = {
  ...{ model_type: 'nomic_bert', n_embd: 96, n_head: 6, n_inner: 128, n_layer: 3, n_positions: 512 },
  ...{
    activation_function: 'swiglu',
    layer_norm_epsilon: 1e-3,
    rotary_emb_base: 500,
    rotary_emb_fraction: 1,
  },
  ...{ rotary_scaling_factor: null, prenorm: false, causal: false, qkv_proj_bias: false },
};

test('the makers of nomic-bert have names of their own for its sizes', () => {
  expect(parsed(NOMIC).data).toMatchObject({
    ...{ hidden_size: 96, num_attention_heads: 6, intermediate_size: 128, num_hidden_layers: 3 },
    ...{ max_position_embeddings: 512, layer_norm_eps: 1e-3, rope_theta: 500 },
  });
});

test.each([
  ['rotary_emb_fraction', 0.5],
  ['rotary_scaling_factor', 2],
  ['rotary_emb_interleaved', true],
  ['prenorm', true],
  ['causal', true],
  ['qkv_proj_bias', true],
  ['mlp_fc1_bias', true],
  ['activation_function', 'gelu'],
  ['moe_every_n_layers', 2],
])('other networks that the code of nomic-bert’s makers knows are refused: %s', (name, value) => {
  expect(parsed({ ...NOMIC, [name]: value }).error?.issues[0]?.path).toEqual([name]);
});

const GTE = { model_type: 'new', pack_qkv: true, position_embedding_type: 'rope', vocab_size: 96 };

test.each([
  ['pack_qkv', false],
  ['position_embedding_type', 'absolute'],
  ['layer_norm_type', 'rms_norm'],
  ['logn_attention_scale', true],
])('other networks that the code of GTE’s makers knows are refused: %s', (name, value) => {
  expect(parsed(GTE).success).toBe(true);
  expect(parsed({ ...GTE, [name]: value }).error?.issues[0]?.path).toEqual([name]);
});
