import { withHeadOfFile } from '../../../runtime/hub-config/head-of-file.js';
import { normalizeConfig } from '../../../runtime/hub-config/normalize.js';

const V5 = { transformers_version: '5.24.0' };

describe('rotary settings', () => {
  const normalized = (rope_parameters: unknown, more: Record<string, unknown> = {}) =>
    normalizeConfig({ model_type: 'llama', rope_parameters, ...more });

  test('a base alone is rope_theta', () => {
    expect(normalized({ rope_theta: 5000, rope_type: 'default' })).toEqual({
      ...{ model_type: 'llama', rope_theta: 5000, rope_scaling: null },
    });
  });

  test('a base that is null stays so, unless the file has another', () => {
    expect(normalized({ rope_theta: null, rope_type: 'default' })).toMatchObject({ rope_theta: null });
    expect(normalized({ rope_theta: null }, { rope_theta: 7 })).toMatchObject({ rope_theta: 7 });
  });

  test('kinds of layers that turn no heads stay so, however often a file is read', () => {
    const rope = { full_attention: null, sliding_attention: { rope_theta: 7, rope_type: 'default' } };
    const once = normalized(rope);
    expect(once).toEqual({
      ...{ model_type: 'llama', rope_local_base_freq: 7, rope_parameters: { full_attention: null } },
    });
    expect(normalizeConfig(once)).toEqual(once);
  });

  test('what stretches them is rope_scaling, with a length that the file leaves out', () => {
    const rope = { rope_theta: 1000, rope_type: 'yarn', factor: 4 };
    expect(normalized(rope, { max_position_embeddings: 64 })).toMatchObject({
      rope_theta: 1000,
      rope_scaling: { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 64 },
    });
  });

  test('a length at the top level wins over one inside', () => {
    const rope = { rope_theta: 1, rope_type: 'longrope', original_max_position_embeddings: 8, factor: 2 };
    expect(normalized(rope, { original_max_position_embeddings: 16 })).toMatchObject({
      original_max_position_embeddings: 16,
      rope_scaling: {
        original_max_position_embeddings: 16,
        attention_factor: Math.sqrt(1 + Math.log(2) / Math.log(16)),
      },
    });
  });

  test('rope_scaling that is not null replaces them, other old keys fill in', () => {
    const rope_scaling = { type: 'linear', factor: 2 };
    const more = { rope_scaling, rope_theta: 7, partial_rotary_factor: 0.5 };
    expect(normalized({ rope_theta: 5000, rope_type: 'default' }, more)).toMatchObject({
      ...{ rope_theta: 7, partial_rotary_factor: 0.5 },
      rope_scaling: { rope_type: 'linear', factor: 2 },
    });
    expect(normalized({ rope_type: 'default' }, { rope_theta: 7 })).toMatchObject({ rope_theta: 7 });
  });

  test('the share of proportional ones is one of frequencies: heads turn whole', () => {
    const rope = { rope_type: 'proportional', partial_rotary_factor: 0.25, rope_theta: 3 };
    const found = normalized(rope);
    expect(found['rope_scaling']).toEqual({ rope_type: 'proportional', partial_rotary_factor: 0.25 });
    expect(found).not.toHaveProperty('partial_rotary_factor');
  });

  test('kinds of layers have a base each', () => {
    const rope = {
      full_attention: { rope_theta: 1e6, rope_type: 'linear', factor: 8 },
      sliding_attention: { rope_theta: 1e4, rope_type: 'default' },
    };
    expect(normalized(rope)).toMatchObject({
      ...{ rope_theta: 1e6, rope_local_base_freq: 1e4 },
      rope_scaling: { rope_type: 'linear', factor: 8 },
    });
  });

  test('what the older form has no words for keeps a name of its own', () => {
    const sliding_attention = { rope_theta: 1, rope_type: 'yarn', factor: 2, partial_rotary_factor: 0.5 };
    const found = normalized({ sliding_attention, full_attention: null, other: { rope_theta: 3 } });
    expect(found).toMatchObject({
      rope_local_scaling: { rope_type: 'yarn', factor: 2 },
      rope_local_partial_rotary_factor: 0.5,
      rope_parameters: { full_attention: null, other: { rope_theta: 3 } },
    });
  });

  test('files of version 4 stay as they are', () => {
    const config = { model_type: 'llama', rope_theta: 3, rope_scaling: { type: 'linear', factor: 2 } };
    expect(normalizeConfig(config)).toEqual(config);
  });
});

test('names and words of version 5 become those of version 4, in parts, too', () => {
  const text_config = { model_type: 'qwen3_moe', num_local_experts: 6 };
  const vision_config = { model_type: 'qwen2_vl_vision' };
  expect(normalizeConfig({ model_type: 'x', text_config, vision_config })).toEqual({
    ...{ model_type: 'x', text_config: { model_type: 'qwen3_moe', num_experts: 6 } },
    vision_config: { model_type: 'qwen2_vl' },
  });
  const layer_types = ['linear_attention', 'full_attention'];
  expect(normalizeConfig({ model_type: 'granitemoehybrid', layer_types })).toMatchObject({
    layer_types: ['mamba', 'attention'],
  });
});

test('numbers that JSON lacks are numbers', () => {
  const time_step_limit = [0, { __float__: 'Infinity' }];
  expect(normalizeConfig({ time_step_limit, x: { __float__: '-Infinity' }, y: { __float__: 'z' } })).toEqual({
    ...{ time_step_limit: [0, Infinity], x: -Infinity, y: { __float__: 'z' } },
  });
});

test('a network of timm is named as version 4 names it', () => {
  const backbone_config = {
    model_type: 'timm_backbone',
    backbone: 'resnet18',
    out_indices: [4],
    num_channels: 3,
  };
  expect(normalizeConfig({ model_type: 'detr', backbone_config })).toEqual({
    ...{ model_type: 'detr', use_timm_backbone: true, backbone: 'resnet18' },
    backbone_kwargs: { out_indices: [4], in_chans: 3 },
  });
  const dilated = { ...backbone_config, output_stride: 16 };
  expect(normalizeConfig({ model_type: 'detr', backbone_config: dilated })).toMatchObject({ dilation: true });
  const own = { model_type: 'resnet' };
  expect(normalizeConfig({ model_type: 'detr', backbone_config: own })).toMatchObject({
    use_timm_backbone: false,
  });
});

test('the head of T5 is scaled as the version that wrote the file does it', () => {
  const of = (config: Record<string, unknown>) => normalizeConfig(config)['scale_decoder_outputs'];
  expect(of({ model_type: 't5', tie_word_embeddings: false })).toBeUndefined();
  expect(of({ ...V5, model_type: 't5', tie_word_embeddings: true })).toBe(true);
  expect(of({ ...V5, model_type: 't5', tie_word_embeddings: false })).toBe(false);
  expect(of({ ...V5, model_type: 't5', tie_word_embeddings: true, scale_decoder_outputs: false })).toBe(
    false,
  );
  expect(of({ ...V5, model_type: 'mt5', tie_word_embeddings: true })).toBe(false);
});

test('a hostile file is no end of work, and its keys are its own', () => {
  let nested: Record<string, unknown> = { model_type: 'x' };
  for (let i = 0; i < 10_000; i++) nested = { text_config: nested };
  expect(() => normalizeConfig(nested)).not.toThrow();
  for (const type of ['__proto__', 'constructor', 7, null])
    expect(normalizeConfig({ model_type: type, rope_parameters: 'x' })).toEqual({
      model_type: type,
      rope_parameters: 'x',
    });
});

test.each([
  'transformers_version',
  'model_type',
  'max_position_embeddings',
  'original_max_position_embeddings',
])('%s may be an object that is no text and no number', (name) => {
  const hostile = { toString: 0, valueOf: 0 };
  const rope_parameters = { rope_type: 'longrope', factor: 2, type: hostile };
  const config = { model_type: 'detr', backbone_config: {}, rope_parameters, [name]: hostile };
  expect(() => withHeadOfFile(normalizeConfig(config), new Map())).not.toThrow();
  expect(() => normalizeConfig({ ...config, rope_parameters: { rope_type: hostile } })).not.toThrow();
  expect(() =>
    normalizeConfig({ ...config, rope_parameters: { rope_type: 'yarn', factor: null } }),
  ).not.toThrow();
});

describe('the head that a checkpoint holds', () => {
  const place = (offset: number) => ({ file: 'm.safetensors', offset });
  const names = new Map([
    ['model.embed_tokens.weight', place(0)],
    ['lm_head.weight', place(64)],
  ]);

  test('counts in files of version 5', () => {
    const config = { ...V5, tie_word_embeddings: true, text_config: {} };
    expect(withHeadOfFile(config, names)).toMatchObject({
      ...{ tie_word_embeddings: false, text_config: { tie_word_embeddings: false } },
    });
  });

  test('does not in those of version 4, where there is none, and where it lies in the table', () => {
    const config = { tie_word_embeddings: true };
    expect(withHeadOfFile(config, names)).toBe(config);
    const recent = { ...V5, ...config };
    expect(withHeadOfFile(recent, new Map([['model.embed_tokens.weight', place(0)]]))).toBe(recent);
    expect(withHeadOfFile(recent, new Map([...names, ['lm_head.weight', place(0)]]))).toBe(recent);
  });
});
