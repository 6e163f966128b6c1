import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { epsilon } from '../config-fields.js';
import { languageModel, PARTS } from './language-model.js';
import { withNormEpsilon, writeMergedFeatures } from './merged-patches.js';
import { imageEncoder } from './image-tower.js';

/** What Python's class takes for parts that are left out. */
const TEXT = {
  ...{ head_dim: 128, hidden_size: 1024, intermediate_size: 3072, max_position_embeddings: 40_960 },
  ...{ num_attention_heads: 16, num_hidden_layers: 28, num_key_value_heads: 8, rms_norm_eps: 1e-6 },
  ...{ rope_theta: 1e6, sliding_window: null, vocab_size: 151_936, tie_word_embeddings: true },
};
const IMAGES = { patch_size: 14, image_size: 1540, hidden_act: 'silu' };

const fields = z.object({
  text_config: languageModel('qwen3', TEXT),
  /** That of the language model's norms. */
  norm_eps: epsilon.default(1e-6),
  vision_config: imageEncoder('pixtral', IMAGES),
  spatial_merge_size: z.int().min(1).max(64).default(2),
});
type Config = z.output<typeof fields>;

/** The outer field says whether the table is shared; where there is none, it is. */
function withTie(given: object): object {
  const { text_config: text, tie_word_embeddings: tie = true } = given as {
    text_config?: object | null;
    tie_word_embeddings?: unknown;
  };
  return text ? { ...given, text_config: { tie_word_embeddings: tie, ...text } } : given;
}

const config = z.preprocess((given) => withTie(withNormEpsilon(given, TEXT)), fields);

function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: tower, text_config: text, spatial_merge_size: edge } = c;
  writeMergedFeatures(g, {
    ...{ tower, to: text.width, edge, number: tower.layers, leavesOut: true },
    ...{ epsilon: c.norm_eps, act: 'gelu', bias: false },
  });
}

const part = (name: string): string[] => [`model.${name}`, name];

/** Pixtral's encoder, squares of its patches as one, and Qwen 3. modeling_lighton_ocr.py */
export const lightonOcr = defineFamily({
  modelTypes: ['lighton_ocr'],
  readers: { prompts: { image: 'lighton-ocr' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: {
    ...PARTS,
    ...{ 'vision_tower.': part('vision_encoder.'), 'multi_modal_projector.': part('vision_projection.') },
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
