import { cachedAttention } from '../../layers/cached-attention.js';
import { activation } from '../../layers/activation.js';
import type { DecoderInputs } from '../../layers/decoder-inputs.js';
import { linear } from '../../layers/linear.js';
import { type Choices, chosenFeedForward, softmaxChoices } from '../../layers/moe.js';
import { headNorm, plainHeadNorm, rmsNorm } from '../../layers/norm.js';
import { rotary, rotate } from '../../layers/rope.js';
import { gatedFeedForward } from '../../layers/swiglu.js';
import { float } from '../../writer/attributes.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { saidTo } from '../gemma3n/tokens.js';
import { type Gemma4Config, headsOf, isFull, keysOf, type Layer, sharesKeys } from './config.js';

export const normed = (g: GraphWriter, x: Value, name: string, c: Gemma4Config): Value =>
  rmsNorm(g, x, name, { width: c.hidden_size, epsilon: c.rms_norm_eps });

/** Attention whose scores are not scaled; the last layers read keys and values of former ones. */
export function attend(g: GraphWriter, x: Value, inputs: DecoderInputs, { c, layer, at }: Layer): Value {
  const [from, heads, bias] = [c.hidden_size, c.num_attention_heads, c.attention_bias === true];
  const [source, full] = [keysOf(c, layer), isFull(c, layer)];
  const { keyHeads, width } = headsOf(c, source);
  const { keyHeads: own, width: ownWidth } = headsOf(c, layer);
  if (own !== keyHeads || ownWidth !== width)
    throw new GraphError('config.json: per_layer_config gives layers that share keys heads of other sizes');
  const turns = full ? c : { ...c, rope_theta: c.rope_local_base_freq, rope_scaling: null };
  const part = (name: string, count: number) =>
    linear(g, x, at(`self_attn.${name}_proj`), { from, to: count * width, bias });
  const turned = (plain: Value, name: string, count: number) => {
    const size = { heads: count, width, epsilon: c.rms_norm_eps };
    const found = headNorm(g, plain, at(`self_attn.${name}_norm`), size);
    return rotate(g, found, rotary(g, inputs.positions, turns, width), { heads: count, width });
  };
  const kept = g.once(`keys of ${source}`, () => {
    const keys = part('k', keyHeads);
    const values = c.attention_k_eq_v && full ? keys : part('v', keyHeads);
    const size = { heads: keyHeads, width, epsilon: c.rms_norm_eps };
    return { key: turned(keys, 'k', keyHeads), value: plainHeadNorm(g, values, size) };
  });
  const past = g.once(`past of ${source}`, () => inputs.past(source, { heads: keyHeads, width }));
  const shared = { ...inputs, past: () => past, ...(source !== layer && { present: () => undefined }) };
  const mask = inputs.mask(full ? undefined : c.sliding_window);
  const query = turned(part('q', heads), 'q', heads);
  const size = { layer, heads, keyHeads, width, scale: 1, mask };
  const found = cachedAttention(g, shared, { query, ...kept }, size);
  return linear(g, found, at('self_attn.o_proj'), { from: heads * width, to: from, bias });
}

/** One gated layer, and experts beside it where a model has them. */
export function feedForward(g: GraphWriter, x: Value, of: Layer): Value {
  const { c, layer, at } = of;
  const { hidden_size: width, hidden_activation: act } = c;
  const wider = c.use_double_wide_mlp && sharesKeys(c, layer) ? 2 : 1;
  const size = { width, inner: wider * c.intermediate_size, act };
  const read = normed(g, x, at('pre_feedforward_layernorm'), c);
  const found = gatedFeedForward(g, read, (name) => at(`mlp.${name}`), size);
  if (!c.enable_moe_block) return found;
  return g.node('Add', [normed(g, found, at('post_feedforward_layernorm_1'), c), mixed(g, x, of)]);
}

function mixed(g: GraphWriter, x: Value, { c, at }: Layer): Value {
  const { num_experts: experts, top_k_experts: chosen, moe_intermediate_size: inner } = c;
  if (experts == null || chosen == null || inner == null)
    throw new GraphError('config.json: num_experts, top_k_experts and moe_intermediate_size are needed');
  const width = c.hidden_size;
  const read = normed(g, x, at('pre_feedforward_layernorm_2'), c);
  const found = chosenFeedForward(g, read, at, {
    ...{ width, inner, act: c.hidden_activation },
    // Who computes is chosen by what stands before the norm.
    choose: () => choices(g, g.node('Reshape', [x, g.ints([-1, width])]), { at, c, experts, chosen }),
  });
  return normed(g, found, at('post_feedforward_layernorm_2'), c);
}

interface Router extends Pick<Layer, 'at' | 'c'> {
  experts: number;
  chosen: number;
}

/** The softmax of a normed state's scores; each expert has a factor of its own. Gemma4TextRouter */
function choices(g: GraphWriter, tokens: Value, { at, c, experts, chosen }: Router): Choices {
  const width = c.hidden_size;
  const scale = g.node('Mul', [g.weight(at('router.scale'), [width]), g.scalar(width ** -0.5)]);
  const attributes = { axis: -1, epsilon: float(c.rms_norm_eps) };
  const read = g.node('SimplifiedLayerNormalization', [tokens, scale], attributes);
  const found = softmaxChoices(g, read, at('router.proj'), { width, experts, chosen });
  const factors = g.node('Gather', [g.weight(at('router.per_expert_scale'), [experts]), found.which]);
  return { ...found, weights: g.node('Mul', [found.weights, factors]) };
}

/** What the token itself says to this layer. */
export function withToken(g: GraphWriter, x: Value, { c, layer, at }: Layer): Value {
  const { hidden_size: width, hidden_size_per_layer_input: own } = c;
  if (own === 0) return x;
  const gate = linear(g, x, at('per_layer_input_gate'), { from: width, to: own, bias: false });
  const product = g.node('Mul', [activation(g, gate, c.hidden_activation), saidTo(g, layer)]);
  const wide = linear(g, product, at('per_layer_projection'), { from: own, to: width, bias: false });
  return g.node('Add', [x, normed(g, wide, at('post_per_layer_input_norm'), c)]);
}
