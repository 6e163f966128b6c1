import { activation } from '../../layers/activation.js';
import { headWidth } from '../../layers/head-sizes.js';
import { conv1d, embedding, tableScores } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { splitRows } from '../../layers/fused-projections.js';
import type { DecoderState, SourceDecoder } from '../../layers/cross-decoder.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { Gpt2Config } from '../../text/gpt2.js';

const sizesOf = ({ n_embd: width, n_head: heads, layer_norm_epsilon: epsilon, n_inner }: Gpt2Config) => ({
  ...{ width, heads, inner: n_inner ?? 4 * width, norm: { width, epsilon } },
  counts: { heads, keyHeads: heads, width: headWidth(width, heads) },
});

const nameIn = (layer: number) => (name: string) => `transformer.h.${layer}.${name}`;

/** GPT-2 whose layers attend to a source between their own attention and their feed-forward. */
export function gpt2Reader(c: Gpt2Config): SourceDecoder {
  if (c.scale_attn_by_inverse_layer_idx)
    throw new GraphError('config.json: scale_attn_by_inverse_layer_idx is not known beside a source');
  const { width, heads, norm, counts } = sizesOf(c);
  return {
    ...{ width, vocabulary: c.vocab_size, decoderLayers: c.n_layer, heads, headWidth: counts.width },
    scale: c.scale_attn_weights ? counts.width ** -0.5 : 1,
    projectSource(g, layer, states) {
      const fused = conv1d(g, states, nameIn(layer)('crossattention.c_attn'), { from: width, to: 2 * width });
      const sizes = g.ints([width, width]);
      const [key, value] = g.nodes('Split', [fused, sizes], {
        ...{ outputs: 2, attributes: { axis: -1 } },
      }) as [Value, Value];
      return { key, value };
    },
    decode(g, ids, state) {
      const tokens = embedding(g, ids, 'transformer.wte', { rows: c.vocab_size, width });
      const positions = embedding(g, state.positions, 'transformer.wpe', { rows: c.n_positions, width });
      let x = g.node('Add', [tokens, positions]);
      for (let i = 0; i < c.n_layer; i++) x = writeLayer(g, x, i, { c, state });
      return layerNorm(g, x, 'transformer.ln_f', norm);
    },
    scores(g, x) {
      const names = { own: 'lm_head.weight', tied: 'transformer.wte.weight' };
      return tableScores(g, x, names, { rows: c.vocab_size, width, tie: c.tie_word_embeddings });
    },
  };
}

function writeLayer(
  g: GraphWriter,
  x: Value,
  layer: number,
  { c, state }: { c: Gpt2Config; state: DecoderState },
): Value {
  const { width, inner, norm, counts } = sizesOf(c);
  const at = nameIn(layer);
  const project = (read: Value, name: string, from: number, to: number) =>
    conv1d(g, read, at(name), { from, to });
  const added = (skip: Value, name: string, write: (read: Value) => Value) =>
    g.node('Add', [skip, write(layerNorm(g, skip, at(name), norm))]);
  const own = added(x, 'ln_1', (read) => {
    const parts = splitRows(g, project(read, 'attn.c_attn', width, 3 * width), counts);
    return project(state.attendSelf(layer, parts), 'attn.c_proj', width, width);
  });
  const sourced = added(own, 'ln_cross_attn', (read) => {
    const query = project(read, 'crossattention.q_attn', width, width);
    return project(state.attendSource(layer, query), 'crossattention.c_proj', width, width);
  });
  return added(sourced, 'ln_2', (read) => {
    const wide = activation(g, project(read, 'mlp.c_fc', width, inner), c.activation_function);
    return project(wide, 'mlp.c_proj', inner, width);
  });
}
