import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { inProjections } from '../layers/in-projections.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { labelScores, meanToken } from '../bases/vision/image-heads.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { epsilon, labelCount, labels, size } from '../config-fields.js';
import {
  embeddedPatches,
  embeddedTexts,
  imagePositions,
  imageTower,
  scalarWeight,
  similarities,
  textTower,
  type Tower,
  towerLayers,
  towerSizes,
  LONE_VISION_TOWER,
} from '../bases/vision/clip-towers.js';

export const siglipTower = {
  hidden_size: size.default(768),
  intermediate_size: size.default(3072),
  num_attention_heads: size.default(12),
  hidden_act: z.string().default('gelu_pytorch_tanh'),
  layer_norm_eps: epsilon.default(1e-6),
};

export const siglipTexts = z.object({
  ...{ ...textTower, ...siglipTower },
  vocab_size: size.default(32000),
  max_position_embeddings: size.default(64),
  projection_size: size.nullish(),
});
type TextConfig = z.output<typeof siglipTexts>;

export const siglipImages = z.object({
  ...{ ...imageTower, ...siglipTower },
  image_size: imageTower.image_size.default(224),
  patch_size: imageTower.patch_size.default(16),
  vision_use_head: z.boolean().default(true),
});
type ImageConfig = z.output<typeof siglipImages>;

const config = z
  .object({ ...labels, text_config: siglipTexts.prefault({}), vision_config: siglipImages.prefault({}) })
  .transform((c) => ({ labels: labelCount(c), text: c.text_config, image: c.vision_config }));
type Config = z.output<typeof config>;

/** Vectors of texts, whose last token counts, be it padding; the mask says whether tokens see that. */
export function siglipTextVectors(g: GraphWriter, c: TextConfig): Value {
  const ids = g.input('input_ids', 'int64', ['texts', 'tokens']);
  const mask = g.input('attention_mask', 'int64', ['texts', 'tokens']);
  const padding = g.node('Cast', [mask], { to: ELEMENTS.int32 });
  const x = towerLayers(g, embeddedTexts(g, ids, c), c, { base: 'text_model', padding });
  const last = g.node('Gather', [x, g.ints([-1], [])], { axis: 1 });
  const normed = layerNorm(g, last, 'text_model.final_layer_norm', towerSizes(c));
  return linear(g, normed, 'text_model.head', {
    from: c.hidden_size,
    to: c.projection_size ?? c.hidden_size,
  });
}

/** What the layers of the tower over images read first. */
export const embeddedBySiglip = (g: GraphWriter, c: ImageConfig): Value =>
  g.node('Add', [embeddedPatches(g, c, { bias: true }), imagePositions(g, c, 0)]);

function imageStates(g: GraphWriter, c: ImageConfig): Value {
  const x = towerLayers(g, embeddedBySiglip(g, c), c, { base: 'vision_model' });
  return layerNorm(g, x, 'vision_model.post_layernorm', towerSizes(c));
}

/** A learned token that looks at all patches but padding: float32 [rows, width]. @param padding int32 [rows, patches], 0 for it */
export function probed(g: GraphWriter, states: Value, c: Tower, padding?: Value): Value {
  const at = (name: string) => `vision_model.head.${name}`;
  const { width, inner, heads, epsilon, act } = towerSizes(c);
  const project = inProjections(g, (name) => at(`attention.${name}`), { width });
  const probe = g.weight(at('probe'), [1, 1, width]);
  const [query, key, value] = [project(0, probe), project(1, states), project(2, states)];
  const rows = g.node('Shape', [states], { start: 0, end: 1 });
  const asked = g.node('Expand', [query, g.node('Concat', [rows, g.ints([1, width])], { axis: 0 })]);
  const found = attention(g, { query: asked, key, value }, { heads, width, padding });
  const seen = linear(g, found, at('attention.out_proj'), { from: width, to: width });
  const normed = layerNorm(g, seen, at('layernorm'), { width, epsilon });
  const wide = activation(g, linear(g, normed, at('mlp.fc1'), { from: width, to: inner }), act);
  const sum = g.node('Add', [seen, linear(g, wide, at('mlp.fc2'), { from: inner, to: width })]);
  return firstToken(g, sum);
}

function writeMatcher(g: GraphWriter, c: Config): void {
  const images = probed(g, imageStates(g, c.image), c.image);
  const vectors = { images, texts: siglipTextVectors(g, c.text) };
  similarities(g, vectors, { width: c.image.hidden_size, bias: scalarWeight(g, 'logit_bias') });
}

function writeClassifier(g: GraphWriter, c: Config): void {
  const sizes = { width: c.image.hidden_size, labels: c.labels };
  const logits = labelScores(g, meanToken(g, imageStates(g, c.image)), sizes);
  g.output('logits', logits, 'float32', ['rows', c.labels]);
}

/** modeling_siglip.py */
export const siglip = defineFamily({
  modelTypes: ['siglip'],
  readers: { processor: 'Siglip', matching: 'sigmoid' },
  usualTask: 'zero-shot-image-classification',
  config,
  prefixes: [],
  heads: {
    'image-text-matching': { model: writeMatcher },
    'image-classification': { model: writeClassifier },
  },
});

const imageHeads: Family<ImageConfig>['heads'] = {
  'image-features': {
    model: (g, c) => {
      const states = imageStates(g, c);
      g.output('last_hidden_state', states, 'float32', ['rows', 'tokens', c.hidden_size]);
      if (c.vision_use_head)
        g.output('pooler_output', probed(g, states, c), 'float32', ['rows', c.hidden_size]);
    },
  },
};

export const siglipVision = defineFamily({
  modelTypes: ['siglip_vision_model'],
  config: siglipImages,
  prefixes: [],
  parts: LONE_VISION_TOWER,
  heads: imageHeads,
});
