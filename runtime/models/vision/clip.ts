import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { labelScores, meanToken } from '../bases/vision/image-heads.js';
import { tokensFrom, withTokens } from '../layers/patch-embed.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { epsilon, labelCount, labels, size } from '../config-fields.js';
import {
  embeddedPatches,
  embeddedTexts,
  imagePositions,
  type ImageTower,
  imageTower,
  similarities,
  type TextTower,
  textTower,
  towerLayers,
  towerSizes,
  towerStates,
  LONE_TEXT_TOWER,
  LONE_VISION_TOWER,
} from '../bases/vision/clip-towers.js';

const common = { hidden_act: z.string().default('quick_gelu'), layer_norm_eps: epsilon.default(1e-5) };

const textConfig = z.object({
  ...{ ...textTower, ...common },
  vocab_size: size.default(49408),
  hidden_size: size.default(512),
  intermediate_size: size.default(2048),
  num_attention_heads: size.default(8),
  max_position_embeddings: size.default(77),
  eos_token_id: z.int().default(49407),
  projection_dim: size.default(512),
});
type TextConfig = z.output<typeof textConfig>;

export const clipImages = z.object({
  ...{ ...imageTower, ...common },
  hidden_size: size.default(768),
  intermediate_size: size.default(3072),
  num_attention_heads: size.default(12),
  image_size: imageTower.image_size.default(224),
  patch_size: imageTower.patch_size.default(32),
});
type ImageConfig = z.output<typeof clipImages>;

const config = z
  .object({
    ...labels,
    projection_dim: size.default(512),
    text_config: textConfig.prefault({}),
    vision_config: clipImages.prefault({}),
    // Where the old fields are given, they count, and what they don't say is the default.
    text_config_dict: textConfig.nullish(),
    vision_config_dict: clipImages.nullish(),
  })
  .transform((c) => ({
    ...{ projection: c.projection_dim, labels: labelCount(c) },
    text: c.text_config_dict ?? c.text_config,
    image: c.vision_config_dict ?? c.vision_config,
  }));
type Config = z.output<typeof config>;

/** Old configurations name this token for the end, whose texts end at their highest id. */
export const OLD_END = 2;

function endOf(g: GraphWriter, ids: Value, endId: number): Value {
  const isEnd = endId === OLD_END ? ids : g.node('Equal', [ids, g.ints([endId], [])]);
  return g.node('ArgMax', [g.node('Cast', [isEnd], { to: ELEMENTS.int32 })], { axis: 1, keepdims: 1 });
}

export interface Texts {
  /** float32 [rows, tokens, width] */
  states: Value;
  /** The same before the last layer and the last norm. */
  penultimate: Value | undefined;
  /** float32 [rows, width] of the tokens where texts end. */
  ends: Value;
}

/** @param c whose end may be that of old configurations */
export function textStates(g: GraphWriter, c: TextTower & Pick<TextConfig, 'eos_token_id'>): Texts {
  const ids = g.input('input_ids', 'int64', ['texts', 'tokens']);
  const mask = g.input('attention_mask', 'int64', ['texts', 'tokens']);
  const padding = g.node('Cast', [mask], { to: ELEMENTS.int32 });
  const all = towerStates(g, embeddedTexts(g, ids, c), c, { base: 'text_model', padding, causal: true });
  const states = layerNorm(g, all.at(-1)!, 'text_model.final_layer_norm', towerSizes(c));
  const penultimate = all.at(-2);
  return {
    states,
    penultimate,
    ends: g.node('GatherND', [states, endOf(g, ids, c.eos_token_id)], { batch_dims: 1 }),
  };
}

/** What the layers of the tower over images read first. @param norm as checkpoints of CLIP spell it */
export function embeddedByClip(g: GraphWriter, c: ImageTower, norm = 'pre_layrnorm'): Value {
  const width = c.hidden_size;
  const tokens = embeddedPatches(g, c, { bias: false });
  const first = g.weight('vision_model.embeddings.class_embedding', [width]);
  const learned = g.node('Reshape', [first, g.ints([1, 1, width])]);
  const embedded = g.node('Add', [withTokens(g, tokens, [learned]), imagePositions(g, c, 1)]);
  return layerNorm(g, embedded, `vision_model.${norm}`, towerSizes(c));
}

const imageStates = (g: GraphWriter, c: ImageConfig): Value =>
  towerLayers(g, embeddedByClip(g, c), c, { base: 'vision_model' });

const pooled = (g: GraphWriter, states: Value, c: ImageConfig): Value =>
  layerNorm(g, firstToken(g, states), 'vision_model.post_layernorm', towerSizes(c));

function writeMatcher(g: GraphWriter, c: Config): void {
  const to = c.projection;
  const project = (x: Value, name: string, from: number) => linear(g, x, name, { from, to, bias: false });
  const images = pooled(g, imageStates(g, c.image), c.image);
  const vectors = {
    texts: project(textStates(g, c.text).ends, 'text_projection', c.text.hidden_size),
    images: project(images, 'visual_projection', c.image.hidden_size),
  };
  similarities(g, vectors, { width: to });
}

function writeClassifier(g: GraphWriter, c: Config): void {
  const mean = meanToken(g, tokensFrom(g, imageStates(g, c.image), 1));
  const sizes = { width: c.image.hidden_size, labels: c.labels };
  g.output('logits', labelScores(g, mean, sizes), 'float32', ['rows', c.labels]);
}

/** modeling_clip.py */
export const clip = defineFamily({
  modelTypes: ['clip'],
  readers: { processor: 'CLIP' },
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
      g.output('pooler_output', pooled(g, states, c), 'float32', ['rows', c.hidden_size]);
    },
  },
};

export const clipVision = defineFamily({
  modelTypes: ['clip_vision_model'],
  config: clipImages,
  prefixes: [],
  parts: LONE_VISION_TOWER,
  heads: imageHeads,
});

/** What pipelines of diffusers read of prompts: states of two layers, a vector of the whole, and that projected where the checkpoint can. */
function prompts(g: GraphWriter, c: TextConfig): void {
  const { states, penultimate, ends } = textStates(g, c);
  if (penultimate === undefined) throw new GraphError('config.json: the encoder of texts has no layers');
  const { hidden_size: from, projection_dim: to } = c;
  g.output('last_hidden_state', states, 'float32', ['texts', 'tokens', from]);
  g.output('penultimate_hidden_state', penultimate, 'float32', ['texts', 'tokens', from]);
  g.output('pooler_output', ends, 'float32', ['texts', from]);
  if (!g.weights.has('text_projection.weight')) return;
  const vectors = linear(g, ends, 'text_projection', { from, to, bias: false });
  g.output('text_embeds', vectors, 'float32', ['texts', to]);
}

const textHeads: Family<TextConfig>['heads'] = {
  'text-to-image': { text_encoder: prompts, text_encoder_2: prompts },
  'text-to-video': { text_encoder: prompts },
  embedding: {
    model: (g, c) =>
      g.output('last_hidden_state', textStates(g, c).states, 'float32', ['texts', 'tokens', c.hidden_size]),
  },
};

export const clipText = defineFamily({
  modelTypes: ['clip_text_model'],
  config: textConfig,
  prefixes: [],
  parts: LONE_TEXT_TOWER,
  heads: textHeads,
});
