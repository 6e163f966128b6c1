import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { allDistances, scoresOfPairs } from '../layers/relative-scores.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear, lookedUp, matMulTransposed } from '../layers/linear.js';
import { skipLayerNorm } from '../layers/norm.js';
import { sinusoids } from '../layers/sinusoids.js';
import { textInputs } from '../layers/text-inputs.js';
import { textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, labelCount, labels, layers, size } from '../config-fields.js';

const config = z.object({
  ...labels,
  ...{ vocab_size: size.default(32_000), d_model: size.default(1024), n_layer: layers.default(24) },
  ...{ n_head: size.default(16), d_inner: size.default(4096), ff_activation: z.string().default('gelu') },
  layer_norm_eps: epsilon.default(1e-12),
  clamp_len: z.int().max(65536).default(-1),
  attn_type: z.literal('bi', 'tokens that see only those before them are not known').default('bi'),
  bi_data: z.literal(false, 'texts of two directions are not known').default(false),
  summary_type: z
    .enum(['last', 'first'], 'summaries other than last and first are not known')
    .default('last'),
  summary_use_proj: z.boolean().default(true),
  summary_proj_to_labels: z.literal(false, 'summaries that score labels are not known').nullish(),
  summary_activation: z.string().nullable().default('tanh'),
});
type Config = z.output<typeof config>;

interface Positions {
  /** float32 [2 · tokens - 1, d_model]: what is known of distances, from that of the last token behind the first on. */
  vectors: Value;
  /** int64 [tokens, tokens, 1]: the line of each pair's distance. */
  lines: Value;
}

/** Sines and cosines of how far a query lies behind a key. */
function positionsOf(g: GraphWriter, ids: Value, c: Config): Positions {
  const scalar = (value: number) => g.ints([value], []);
  const { all, lines } = allDistances(g, ids);
  const clamped =
    c.clamp_len > 0 ? g.node('Max', [g.node('Min', [all, scalar(c.clamp_len)]), scalar(-c.clamp_len)]) : all;
  const vectors = sinusoids(g, clamped, c.d_model, (i) => 10_000 ** ((-2 * i) / c.d_model));
  return { vectors, lines };
}

interface Layer {
  at: (name: string) => string;
  c: Config;
  padding: Value;
  positions: Positions;
  /** bool [rows, 1, tokens, tokens]: of one text of a pair. */
  same: Value;
}

/** Scores of content, of distances and of whether tokens are of one text, each with a bias of the queries. */
function attend(g: GraphWriter, x: Value, { at, c, padding, positions, same }: Layer): Value {
  const [width, heads] = [c.d_model, c.n_head];
  const each = headWidth(width, heads);
  const matrix = (name: string) =>
    g.node('Reshape', [g.weight(at(name), [width, heads, each]), g.ints([width, width])]);
  const project = (of: Value, name: string) => g.node('MatMul', [of, matrix(name)]);
  const query = g.node('Reshape', [project(x, 'q'), g.ints([0, 0, heads, each])]);
  const moved = (bias: string) => g.node('Add', [query, g.weight(at(bias), [heads, each])]);
  const byHead = (of: Value) => g.node('Transpose', [of], { perm: [0, 2, 1, 3] });
  const scale = each ** -0.5;

  const known = g.node('Reshape', [project(positions.vectors, 'r'), g.ints([-1, heads, each])]);
  const keys = g.node('Transpose', [known], { perm: [1, 0, 2] });
  const far = matMulTransposed(g, byHead(moved('r_r_bias')), keys, scale);
  const ofDistance = scoresOfPairs(g, far, positions.lines);

  const segments = g.node('Transpose', [g.weight(at('seg_embed'), [2, heads, each])], { perm: [1, 0, 2] });
  const both = matMulTransposed(g, byHead(moved('r_s_bias')), segments, scale);
  const [one, other] = g.nodes('Split', [both, g.ints([1, 1])], { outputs: 2, attributes: { axis: 3 } });
  const bias = g.node('Add', [ofDistance, g.node('Where', [same, one!, other!])]);

  const content = g.node('Reshape', [moved('r_w_bias'), g.ints([0, 0, width])]);
  const projected = { query: content, key: project(x, 'k'), value: project(x, 'v') };
  return matMulTransposed(g, attention(g, projected, { heads, width, padding, bias }), matrix('o'));
}

function statesOf(g: GraphWriter, c: Config): { states: Value; mask: Value } {
  const { ids, mask, types, padding } = textInputs(g, { types: true });
  const width = c.d_model;
  const norm = { width, epsilon: c.layer_norm_eps };
  const [rows, columns] = [2, 1].map((axis) => g.node('Unsqueeze', [types, g.ints([axis])]));
  const same = g.node('Unsqueeze', [g.node('Equal', [rows!, columns!]), g.ints([1])]);
  const positions = positionsOf(g, ids, c);
  let x = lookedUp(g, ids, 'transformer.word_embedding.weight', { rows: c.vocab_size, width });
  for (let i = 0; i < c.n_layer; i++) {
    const at = (name: string) => `transformer.layer.${i}.${name}`;
    const layer = { at: (name: string) => at(`rel_attn.${name}`), c, padding, positions, same };
    const middle = skipLayerNorm(g, [attend(g, x, layer), x], at('rel_attn.layer_norm'), norm);
    const wide = linear(g, middle, at('ff.layer_1'), { from: width, to: c.d_inner });
    const act = activation(g, wide, c.ff_activation);
    const narrow = linear(g, act, at('ff.layer_2'), { from: c.d_inner, to: width });
    x = skipLayerNorm(g, [narrow, middle], at('ff.layer_norm'), norm);
  }
  return { states: x, mask };
}

/** Labels of the state of the last token, or the first, that is no padding: Python fills texts up in front. */
function classify(g: GraphWriter, { states, mask }: { states: Value; mask: Value }, c: Config): Value {
  const width = c.d_model;
  const isLast = c.summary_type === 'last' ? 1 : 0;
  const place = g.node('ArgMax', [mask], { axis: 1, keepdims: 1, select_last_index: isLast });
  const token = g.node('GatherND', [states, place], { batch_dims: 1 });
  const read = c.summary_use_proj
    ? linear(g, token, 'sequence_summary.summary', { from: width, to: width })
    : token;
  const found = c.summary_activation ? activation(g, read, c.summary_activation) : read;
  return linear(g, found, 'logits_proj', { from: width, to: labelCount(c) });
}

/** Words are guessed by another network, with a second stream of states. */
const { 'masked-lm': _, ...heads } = textHeads((c: Config): TextModel => ({
  ...{ width: c.d_model, vocabulary: c.vocab_size, labels: labelCount(c) },
  states: (g) => statesOf(g, c).states,
}));

const labelRoles = {
  model(g: GraphWriter, c: Config) {
    g.output('logits', classify(g, statesOf(g, c), c), 'float32', ['rows', labelCount(c)]);
  },
};

/** modeling_xlnet.py */
export const xlnet = defineFamily({
  modelTypes: ['xlnet'],
  readers: { positions: 'distance' },
  limits: ['Guesses no words (fill-mask).'],
  config,
  prefixes: ['transformer.'],
  heads: { ...heads, 'sequence-classification': labelRoles, entailment: labelRoles },
});
