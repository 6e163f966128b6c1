import * as z from 'zod';
import { defineFamily } from '../family.js';
import { headWidth } from '../layers/head-sizes.js';
import { embedding, linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { sourceDecoderRoles } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import type { SourceDecoder } from '../layers/cross-decoder.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { BERT_NAMES, bertLayer, OLDER_NORMS } from '../bases/encoder/bert-layer.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';
import { layers, size } from '../config-fields.js';
import { clipImages, embeddedByClip } from '../vision/clip.js';
import { imageTower, towerLayers, towerSizes } from '../bases/vision/clip-towers.js';

const PATCH = 16;

const config = z.object({
  ...bertConfig,
  ...{ vocab_size: size.default(30_522), hidden_size: size.default(768) },
  ...{ num_hidden_layers: layers.default(6), num_attention_heads: size.default(12) },
  ...{ intermediate_size: size.default(3072), max_position_embeddings: size.default(1024) },
  position_embedding_type: z.literal('absolute').default('absolute'),
  tie_word_embeddings: z.literal(false).default(false),
  // Of several images, which are frames of a video.
  num_image_with_embedding: z.null().optional(),
  vision_config: clipImages.extend({ patch_size: imageTower.patch_size.default(PATCH) }).prefault({}),
});
type Config = z.output<typeof config>;

const nameIn = (layer: number) => (name: string) => `git.encoder.layer.${layer}.${name}`;

/** A vector for each patch behind one for the whole image, as wide as those of tokens. */
function imageTokens(g: GraphWriter, { vision_config: c, hidden_size: width }: Config): Value {
  const states = towerLayers(g, embeddedByClip(g, c), c, { base: 'vision_model' });
  const normed = layerNorm(g, states, 'vision_model.post_layernorm', towerSizes(c));
  const at = (part: number) => `git.visual_projection.visual_projection.${part}`;
  const projected = linear(g, normed, at(0), { from: c.hidden_size, to: width });
  return layerNorm(g, projected, at(1), { width, epsilon: c.layer_norm_eps });
}

/**
 * The image stands before the text in one row of tokens, but sees itself only: what each layer of the decoder reads of it does not
 * depend on the text. float32 [rows, tokens, layers · width], the layers side by side.
 */
function writeEncoder(g: GraphWriter, c: Config): void {
  let x = imageTokens(g, c);
  const read = [x];
  for (let i = 0; i < c.num_hidden_layers - 1; i++) {
    x = bertLayer(g, x, { ...bertSizes(c), names: BERT_NAMES, at: nameIn(i) });
    read.push(x);
  }
  const states = g.node('Concat', read, { axis: -1 });
  g.output('last_hidden_state', states, 'float32', ['rows', 'tokens', read.length * c.hidden_size]);
}

function readerOf(c: Config): SourceDecoder {
  const { hidden_size: width, num_attention_heads: heads, num_hidden_layers: count } = c;
  return {
    ...{ width: count * width, vocabulary: c.vocab_size, decoderLayers: count },
    ...{ heads, headWidth: headWidth(width, heads) },
    projectSource(g, layer, states) {
      const bounds = [g.ints([layer * width]), g.ints([(layer + 1) * width]), g.ints([2])];
      const own = g.node('Slice', [states, ...bounds]);
      const project = (name: string) => linear(g, own, nameIn(layer)(name), { from: width, to: width });
      return { key: project(BERT_NAMES.key), value: project(BERT_NAMES.value) };
    },
    prefixed: true,
    decode(g, ids, { positions, attendSelf }) {
      let x = embedded(g, ids, positions, c);
      for (let i = 0; i < count; i++)
        x = bertLayer(g, x, {
          ...{ ...bertSizes(c), names: BERT_NAMES, at: nameIn(i) },
          attend: (projected) => attendSelf(i, projected),
        });
      return x;
    },
    scores: (g, x) => linear(g, x, 'output', { from: width, to: c.vocab_size }),
  };
}

function embedded(g: GraphWriter, ids: Value, positions: Value, c: Config): Value {
  const { width, epsilon } = bertSizes(c);
  const at = (name: string) => `git.embeddings.${name}`;
  const tokens = embedding(g, ids, at('word_embeddings'), { rows: c.vocab_size, width });
  const placed = embedding(g, positions, at('position_embeddings'), {
    rows: c.max_position_embeddings,
    width,
  });
  return layerNorm(g, g.node('Add', [tokens, placed]), at('LayerNorm'), { width, epsilon });
}

/** CLIP's tower, and BERT's layers over what it gives and the text behind it. modeling_git.py */
export const git = defineFamily({
  modelTypes: ['git'],
  readers: { processor: 'CLIP', captions: 'git' },
  config,
  prefixes: [],
  older: OLDER_NORMS,
  parts: { 'vision_model.': ['git.image_encoder.vision_model.'] },
  heads: { 'image-to-text': { encoder_model: writeEncoder, ...sourceDecoderRoles(readerOf) } },
});
