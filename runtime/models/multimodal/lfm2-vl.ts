import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { layerNorm } from '../layers/norm.js';
import { naflexInputs, naflexStates, siglip2Images } from '../vision/siglip2.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { joinedNeighbours } from './idefics3.js';
import { innerConfig } from './inner-config.js';
import { languageModel, PARTS } from './language-model.js';
import { projected } from './projector.js';

const TOWER = 'siglip2_vision_model';

const fields = z.object({
  text_config: languageModel('lfm2'),
  vision_config: innerConfig((type) => (type === TOWER ? siglip2Images : undefined), { usual: TOWER }),
  downsample_factor: z.int().min(1).max(64).default(2),
  projector_hidden_act: z.string().default('gelu'),
  projector_hidden_size: size.default(2560),
  projector_bias: z.boolean().default(true),
  projector_use_layernorm: z.boolean().default(true),
});
type Config = z.output<typeof fields>;

/** The outer field says whether the table is shared, by both of its names. */
function withTie(given: object): object {
  const {
    text_config: text,
    tie_word_embeddings: named,
    tie_embedding: tie = named,
  } = given as Readonly<Record<string, unknown>>;
  return text && tie !== undefined ? { ...given, text_config: { ...text, tie_embedding: tie } } : given;
}

const config = z.preprocess((given) => withTie(given as object), fields);

/** Of the projector's norm. */
const EPSILON = 1e-5;

/** Features of tiles of one size, whose neighbours are joined: float32 [rows, features, width]. */
function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: vision, text_config: text, downsample_factor: factor } = c;
  const patches = naflexInputs(g, vision);
  const seen = naflexStates(g, patches, vision);
  const grid = g.node('Reshape', [patches.shapes, g.ints([2])]);
  const joined = joinedNeighbours(g, seen, { grid, factor, width: vision.hidden_size });
  const from = vision.hidden_size * factor * factor;
  const normed = c.projector_use_layernorm
    ? layerNorm(g, joined, 'multi_modal_projector.layer_norm', { width: from, epsilon: EPSILON })
    : joined;
  const features = projected(g, normed, {
    ...{ from, to: text.width, inner: c.projector_hidden_size },
    ...{ act: c.projector_hidden_act, bias: c.projector_bias },
  });
  g.output('image_features', features, 'float32', ['rows', 'features', text.width]);
}

/** LFM2 that reads images through SigLIP 2, large ones tile by tile. modeling_lfm2_vl.py */
export const lfm2Vl = defineFamily({
  modelTypes: ['lfm2_vl'],
  readers: { prompts: { image: 'lfm2-vl' } },
  memory: { unmaskedVision: true },
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
