import { defineFamily } from '../../family.js';
import { activation } from '../../layers/activation.js';
import { convolution } from '../../layers/convolution.js';
import { disentangledBias } from '../../layers/disentangled-bias.js';
import { embedding, linear } from '../../layers/linear.js';
import { logPositions } from '../../layers/log-position-bias.js';
import { layerNorm, skipLayerNorm } from '../../layers/norm.js';
import { firstToken, textHeads, type TextModel } from '../../bases/encoder/encoder-heads.js';
import { positionsOf, type TextInputs, textInputs } from '../../layers/text-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import {
  BERT_NAMES,
  bertLayer,
  type Name,
  twoLayerClassifier,
  vocabularyScores,
} from '../../bases/encoder/bert-layer.js';
import { bertSizes } from '../../bases/encoder/bert-config.js';
import {
  comparisons,
  debertaConfig,
  type DebertaConfig as Config,
  headWidth,
  normsDistances,
  relativePositions,
  scoreScale,
  debertaReaders,
} from './config.js';

const NAMES = {
  ...BERT_NAMES,
  query: 'attention.self.query_proj',
  key: 'attention.self.key_proj',
  value: 'attention.self.value_proj',
};
const WORDS = 'deberta.embeddings.word_embeddings';

const normOf = (c: Config) => ({ width: c.hidden_size, epsilon: c.layer_norm_eps });

/** float32 [rows, tokens, 1]: 0 for padding. */
const factorsOf = (g: GraphWriter, { mask }: TextInputs): Value =>
  g.once('factors', () =>
    g.node('Unsqueeze', [g.node('Cast', [mask], { to: ELEMENTS.float32 }), g.ints([2])]),
  );

function embedded(g: GraphWriter, inputs: TextInputs, c: Config): Value {
  const at = (name: string) => `deberta.embeddings.${name}`;
  const width = c.embedding_size ?? c.hidden_size;
  let x = embedding(g, inputs.ids, WORDS, { rows: c.vocab_size, width });
  if (c.position_biased_input) {
    const table = { rows: c.max_position_embeddings, width };
    x = g.node('Add', [x, embedding(g, positionsOf(g, inputs.ids), at('position_embeddings'), table)]);
  }
  if (c.type_vocab_size > 0) {
    const table = { rows: c.type_vocab_size, width };
    x = g.node('Add', [x, embedding(g, inputs.types, at('token_type_embeddings'), table)]);
  }
  if (width !== c.hidden_size)
    x = linear(g, x, at('embed_proj'), { from: width, to: c.hidden_size, bias: false });
  return g.node('Mul', [layerNorm(g, x, at('LayerNorm'), normOf(c)), factorsOf(g, inputs)]);
}

/** Vectors of distances, float32 [2 · span, width]. */
function distanceVectors(g: GraphWriter, span: number, c: Config): Value {
  const vectors = g.weight('deberta.encoder.rel_embeddings.weight', [2 * span, c.hidden_size]);
  return normsDistances(c) ? layerNorm(g, vectors, 'deberta.encoder.LayerNorm', normOf(c)) : vectors;
}

/** Makes what the distances of tokens add to a layer's scores; undefined for a model without relative positions. */
function relativeBias(g: GraphWriter, { ids }: TextInputs, c: Config) {
  if (!c.relative_attention) return undefined;
  const positions = relativePositions(c);
  const rows = logPositions(positions);
  const vectors = distanceVectors(g, positions.span, c);
  const { queries, keys } = comparisons(c);
  const square = { from: c.hidden_size, to: c.hidden_size };
  const [asKey, asQuery] = c.share_att_key
    ? [NAMES.key, NAMES.query]
    : ['attention.self.pos_key_proj', 'attention.self.pos_query_proj'];
  const size = { heads: c.num_attention_heads, width: headWidth(c), scale: scoreScale(c) };
  return (at: Name) => (query: Value, key: Value) =>
    disentangledBias(
      g,
      { query, key },
      {
        ...{ ...size, positions: positionsOf(g, ids), rows },
        keys: queries ? linear(g, vectors, at(asKey), square) : undefined,
        queries: keys ? linear(g, vectors, at(asQuery), square) : undefined,
      },
    );
}

/** Adds neighbouring tokens' vectors to the states of the first layer. Padding is zero before and after. */
function withNeighbours(
  g: GraphWriter,
  { tokens, states }: Neighbours,
  inputs: TextInputs,
  c: Config,
): Value {
  const { hidden_size: width, conv_kernel_size: kernel, conv_groups: groups } = c;
  const turned = (x: Value) => g.node('Transpose', [x], { perm: [0, 2, 1] });
  const size = { from: width, to: width, kernel: [kernel], padding: [(kernel - 1) / 2], groups };
  const found = turned(convolution(g, turned(tokens), 'deberta.encoder.conv.conv', size));
  const added = [activation(g, found, c.conv_act), states] as const;
  const normed = skipLayerNorm(g, added, 'deberta.encoder.conv.LayerNorm', normOf(c));
  return g.node('Mul', [normed, factorsOf(g, inputs)]);
}

/** float32 [rows, tokens, width] each. */
interface Neighbours {
  tokens: Value;
  states: Value;
}

function statesOf(g: GraphWriter, c: Config): Value {
  const inputs = textInputs(g, { types: c.type_vocab_size > 0 });
  const tokens = embedded(g, inputs, c);
  const bias = relativeBias(g, inputs, c);
  const layer = { ...bertSizes(c), names: NAMES, padding: inputs.padding, scale: scoreScale(c) };
  let x = tokens;
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (part: string) => `deberta.encoder.layer.${i}.${part}`;
    x = bertLayer(g, x, { ...layer, at, bias: bias?.(at) });
    if (i === 0 && c.conv_kernel_size > 0) x = withNeighbours(g, { tokens, states: x }, inputs, c);
  }
  return x;
}

const FORMER = 'cls.predictions';
const PRESENT = 'lm_predictions.lm_head';

/** Published weights may have the present layers under a configuration that does not say so. */
function isFormer(g: GraphWriter, { legacy }: Config): boolean {
  return legacy ?? !g.weights.has(`${PRESENT}.dense.weight`);
}

function fill(g: GraphWriter, states: Value, c: Config): Value {
  const own = `${WORDS}.weight`;
  const former = isFormer(g, c);
  const names = former
    ? {
        ...{ dense: `${FORMER}.transform.dense`, norm: `${FORMER}.transform.LayerNorm` },
        own: `${FORMER}.decoder.weight`,
        bias: [`${FORMER}.decoder.bias`, `${FORMER}.bias`],
      }
    : { dense: `${PRESENT}.dense`, norm: `${PRESENT}.LayerNorm`, own, bias: [`${PRESENT}.bias`] };
  const width = former ? (c.embedding_size ?? c.hidden_size) : c.hidden_size;
  return vocabularyScores(g, states, { ...names, tied: own }, { ...bertSizes(c), embedded: width });
}

const modelOf = (c: Config): TextModel => ({
  ...bertSizes(c),
  states: (g) => statesOf(g, c),
  classify: (g, states) =>
    twoLayerClassifier(g, firstToken(g, states), {
      ...{ dense: 'pooler.dense', output: 'classifier', ...bertSizes(c), act: c.pooler_hidden_act },
    }),
  fill: (g, states) => fill(g, states, c),
});

/** DeBERTa v2 and v3: content and distance of tokens have vectors of their own. modeling_deberta_v2.py */
export const deberta = defineFamily({
  modelTypes: ['deberta-v2'],
  readers: debertaReaders,
  config: debertaConfig,
  prefixes: ['deberta.'],
  heads: textHeads(modelOf),
});
