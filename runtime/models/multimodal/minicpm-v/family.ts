import * as z from 'zod';
import { embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import { defineFamily } from '../../family.js';
import { named } from '../../inert-fields.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { joinedNeighbours } from '../idefics3.js';
import { languageModel, PARTS, withTie } from '../language-model.js';
import { pair, slicedImages, slicedStates } from './vision.js';

const fieldsOf = (mode: string) =>
  z.object({
    text_config: languageModel('qwen3_5_text'),
    vision_config: slicedImages.prefault({}),
    insert_layer_id: z.int().default(6),
    downsample_mode: z.string().default(mode),
    merge_kernel_size: pair.default([2, 2]),
    merger_times: z
      .literal(1, 'other than 1 leaves other numbers of features than there are tokens')
      .default(1),
  });
type Config = z.output<ReturnType<typeof fieldsOf>>;

/** Of the merger's norm. */
const EPSILON = 1e-6;
const EDGE = 2;

/** Patches are merged within the tower in all modes but this one. */
const merges = (c: Config): boolean => c.downsample_mode !== '4x';

/** `image_features` [features, width] of one slice. MiniCPMV4_6Merger */
function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: vision, text_config: text } = c;
  const { states, grid } = slicedStates(g, vision, merges(c) ? c.insert_layer_id : undefined);
  const width = vision.hidden_size;
  const from = EDGE * EDGE * width;
  const joined = joinedNeighbours(g, states, { grid, factor: EDGE, width });
  const read = g.node('Reshape', [joined, g.ints([-1, from])]);
  const at = (name: string) => `merger.mlp.0.${name}`;
  const normed = layerNorm(g, read, at('pre_norm'), { width: from, epsilon: EPSILON });
  const wide = g.node('Gelu', [linear(g, normed, at('linear_1'), { from, to: from })]);
  const features = linear(g, wide, at('linear_2'), { from, to: text.width });
  g.output('image_features', features, 'float32', ['features', text.width]);
}

/** What both types are. @param mode where the file names none @param tie whether the table is shared, where the file does not say */
const slicing = (mode: string, tie: boolean) => ({
  limits: ['Videos are refused.'],
  inert: [
    {
      fields: named('image_size', 'patch_size', 'drop_vision_last_layer'),
      reason: 'Python reads it nowhere',
    },
    { fields: named('insert_layer_id'), part: 'vision_config', reason: 'the outer one stands for it' },
  ],
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text' as const,
  config: z.preprocess((given) => withTie(given as object, tie), fieldsOf(mode)),
  prefixes: [],
  parts: { ...PARTS, 'merger.': ['model.merger.', 'merger.'] },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});

/** MiniCPM-V 4.6: Qwen3.5 that reads images slice by slice. modeling_minicpmv4_6.py */
export const minicpmV46 = defineFamily({
  modelTypes: ['minicpmv4_6'],
  readers: { prompts: { image: 'minicpm-v' } },
  ...slicing('16x', false),
});

/** The same with four times as many features. modeling_minicpm_ocr.py */
export const minicpmOcr = defineFamily({
  modelTypes: ['minicpm_ocr'],
  readers: { prompts: { image: 'minicpm-ocr' } },
  ...slicing('4x', true),
});
