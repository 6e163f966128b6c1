import { bertLayer } from '../../bases/encoder/bert-layer.js';
import { waveProjection, wavePositions, waveSteps } from '../../bases/audio/wave-features.js';
import { sinesOfSteps } from '../../bases/encoder-decoder/positions.js';
import { lookedUp } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { clippedDistanceBias } from '../../layers/shaw-relative-bias.js';
import { positionsOf } from '../../layers/text-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { SpeechT5Config } from './config.js';
import { scaledPositions } from './positions.js';

const NAMES = {
  ...{ query: 'attention.q_proj', key: 'attention.k_proj', value: 'attention.v_proj' },
  ...{ output: 'attention.out_proj', attentionNorm: 'layer_norm', norm: 'final_layer_norm' },
  ...{ wide: 'feed_forward.intermediate_dense', narrow: 'feed_forward.output_dense' },
};

const at = (name: string) => `speecht5.encoder.wrapped_encoder.${name}`;

/** Layers with norms behind, whose queries meet vectors of distances: float32 [rows, steps, hidden_size]. */
function layersOver(g: GraphWriter, read: Value, c: SpeechT5Config): Value {
  const { hidden_size: width, encoder_attention_heads: heads, layer_norm_eps: epsilon } = c;
  const farthest = c.encoder_max_relative_position;
  const distances = { heads, width, before: farthest, behind: farthest - 1, turned: true };
  let x = layerNorm(g, read, at('layer_norm'), { width, epsilon });
  for (let i = 0; i < c.encoder_layers; i++)
    x = bertLayer(g, x, {
      ...{ width, heads, epsilon, inner: c.encoder_ffn_dim, act: c.hidden_act, names: NAMES },
      at: (part) => at(`layers.${i}.${part}`),
      bias: (query) => clippedDistanceBias(g, query, at('embed_positions.pe_k.weight'), distances),
    });
  return x;
}

/** Declares `input_values` [rows, samples]. */
export function encodeSpeech(g: GraphWriter, c: SpeechT5Config): Value {
  const steps = waveProjection(g, waveSteps(g, c, ''), c, { base: '' });
  const convolved = g.node('Add', [steps, wavePositions(g, steps, c, { base: '' })]);
  const sines = sinesOfSteps(g, steps, c.hidden_size, c.pad_token_id);
  return layersOver(g, sines ? g.node('Add', [convolved, sines]) : convolved, c);
}

/** Declares `input_ids` [rows, tokens]. */
export function encodeText(g: GraphWriter, c: SpeechT5Config): Value {
  const { vocab_size: rows, hidden_size: width } = c;
  const prenet = 'speecht5.encoder.prenet';
  const ids = g.input('input_ids', 'int64', ['rows', 'tokens']);
  const tokens = lookedUp(g, ids, `${prenet}.embed_tokens.weight`, { rows, width });
  const positions = scaledPositions(g, positionsOf(g, ids), prenet, width);
  return layersOver(g, g.node('Add', [tokens, positions]), c);
}
