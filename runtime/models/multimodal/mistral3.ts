import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { linear } from '../layers/linear.js';
import { rmsNorm } from '../layers/norm.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon } from '../config-fields.js';
import { languageModel, PARTS } from './language-model.js';
import { projected } from './projector.js';
import { layerNumber } from './llava.js';
import { pictureEncoder } from './image-tower.js';

/** What Python's class takes for a language model that is left out. */
const TEXT = {
  ...{ head_dim: 128, hidden_size: 5120, intermediate_size: 32_768, max_position_embeddings: 131_072 },
  ...{ num_attention_heads: 32, num_hidden_layers: 40, num_key_value_heads: 8, rms_norm_eps: 1e-5 },
  ...{ rope_theta: 1e9, sliding_window: null, vocab_size: 131_072 },
};

const fields = z.object({
  text_config: languageModel('mistral', TEXT),
  /** That of the language model's norms. */
  norm_eps: epsilon.default(1e-6),
  vision_config: pictureEncoder('pixtral', { patch_size: 14, image_size: 1540 }),
  projector_hidden_act: z.string().default('gelu'),
  multimodal_projector_bias: z.boolean().default(false),
  spatial_merge_size: z.int().min(1).max(64).default(2),
  vision_feature_layer: z.int().min(-1024).max(1024).default(-1),
});
type Config = z.output<typeof fields>;

const config = z.preprocess((given) => {
  const { text_config: text } = given as { text_config?: { rms_norm_eps?: unknown } | null };
  return { ...(given as object), norm_eps: (text ?? TEXT).rms_norm_eps };
}, fields);

/** Squares of neighbours as one, with the channels outermost: float32 [features, width · edge²]. */
function unfolded(g: GraphWriter, x: Value, grid: Value, { edge, width }: { edge: number; width: number }) {
  const [down, across] = g.nodes('Split', [g.node('Div', [grid, g.ints([edge], [])]), g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 0 } },
  }) as [Value, Value];
  const shape = g.node('Concat', [down, g.ints([edge]), across, g.ints([edge, width])], { axis: 0 });
  const squares = g.node('Transpose', [g.node('Reshape', [x, shape])], { perm: [0, 2, 4, 1, 3] });
  return g.node('Reshape', [squares, g.ints([-1, width * edge * edge])]);
}

/** `image_features` [features, width] of one picture, whose neighbouring patches are merged. */
function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: tower, text_config: text, spatial_merge_size: edge } = c;
  const number = layerNumber(tower, c.vision_feature_layer);
  if (!tower.anySize)
    throw new GraphError('config.json: vision_config is no encoder of pictures of any size');
  const { states, grid } = tower.anySize(g, number);
  const at = (name: string) => `multi_modal_projector.${name}`;
  const { width } = tower;
  const normed = rmsNorm(g, states.at(-1)!, at('norm'), { width, epsilon: c.norm_eps });
  const squares = unfolded(g, normed, grid, { edge, width });
  const size = { from: width * edge * edge, to: width, bias: false };
  const merged = linear(g, squares, at('patch_merger.merging_layer'), size);
  const sizes = { from: width, to: text.width };
  const features = projected(g, merged, {
    ...{ ...sizes, act: c.projector_hidden_act, bias: c.multimodal_projector_bias },
  });
  g.output('image_features', features, 'float32', ['features', text.width]);
}

/** A language model that reads pictures of any size, squares of patches as one. modeling_mistral3.py */
export const mistral3 = defineFamily({
  modelTypes: ['mistral3'],
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
