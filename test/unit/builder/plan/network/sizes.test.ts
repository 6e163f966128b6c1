import { sizesOf } from '../../../../../builder/plan/network/sizes.js';

test('a configuration of texts inside of another may leave out what its Python class knows', () => {
  const llava = { model_type: 'llama', max_position_embeddings: 4096, vocab_size: 32_064 };
  expect(sizesOf({ model_type: 'llava', text_config: llava })).toMatchObject({
    ...{ vocabulary: 32_064, hidden: 4096, intermediate: 11_008, layers: 32, heads: 32, keys: 4096 },
  });
  const gemma = { model_type: 'gemma3_text', hidden_size: 2560, num_hidden_layers: 34 };
  expect(sizesOf({ model_type: 'gemma3', text_config: gemma })).toMatchObject({
    ...{ vocabulary: 262_208, hidden: 2560, intermediate: 9216, layers: 34, heads: 8, keys: 4 * 256 },
  });
});

test('a configuration of texts of an unknown type has the sizes that it names', () => {
  expect(sizesOf({ text_config: { hidden_size: 64 } })).toMatchObject({ hidden: 64, layers: 0, heads: 0 });
});

test('an encoder of images may name its edges as height and width, and leave out what its class knows', () => {
  const vision_config = { image_size: [448, 448], patch_size: [14, 14], num_hidden_layers: 24 };
  expect(sizesOf({ model_type: 'internvl', vision_config }).vision).toEqual({
    ...{ hidden: 1024, intermediate: 4096, heads: 16, patches: 1025, masked: true },
  });
});

test.each([
  [{ layer_types: ['conv', 'full_attention', 'conv'] }, 1],
  [{ layer_types: ['mamba', 'attention', 'attention'] }, 2],
  [{ layer_types: ['sliding_attention', 'full_attention'] }, undefined],
  [{ model_type: 'mamba2' }, 0],
  [{ model_type: 'bamba', attn_layer_indices: [4, 9] }, 2],
  [{ model_type: 'nemotron_h', hybrid_override_pattern: 'M-M*E*' }, 2],
  [{ model_type: 'nemotron_h', layers_block_type: ['mamba', 'moe', 'attention'] }, 1],
  [{ model_type: 'qwen3_next', num_hidden_layers: 48 }, 12],
  [{ model_type: 'qwen3_5_moe_text', num_hidden_layers: 9, full_attention_interval: 3 }, 3],
])('layers that keep keys and values by %j: %p', (config, layers) => {
  expect(sizesOf({ num_hidden_layers: 3, ...config }).keyLayers).toBe(layers);
});

test('Nemotron-H has as many layers as mixers', () => {
  expect(sizesOf({ model_type: 'nemotron_h', hybrid_override_pattern: 'M-M*' }).layers).toBe(4);
});

test('keys of latent attention are as wide as what is cached, whatever head_dim says', () => {
  const config = {
    ...{
      model_type: 'mistral4',
      num_attention_heads: 4,
      num_key_value_heads: 4,
      head_dim: 8,
      hidden_size: 64,
    },
    ...{ kv_lora_rank: 16, qk_nope_head_dim: 12, qk_rope_head_dim: 8, v_head_dim: 16 },
  };
  expect(sizesOf(config).keys).toBe(4 * 20);
  expect(sizesOf({ ...config, v_head_dim: 32 }).keys).toBe(4 * 32);
});

test('Gemma 4: layers with wider heads count more, those that read others’ keys not at all', () => {
  const config = {
    ...{ model_type: 'gemma4_text', num_hidden_layers: 4, num_kv_shared_layers: 2 },
    ...{ num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16, hidden_size: 48 },
    layer_types: ['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'],
  };
  expect(sizesOf({ ...config, per_layer_config: { 1: { head_dim: 24 } } }).keyLayers).toBe(2.5);
  expect(sizesOf({ ...config, global_head_dim: 32 }).keyLayers).toBe(3);
});

test('patches of images of any proportions are as many as the processor lets them become', () => {
  const config = { model_type: 'gemma4', text_config: {}, vision_config: { pooling_kernel_size: 2 } };
  expect(sizesOf(config).vision!.patches).toBe(1120);
});
