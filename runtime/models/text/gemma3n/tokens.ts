import { activation } from '../../layers/activation.js';
import { embedding, linear } from '../../layers/linear.js';
import { rmsNorm } from '../../layers/norm.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { Config, Layer } from './config.js';
import { normed, times } from './norm.js';
import { one } from './states.js';

/** What the token itself says to this layer, added to all states but the first. */
export function withToken(g: GraphWriter, states: Value, of: Layer): Value {
  const { c, layer, at } = of;
  const { hidden_size: width, hidden_size_per_layer_input: own, altup_num_inputs: n } = c;
  const first = one(g, states, c.altup_active_idx);
  const scale = () => g.weight(at('altup.correct_output_scale'), [width]);
  const read = c.altup_correct_scale ? g.node('Mul', [first, scale()]) : first;
  const gate = linear(g, read, at('per_layer_input_gate'), { from: width, to: own, bias: false });
  const said = saidTo(g, layer);
  const product = g.node('Mul', [activation(g, gate, c.hidden_activation), said]);
  const wide = linear(g, product, at('per_layer_projection'), { from: own, to: width, bias: false });
  const found = g.node('Unsqueeze', [normed(g, wide, at('post_per_layer_input_norm'), c), g.ints([2])]);
  const others = Array.from({ length: n }, (_, i) => (i === 0 ? 0 : 1));
  return g.node('Add', [states, g.node('Mul', [found, g.floats(others, [1, 1, n, 1])])]);
}

/** Key of what tokens say to each layer, float32 [rows, tokens, layers, own width], which is made before the first one. */
export const TOKENS = 'what tokens say to layers';

export type TokenTable = Pick<
  Config,
  | 'hidden_size'
  | 'hidden_size_per_layer_input'
  | 'num_hidden_layers'
  | 'vocab_size_per_layer_input'
  | 'rms_norm_eps'
>;

export function tokensSay(g: GraphWriter, x: Value, ids: Value, c: TokenTable): Value {
  const { hidden_size: width, hidden_size_per_layer_input: own, num_hidden_layers: layers } = c;
  const to = layers * own;
  const split = (value: Value) => g.node('Reshape', [value, g.ints([0, 0, layers, own])]);
  const rows = c.vocab_size_per_layer_input;
  const table = embedding(g, ids, 'model.embed_tokens_per_layer', { rows, width: to });
  const name = 'model.per_layer_model_projection';
  const read = split(times(g, linear(g, x, name, { from: width, to, bias: false }), width ** -0.5));
  const norm = { width: own, epsilon: c.rms_norm_eps };
  const projected = rmsNorm(g, read, 'model.per_layer_projection_norm', norm);
  return times(g, g.node('Add', [projected, split(times(g, table, Math.sqrt(own)))]), Math.SQRT1_2);
}

/** What they say to a layer: float32 [rows, tokens, own width]. */
export const saidTo = (g: GraphWriter, layer: number): Value => one(g, g.once(TOKENS, notYet), layer);

function notYet(): Value {
  throw new Error('what tokens say is known before the first layer');
}
