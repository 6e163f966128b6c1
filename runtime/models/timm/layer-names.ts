import type { PreNormNames } from '../layers/pre-norm-layer.js';

/** Of the layers of timm's transformers, whose queries, keys and values are one matrix. */
export const LAYER_NAMES: PreNormNames = {
  ...{ attentionNorm: 'norm1', query: 'attn.qkv', output: 'attn.proj' },
  ...{ norm: 'norm2', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
};
