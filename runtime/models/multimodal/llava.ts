import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { tokensFrom } from '../layers/patch-embed.js';
import { isObject } from '../../hub-config/json.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { languageModel, PARTS } from './language-model.js';
import { projected } from './projector.js';
import { imageEncoder, type Tower } from './image-tower.js';

const layer = z.int().min(-1024).max(1024);
export const featureLayers = z.union([layer, z.array(layer).min(1).max(64)]);

/** Fields of LLaVA and of what came after it. */
export const llavaConfig = {
  text_config: languageModel('llama'),
  vision_config: imageEncoder('clip_vision_model', {
    ...{ hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 24, num_attention_heads: 16 },
    ...{ patch_size: 14, image_size: 336 },
  }),
  projector_hidden_act: z.string().default('gelu'),
  vision_feature_select_strategy: z.enum(['default', 'full']).default('default'),
  vision_feature_layer: featureLayers.default(-2),
  multimodal_projector_bias: z.boolean().default(true),
};

export const config = z.object(llavaConfig);

export type LlavaConfig = z.output<typeof config>;

/** The number of a layer that is counted from the first or from the last one on. @throws GraphError where there is none */
export function layerNumber({ layers }: Pick<Tower, 'layers'>, layer: number): number {
  const found = layer < 0 ? layers + 1 + layer : layer;
  if (found >= 0 && found <= layers) return found;
  throw new GraphError(`config.json: vision_feature_layer ${layer} is none of ${layers} layers`);
}

/** What layers give, by their numbers from the first or from the last one on: side by side. */
export function seenByLayers(
  g: GraphWriter,
  c: Pick<LlavaConfig, 'vision_config' | 'vision_feature_layer'>,
): Value {
  const { vision_config: tower, vision_feature_layer: named } = c;
  const numbers = (typeof named === 'number' ? [named] : named).map((layer) => layerNumber(tower, layer));
  const states = tower.states(g, Math.max(...numbers));
  const chosen = numbers.map((number) => states[number]!);
  return chosen.length === 1 ? chosen[0]! : g.node('Concat', chosen, { axis: -1 });
}

/** Features of the patches of images: float32 [rows, features, width]. */
export function imageFeatures(g: GraphWriter, c: LlavaConfig): Value {
  const seen = seenByLayers(g, c);
  // Whether the first token is one of a class or not.
  const kept = c.vision_feature_select_strategy === 'default' ? tokensFrom(g, seen, 1) : seen;
  const count = typeof c.vision_feature_layer === 'number' ? 1 : c.vision_feature_layer.length;
  const { width: to } = c.text_config;
  const sizes = { from: c.vision_config.width * count, to };
  return projected(g, kept, { ...sizes, act: c.projector_hidden_act, bias: c.multimodal_projector_bias });
}

/** The same, less what is no patch, with the end of a line behind: float32 [rows, patches + 1, width]. */
export function squareFeatures(g: GraphWriter, c: LlavaConfig): Value {
  const { vision_config: tower, vision_feature_select_strategy: strategy, text_config: text } = c;
  if (tower.classes !== (strategy === 'default' ? 1 : 0))
    throw new GraphError(
      `config.json: vision_feature_select_strategy ${strategy} does not leave patches alone`,
    );
  const features = imageFeatures(g, c);
  const rows = g.node('Shape', [features], { start: 0, end: 1 });
  const shape = g.node('Concat', [rows, g.ints([1, text.width])], { axis: 0 });
  const end = g.node('Expand', [g.weight('image_newline', [text.width]), shape]);
  return g.node('Concat', [features, end], { axis: 1 });
}

export const headsOf = (featuresOf: typeof imageFeatures) => ({
  'media-chat': {
    ...embeddedDecoderRoles<LlavaConfig>((c) => c.text_config),
    vision_encoder: (g: GraphWriter, c: LlavaConfig) =>
      g.output('image_features', featuresOf(g, c), 'float32', ['rows', 'features', c.text_config.width]),
  },
});

/** Pixtral is a LLaVA with another encoder, whose images keep their form; SigLIP has no class token. */
function promptOf(vision: unknown): string {
  const type = isObject(vision) ? vision['model_type'] : undefined;
  if (type === 'pixtral') return 'pixtral';
  return type === 'siglip_vision_model' ? 'llava-siglip' : 'llava';
}

/** A language model that reads the patches of images of one size. modeling_llava.py */
export const llava = defineFamily({
  modelTypes: ['llava'],
  readers: ({ vision_config: vision }) => ({ prompts: { image: promptOf(vision) } }),
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: PARTS,
  heads: headsOf(imageFeatures),
});
