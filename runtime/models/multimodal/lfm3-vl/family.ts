import * as z from 'zod';
import { embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import { size } from '../../config-fields.js';
import { defineFamily } from '../../family.js';
import { layerNorm } from '../../layers/norm.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { innerConfig } from '../inner-config.js';
import { languageModel, PARTS, withTie } from '../language-model.js';
import { projected } from '../projector.js';
import { lfm3Images, patchStates } from './vision.js';

const TOWER = 'lfm3_vl_vision';

const fields = z.object({
  text_config: languageModel('lfm3'),
  vision_config: innerConfig((type) => (type === TOWER ? lfm3Images : undefined), { usual: TOWER }),
  projector_hidden_act: z.string().default('gelu'),
  projector_hidden_size: size.default(4096),
  projector_bias: z.boolean().default(true),
});
type Config = z.output<typeof fields>;

const config = z.preprocess((given) => withTie(given as object), fields);

/** Of the projector's norm. */
const EPSILON = 1e-6;

/** `image_features` [features, width] of the patches of one image; inputs are as Qwen2-VL's. */
function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: vision, text_config: text } = c;
  const { hidden_size: width, spatial_merge_size: merge } = vision;
  const at = 'multi_modal_projector.layer_norm';
  const normed = layerNorm(g, patchStates(g, vision), at, { width, epsilon: EPSILON });
  const from = width * merge * merge;
  const cells = g.node('Reshape', [normed, g.ints([-1, from])]);
  const size = { from, to: text.width, inner: c.projector_hidden_size };
  const features = projected(g, cells, { ...size, act: c.projector_hidden_act, bias: c.projector_bias });
  g.output('image_features', features, 'float32', ['features', text.width]);
}

/** LFM3 that reads images of any size, through convolutions and attention in turn. modeling_lfm3_vl.py */
export const lfm3Vl = defineFamily({
  modelTypes: ['lfm3_vl'],
  readers: { prompts: { image: 'flat-patches' } },
  limits: ['Videos are not read.'],
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: PARTS,
  // What its makers called them.
  older: {
    ...{ '.g_proj.weight': '.gate_proj.weight', 'patch_embed.weight': 'patchifier.weight' },
    ...{ '.q_norm.weight': '.q_layernorm.weight', '.k_norm.weight': '.k_layernorm.weight' },
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
