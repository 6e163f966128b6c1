import * as z from 'zod';
import { embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import { epsilon, size } from '../../config-fields.js';
import { defineFamily } from '../../family.js';
import { named } from '../../inert-fields.js';
import { linear } from '../../layers/linear.js';
import { layerNorm, plainHeadNorm } from '../../layers/norm.js';
import { gemma4UnifiedConfig } from '../../text/gemma4/unified.js';
import { keyLayers } from '../../text/gemma4/config.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { innerConfig } from '../inner-config.js';
import { withTie } from '../language-model.js';
import { decoderOverFeatures } from './language.js';
import {
  IMAGES_ALONE,
  mediaTokens,
  seesAhead,
  SOFT_TOKENS,
  textParts,
  tokensOf,
  withPadding,
} from './shared.js';
import { learnedPositions, patchInputs } from './patches.js';

const TEXT = 'gemma4_unified_text';
const EMBEDDER = 'gemma4_unified_vision';

const images = z.object({
  ...{
    patch_size: z.int().min(1).max(256).default(16),
    pooling_kernel_size: z.int().min(1).max(64).default(3),
  },
  ...{ mm_embed_dim: size.default(3840), output_proj_dims: size.default(3840) },
  mm_posemb_size: z
    .int()
    .min(1)
    .max(2 ** 20)
    .default(1120),
  rms_norm_eps: epsilon.default(1e-6),
});

const fields = z
  .object({
    text_config: innerConfig((type) => (type === TEXT ? gemma4UnifiedConfig : undefined), { usual: TEXT }),
    vision_config: innerConfig((type) => (type === EMBEDDER ? images : undefined), { usual: EMBEDDER }),
    ...mediaTokens,
  })
  .refine(...withPadding);
type Config = z.output<typeof fields>;

const config = z.preprocess((given) => withTie(given as object), fields);

/** Of the norms that are not the language model's. */
const EPSILON = 1e-5;

/** Features of images of one size, one for each square of patches: float32 [rows, features, width of the language model]. */
function writeEmbedder(g: GraphWriter, c: Config): void {
  const { vision_config: given, text_config: text } = c;
  const { mm_embed_dim: width, rms_norm_eps: epsilon } = given;
  if (given.output_proj_dims !== width)
    throw new GraphError('config.json: output_proj_dims is not mm_embed_dim');
  const edge = given.patch_size * given.pooling_kernel_size;
  const { pixels, numbers, positions } = patchInputs(g, edge);
  const at = (name: string) => `vision_embedder.${name}`;
  const read = layerNorm(g, pixels, at('patch_ln1'), { width: numbers, epsilon: EPSILON });
  const wide = linear(g, read, at('patch_dense'), { from: numbers, to: width, bias: true });
  const patches = layerNorm(g, wide, at('patch_ln2'), { width, epsilon: EPSILON });
  const tables = g.weight(at('pos_embedding'), [given.mm_posemb_size, 2, width]);
  const learned = learnedPositions(g, positions, (axis, ids) =>
    g.node('Gather', [g.node('Gather', [tables, ids]), g.ints([axis], [])], { axis: 1 }),
  );
  const placed = layerNorm(g, g.node('Add', [patches, learned]), at('pos_norm'), { width, epsilon: EPSILON });
  const normed = plainHeadNorm(g, placed, { heads: 1, width, epsilon });
  const size = { from: width, to: text.hidden_size, bias: false };
  const features = linear(g, normed, 'embed_vision.embedding_projection', size);
  g.output('image_features', features, 'float32', ['rows', 'features', text.hidden_size]);
}

/** Gemma 4 12B, which reads images without an encoder: pixels become features at once. modeling_gemma4_unified.py */
export const gemma4UnifiedMedia = defineFamily({
  modelTypes: ['gemma4_unified'],
  inert: [{ fields: named('audio_config'), reason: 'the frames of audio, which is refused' }],
  readers: { prompts: { image: 'gemma4-unified' } },
  limits: IMAGES_ALONE,
  memory: {
    unmaskedVision: true,
    keyLayers: (c: Config) => keyLayers(c.text_config),
    patches: () => SOFT_TOKENS,
  },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: {
    ...textParts,
    'vision_embedder.': ['model.vision_embedder.', 'vision_embedder.'],
    'embed_vision.': ['model.embed_vision.', 'embed_vision.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>(
        (c) => decoderOverFeatures(c.text_config, tokensOf(c)),
        (c) => ({ groups: seesAhead(c) ? 'everywhere' : undefined }),
      ),
      vision_encoder: writeEmbedder,
    },
  },
});
