import type { GgufArchitecture } from './architecture.js';
import { rounded } from './rounded.js';

export const bert: GgufArchitecture = {
  ...{ modelType: 'bert', className: 'BertModel', layers: 'encoder.layer' },
  names: {
    token_embd: 'embeddings.word_embeddings',
    position_embd: 'embeddings.position_embeddings',
    token_types: 'embeddings.token_type_embeddings',
    token_embd_norm: 'embeddings.LayerNorm',
  },
  inLayer: {
    attn_q: 'attention.self.query',
    attn_k: 'attention.self.key',
    attn_v: 'attention.self.value',
    attn_output: 'attention.output.dense',
    attn_output_norm: 'attention.output.LayerNorm',
    ffn_up: 'intermediate.dense',
    ffn_down: 'output.dense',
    layer_output_norm: 'output.LayerNorm',
  },
  config: async (facts) => ({
    vocab_size: facts.shapeOf('token_embd.weight')[0],
    hidden_size: facts.count('embedding_length'),
    intermediate_size: facts.count('feed_forward_length'),
    num_hidden_layers: facts.count('block_count'),
    num_attention_heads: facts.count('attention.head_count'),
    layer_norm_eps: rounded(facts.optionalNumber('attention.layer_norm_epsilon') ?? 1e-12),
    max_position_embeddings: facts.shapeOf('position_embd.weight')[0],
    type_vocab_size: facts.shapeOf('token_types.weight')[0],
  }),
};
