import { llamaDecoder } from '../../bases/decoder/llama-decoder.js';
import type { Decoder } from '../../bases/decoder/decoder.js';
import type { DecoderInputs } from '../../layers/decoder-inputs.js';
import { headGroup } from '../../layers/head-sizes.js';
import { embedding, linear, matMulTransposed } from '../../layers/linear.js';
import { headNorm, rmsNorm } from '../../layers/norm.js';
import { byHead } from '../../layers/split-heads.js';
import { gatedFeedForward } from '../../layers/swiglu.js';
import type { GraphWriter, Shape, Value } from '../../writer/graph-writer.js';
import { crossLayersOf, MORE_TOKENS, type Text, textSizes } from './config.js';
import { gate } from './tower.js';

/**
 * int64 [rows, tokens, length]: 0 for states of images that a token does not look at, 1 for those that it looks at, and 2
 * where it stands before all images: it looks at these, and its feed-forward is left out.
 */
export const MASK_INPUT = 'cross_attention_mask';

/** Least float32, with which Python masks. */
const LEAST = -3.4028234663852886e38;

const KINDS = ['key', 'value'] as const;

const isCross = (c: Text, layer: number): boolean => crossLayersOf(c).includes(layer);

/** The decoder without images: layers that would look at them are left out. */
export function plainDecoder(c: Text): Decoder {
  const own = llamaDecoder(textSizes(c));
  return {
    ...own,
    embed: (g, ids) =>
      embedding(g, ids, 'model.embed_tokens', { rows: c.vocab_size + MORE_TOKENS, width: c.hidden_size }),
    layer: (g, x, layer, inputs) => (isCross(c, layer) ? x : own.layer(g, x, layer, inputs)),
  };
}

/** The decoder whose layers look at keys and values of images, `past_key_values.N.encoder.…`. */
export function crossDecoder(c: Text): Decoder {
  const own = plainDecoder(c);
  return {
    ...own,
    layer: (g, x, layer, inputs) =>
      isCross(c, layer) ? crossLayer(g, x, inputs, { c, layer }) : own.layer(g, x, layer, inputs),
  };
}

/** `encoder_hidden_states` [rows, length, width] -> `present.N.encoder.key` and `.value` of each layer that looks at images. */
export function writeCrossKeys(g: GraphWriter, c: Text): void {
  const states = g.input('encoder_hidden_states', 'float32', ['rows', 'length', c.hidden_size]);
  const { keyHeads: heads, headWidth: width, epsilon, layers } = textSizes(c);
  for (let layer = 0; layer < layers; layer++) {
    if (!isCross(c, layer)) continue;
    const at = (name: string) => `model.layers.${layer}.cross_attn.${name}`;
    const project = (name: string) =>
      linear(g, states, at(`${name}_proj`), { from: c.hidden_size, to: heads * width, bias: false });
    const found = {
      key: headNorm(g, project('k'), at('k_norm'), { heads, width, epsilon }),
      value: project('v'),
    };
    for (const kind of KINDS)
      g.output(
        `present.${layer}.encoder.${kind}`,
        byHead(g, found[kind], heads, width),
        'float32',
        shapeOf(c),
      );
  }
}

function shapeOf(c: Text): Shape {
  const { keyHeads, headWidth } = textSizes(c);
  return ['rows', keyHeads, 'length', headWidth];
}

/** What the mask says, once for all layers. */
interface Sight {
  /** bool scalar: there are images in the run. */
  any: Value;
  /** Added to scores, float32 [rows, 1, 1, tokens, length]. */
  bias: Value;
  /** float32 [rows, tokens, 1]: 1 for tokens that look at images, and for those whose feed-forward is added. */
  looks: Value;
  feeds: Value;
}

const sightOf = (g: GraphWriter): Sight =>
  g.once('what tokens see of images', () => {
    const mask = g.input(MASK_INPUT, 'int64', ['rows', 'tokens', 'length']);
    const [zero, one] = [g.ints([0], []), g.ints([1], [])];
    // A row of no states has no largest one.
    const shape = g.node('Concat', [g.node('Shape', [mask], { start: 0, end: 2 }), g.ints([1])], { axis: 0 });
    const none = g.node('Expand', [zero, shape]);
    const most = g.node('ReduceMax', [g.node('Concat', [mask, none], { axis: 2 }), g.ints([2])]);
    const asFloat = (x: Value) => g.node('Where', [x, g.scalar(1), g.scalar(0)]);
    const seen = g.node('Unsqueeze', [g.node('Greater', [mask, zero]), g.ints([1, 2])]);
    return {
      any: g.node('Greater', [g.node('Size', [mask]), zero]),
      bias: g.node('Where', [seen, g.scalar(0), g.scalar(LEAST)]),
      looks: asFloat(g.node('Greater', [most, zero])),
      feeds: asFloat(g.node('Equal', [most, one])),
    };
  });

interface LayerOf {
  c: Text;
  layer: number;
}

function crossLayer(g: GraphWriter, x: Value, inputs: DecoderInputs, { c, layer }: LayerOf): Value {
  const at = (name: string) => `model.layers.${layer}.${name}`;
  const { width, epsilon, inner, act } = textSizes(c);
  const [key, value] = KINDS.map((kind) =>
    g.input(`past_key_values.${layer}.encoder.${kind}`, 'float32', shapeOf(c)),
  ) as [Value, Value];
  const sight = sightOf(g);
  const add = (to: Value, found: Value, name: string, share: Value) =>
    g.node('Add', [to, g.node('Mul', [g.node('Mul', [gate(g, at(name)), share]), found])]);
  return g.either(sight.any, ['rows', 'tokens', width], {
    yes() {
      const read = rmsNorm(g, x, at('input_layernorm'), { width, epsilon });
      const found = look(g, read, { key, value, c, at, tokens: inputs.tokens, bias: sight.bias });
      const middle = add(x, found, 'cross_attn_attn_gate', sight.looks);
      const normed = rmsNorm(g, middle, at('post_attention_layernorm'), { width, epsilon });
      const fed = gatedFeedForward(g, normed, (name) => at(`mlp.${name}`), { width, inner, act });
      return add(middle, fed, 'cross_attn_mlp_gate', sight.feeds);
    },
    no: () => g.node('Identity', [x]),
  });
}

interface Look {
  /** float32 [rows, key heads, length, width of a head]. */
  key: Value;
  value: Value;
  c: Text;
  at(name: string): string;
  /** int64 [1] */
  tokens: Value;
  bias: Value;
}

/** Attention of tokens to states of images; queries of one key head stand below each other. */
function look(g: GraphWriter, x: Value, { key, value, c, at, tokens, bias }: Look): Value {
  const { heads, keyHeads, headWidth: width, epsilon } = textSizes(c);
  const [group, from] = [headGroup(heads, keyHeads), c.hidden_size];
  const all = heads * width;
  const projected = linear(g, x, at('cross_attn.q_proj'), { from, to: all, bias: false });
  const query = headNorm(g, projected, at('cross_attn.q_norm'), { heads, width, epsilon });
  const split = g.node('Reshape', [query, g.ints([0, 0, keyHeads, group, width])]);
  const below = g.node('Reshape', [
    ...[g.node('Transpose', [split], { perm: [0, 2, 3, 1, 4] }), g.ints([0, 0, -1, width])],
  ]);
  const scores = matMulTransposed(g, below, key, width ** -0.5);
  const shaped = (last: Value) => g.node('Concat', [g.ints([0, 0, group]), tokens, last], { axis: 0 });
  const masked = g.node('Add', [g.node('Reshape', [scores, shaped(g.ints([-1]))]), bias]);
  const shares = g.node('Reshape', [g.node('Softmax', [masked], { axis: -1 }), g.node('Shape', [scores])]);
  const parted = g.node('Reshape', [g.node('MatMul', [shares, value]), shaped(g.ints([width]))]);
  const together = g.node('Transpose', [parted], { perm: [0, 3, 1, 2, 4] });
  const found = g.node('Reshape', [together, g.ints([0, 0, all])]);
  return linear(g, found, at('cross_attn.o_proj'), { from: all, to: from, bias: false });
}
