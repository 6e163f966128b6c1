import * as z from 'zod';
import { defineFamily, UNCHECKED_MEMORY } from '../family.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import {
  patches,
  imageInput,
  imageOf,
  resize,
  tokensFrom,
  tokensOf,
  withTokens,
} from '../layers/patch-embed.js';
import { preNormLayer } from '../layers/pre-norm-layer.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import { textInputs } from '../layers/text-inputs.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { bertEmbeddings } from '../bases/encoder/bert-embeddings.js';
import { size } from '../config-fields.js';
import { gridSize, vitConfig, vitSizes } from '../bases/vision/vit-config.js';
import { VIT_NAMES } from './vit.js';

const config = z.object({
  ...vitConfig,
  vocab_size: size.default(30_522),
  type_vocab_size: size.default(2),
  modality_type_vocab_size: size.default(2),
  max_position_embeddings: size.default(40),
  image_size: vitConfig.image_size.unwrap().default([384, 384]),
  patch_size: vitConfig.patch_size.unwrap().default([32, 32]),
  /** Where there is one, Python draws lots which patches of a larger image it reads. */
  max_image_length: z.int().max(-1, 'which patches are read would be a matter of chance').default(-1),
});
type Config = z.output<typeof config>;

/** Of the norm within the layers of labels. */
const EPSILON = 1e-5;

const at = (name: string) => `vilt.embeddings.${name}`;

/** A vector for the whole image, and one for each patch, at its position in images of any shape. */
function embeddedPatches(g: GraphWriter, c: Config): Value {
  const width = c.hidden_size;
  const pixels = imageInput(g, c.num_channels);
  const { tokens, grid } = patches(g, pixels, at('patch_embeddings.projection'), {
    ...{ channels: c.num_channels, width, patch: c.patch_size },
  });
  const from = gridSize(c.image_size, c.patch_size);
  const table = g.weight(at('position_embeddings'), [1, from[0] * from[1] + 1, width]);
  const own = imageOf(g, tokensFrom(g, table, 1), g.ints(from));
  const sizes = g.node('Concat', [g.ints([1, width]), grid], { axis: 0 });
  const cells = tokensOf(g, resize(g, own, sizes, { mode: 'linear', corners: true }));
  const positions = g.node('Concat', [tokensFrom(g, table, 0, 1), cells], { axis: 1 });
  const whole = g.weight(at('cls_token'), [1, 1, width]);
  return g.node('Add', [withTokens(g, tokens, [whole]), positions]);
}

/** Tokens of a text, then an image's, as one sequence: float32 [rows, tokens and patches, width]. */
function statesOf(g: GraphWriter, c: Config): Value {
  const { width, epsilon } = vitSizes(c);
  const { ids, types, padding: isText } = textInputs(g, { types: true });
  const text = bertEmbeddings(g, { ids, types }, (name) => at(`text_embeddings.${name}`), {
    ...{ width, epsilon, vocabulary: c.vocab_size },
    ...{ kinds: c.type_vocab_size, positions: c.max_position_embeddings },
  });
  const kinds = g.weight(at('token_type_embeddings.weight'), [c.modality_type_vocab_size, width]);
  const ofKind = (x: Value, kind: number) =>
    g.node('Add', [x, g.node('Gather', [kinds, g.ints([kind], [])])]);
  const image = ofKind(embeddedPatches(g, c), 1);
  let x = g.node('Concat', [ofKind(text, 0), image], { axis: 1 });
  const shape = g.node('Shape', [image], { start: 0, end: 2 });
  const one = g.node('Cast', [g.ints([1], [])], { to: ELEMENTS.int32 });
  const padding = g.node('Concat', [isText, g.node('Expand', [one, shape])], { axis: 1 });
  const biases = { query: c.qkv_bias, key: c.qkv_bias, value: c.qkv_bias };
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const name = (part: string) => `vilt.encoder.layer.${i}.${part}`;
    x = preNormLayer(g, x, { ...vitSizes(c), names: VIT_NAMES, at: name, biases, padding });
  }
  return layerNorm(g, x, 'vilt.layernorm', { width, epsilon });
}

/** Scores of answers: float32 [rows, labels]. */
function answerScores(g: GraphWriter, states: Value, c: Config): Value {
  const { width, labels } = vitSizes(c);
  const pooled = linear(g, firstToken(g, states), 'vilt.pooler.dense', { from: width, to: width });
  const wide = linear(g, g.node('Tanh', [pooled]), 'classifier.0', { from: width, to: 2 * width });
  const normed = layerNorm(g, wide, 'classifier.1', { width: 2 * width, epsilon: EPSILON });
  return linear(g, g.node('Gelu', [normed]), 'classifier.3', { from: 2 * width, to: labels });
}

/** An image and a text as tokens of one encoder; images of a run are of one size. modeling_vilt.py */
export const vilt = defineFamily({
  modelTypes: ['vilt'],
  readers: { processor: 'Vilt' },
  limits: [UNCHECKED_MEMORY],
  config,
  prefixes: ['vilt.'],
  heads: {
    'visual-question-answering': {
      model: (g, c: Config) =>
        g.output('logits', answerScores(g, statesOf(g, c), c), 'float32', ['rows', vitSizes(c).labels]),
    },
  },
});
