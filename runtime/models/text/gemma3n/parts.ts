import { activation } from '../../layers/activation.js';
import { cachedAttention } from '../../layers/cached-attention.js';
import type { DecoderInputs } from '../../layers/decoder-inputs.js';
import { linear } from '../../layers/linear.js';
import { headNorm, plainHeadNorm } from '../../layers/norm.js';
import { rotary, rotate } from '../../layers/rope.js';
import { sparseGate } from '../../layers/sparse-activation.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { isFull, keysOf, type Layer, sparsityOf } from './config.js';
import { normed } from './norm.js';

export function attend(g: GraphWriter, x: Value, inputs: DecoderInputs, { c, layer, at }: Layer): Value {
  const { hidden_size: from, num_attention_heads: heads, num_key_value_heads: keyHeads, head_dim: width } = c;
  const bias = c.attention_bias === true;
  const source = keysOf(c, layer);
  const full = isFull(c, layer);
  const turns = full ? c : { ...c, rope_theta: c.rope_local_base_freq, rope_scaling: null };
  const part = (name: string, heads: number) =>
    linear(g, x, at(`self_attn.${name}_proj`), { from, to: heads * width, bias });
  const turned = (name: string, heads: number) => {
    const size = { heads, width, epsilon: c.rms_norm_eps };
    const found = headNorm(g, part(name, heads), at(`self_attn.${name}_norm`), size);
    return rotate(g, found, rotary(g, inputs.positions, turns, width), { heads, width });
  };
  const values = () =>
    plainHeadNorm(g, part('v', keyHeads), { heads: keyHeads, width, epsilon: c.rms_norm_eps });
  const kept = g.once(`keys of ${source}`, () => ({ key: turned('k', keyHeads), value: values() }));
  const past = g.once(`past of ${source}`, () => inputs.past(source));
  const shared = { ...inputs, past: () => past, ...(source !== layer && { present: () => undefined }) };
  const mask = inputs.mask(full ? undefined : c.sliding_window);
  const size = { layer, heads, keyHeads, width, scale: 1, mask };
  const found = cachedAttention(g, shared, { query: turned('q', heads), ...kept }, size);
  return linear(g, found, at('self_attn.o_proj'), { from: heads * width, to: from, bias });
}

export function feedForward(g: GraphWriter, x: Value, { c, layer, at }: Layer): Value {
  const { hidden_size: width, intermediate_size: given, hidden_activation: act } = c;
  const inner = typeof given === 'number' ? given : given[layer];
  if (inner === undefined) throw new GraphError('config.json: intermediate_size leaves out layers');
  const wide = (name: string) =>
    linear(g, x, at(`mlp.${name}_proj`), { from: width, to: inner, bias: false });
  const sparsity = sparsityOf(c, layer);
  const gate = sparsity > 0 ? sparseGate(g, wide('gate'), sparsity) : wide('gate');
  const product = g.node('Mul', [activation(g, gate, act), wide('up')]);
  return linear(g, product, at('mlp.down_proj'), { from: inner, to: width, bias: false });
}

/** A short way beside attention. */
export function beside(g: GraphWriter, x: Value, { c, at }: Layer): Value {
  const { hidden_size: width, laurel_rank: rank } = c;
  const narrow = linear(g, x, at('laurel.linear_left'), { from: width, to: rank, bias: false });
  const wide = linear(g, narrow, at('laurel.linear_right'), { from: rank, to: width, bias: false });
  return g.node('Add', [x, normed(g, wide, at('laurel.post_laurel_norm'), c)]);
}
