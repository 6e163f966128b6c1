import { activation } from '../../layers/activation.js';
import { linear } from '../../layers/linear.js';
import { skipLayerNorm } from '../../layers/norm.js';
import type { Pair, Triple } from '../../layers/cross-decoder.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { SpeechT5Config } from './config.js';

const at = (layer: number, name: string) => `speecht5.decoder.wrapped_decoder.layers.${layer}.${name}`;

const projected = (g: GraphWriter, x: Value, name: string, { hidden_size: width }: SpeechT5Config): Value =>
  linear(g, x, name, { from: width, to: width });

/** Keys and values of the source for a layer. */
export function sourcePair(g: GraphWriter, layer: number, states: Value, c: SpeechT5Config): Pair {
  const one = (letter: string) => projected(g, states, at(layer, `encoder_attn.${letter}_proj`), c);
  return { key: one('k'), value: one('v') };
}

/** What a layer attends with: float32 [rows, tokens, hidden_size] each. */
export interface Attending {
  attendSelf(layer: number, own: Triple): Value;
  attendSource(layer: number, query: Value): Value;
}

/** All layers, with norms behind. */
export function decoderLayers(g: GraphWriter, read: Value, c: SpeechT5Config, state: Attending): Value {
  const { hidden_size: width, layer_norm_eps: epsilon, decoder_ffn_dim: inner } = c;
  let x = read;
  for (let i = 0; i < c.decoder_layers; i++) {
    const project = (from: Value, name: string) => projected(g, from, at(i, name), c);
    const added = (more: Value, norm: string) => skipLayerNorm(g, [more, x], at(i, norm), { width, epsilon });
    const one = (letter: string) => project(x, `self_attn.${letter}_proj`);
    const own = state.attendSelf(i, { query: one('q'), key: one('k'), value: one('v') });
    x = added(project(own, 'self_attn.out_proj'), 'self_attn_layer_norm');
    const source = state.attendSource(i, project(x, 'encoder_attn.q_proj'));
    x = added(project(source, 'encoder_attn.out_proj'), 'encoder_attn_layer_norm');
    const feed = (part: string) => at(i, `feed_forward.${part}_dense`);
    const wide = activation(g, linear(g, x, feed('intermediate'), { from: width, to: inner }), c.hidden_act);
    x = added(linear(g, wide, feed('output'), { from: inner, to: width }), 'final_layer_norm');
  }
  return x;
}
