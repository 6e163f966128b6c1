import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { activation } from '../layers/activation.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, size } from '../config-fields.js';
import { joinedNeighbours } from './idefics3.js';
import { languageModel, PARTS } from './language-model.js';
import { layerNumber } from './llava.js';
import { imageEncoder, type Tower } from './image-tower.js';

const config = z.object({
  text_config: languageModel('cohere2'),
  vision_config: imageEncoder('siglip_vision_model', {
    ...{ hidden_size: 1152, intermediate_size: 4304, num_hidden_layers: 26, num_attention_heads: 14 },
    ...{ patch_size: 14, image_size: 384 },
  }),
  vision_feature_layer: z.int().min(-1024).max(1024).default(-1),
  vision_feature_select_strategy: z
    .literal('full', 'a square of features with a class is not known')
    .default('full'),
  downsample_factor: z.int().min(1).max(64).default(2),
  adapter_layer_norm_eps: epsilon.default(1e-6),
  alignment_intermediate_size: size.nullish(),
});
type Config = z.output<typeof config>;

/** Features of squares of images, whose neighbours are joined: float32 [rows, features, width]. */
function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: tower, text_config: text, downsample_factor: factor } = c;
  const number = layerNumber(tower, c.vision_feature_layer);
  const inner = c.alignment_intermediate_size ?? text.width;
  const joined = joinedSquares(g, tower, factor, tower.states(g, number).at(-1)!);
  const from = tower.width * factor * factor;
  const epsilon = c.adapter_layer_norm_eps;
  const normed = layerNorm(g, joined, 'multi_modal_projector.layernorm', { width: from, epsilon });
  writeGatedFeatures(g, normed, { from, inner, to: text.width });
}

/** Squares of neighbouring patches as one: float32 [rows, squares, width · factor²]. @throws GraphError where patches make no whole squares */
export function joinedSquares(g: GraphWriter, tower: Tower, factor: number, seen: Value): Value {
  if (tower.classes > 0 || tower.side % factor !== 0)
    throw new GraphError('config.json: the patches of vision_config make no whole squares');
  const grid = g.ints([tower.side, tower.side]);
  return joinedNeighbours(g, seen, { grid, factor, width: tower.width });
}

/** Declares `image_features` of two layers with a gate between them: the second half of what the first one gives opens the first half. */
export function writeGatedFeatures(
  g: GraphWriter,
  x: Value,
  { from, inner, to }: Record<'from' | 'inner' | 'to', number>,
): void {
  const at = (name: string) => `multi_modal_projector.${name}`;
  const both = linear(g, x, at('linear_1'), { from, to: inner });
  const half = Math.floor(inner / 2);
  const [value, gate] = g.nodes('Split', [both, g.ints([inner - half, half])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const product = g.node('Mul', [activation(g, gate, 'silu'), value]);
  const features = linear(g, product, at('linear_2'), { from: half, to });
  g.output('image_features', features, 'float32', ['rows', 'features', to]);
}

/** A language model of Cohere's kind that reads squares of images. modeling_aya_vision.py */
export const ayaVision = defineFamily({
  modelTypes: ['aya_vision'],
  readers: { prompts: { image: 'aya-vision' } },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: PARTS,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
