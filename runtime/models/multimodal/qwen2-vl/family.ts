import * as z from 'zod';
import { defineFamily } from '../../family.js';
import { embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import { headWidth } from '../../layers/head-sizes.js';
import { rotaryConfig } from '../../layers/rope-frequencies.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { epsilon, size } from '../../config-fields.js';
import {
  llamaConfig,
  llamaSizes,
  usualSizes,
  windowConfig,
  windowOf,
} from '../../bases/decoder/llama-config.js';
import { llamaDecoder } from '../../bases/decoder/llama-decoder.js';
import {
  vision25Config,
  vision25Model,
  visionConfig,
  type VisionModel,
  visionModel,
  writePatchEncoder,
} from './vision.js';

export const textConfig = z.object({
  ...llamaConfig,
  ...windowConfig,
  ...usualSizes({ vocabulary: 152_064, width: 8192, inner: 29_568, layers: 80, heads: 64 }),
  num_key_value_heads: size.nullable().default(8),
  head_dim: z
    .unknown()
    .optional()
    .transform(() => undefined),
  max_position_embeddings: rotaryConfig.max_position_embeddings.default(32_768),
  rms_norm_eps: epsilon.default(1e-5),
  rope_theta: z.number().positive().default(1e6),
  use_sliding_window: z.boolean().default(false),
  sliding_window: z.int().min(1).nullable().default(4096),
  max_window_layers: z.int().min(0).default(80),
});
export type TextConfig = z.output<typeof textConfig>;

const sections = z.array(z.int().min(0).max(1024)).length(3);

/**
 * For each frequency the axis whose positions it turns by: time, height and width one after the other.
 * @param usual sections where the file does not say
 * @throws GraphError where the sections are not as many as the frequencies
 */
export function sectionAxes(
  { rope_scaling }: Pick<TextConfig, 'rope_scaling'>,
  width: number,
  usual?: readonly number[],
): number[] {
  const given = sections.safeParse(rope_scaling?.['mrope_section'] ?? usual);
  const axes = (given.data ?? []).flatMap((count, axis) => Array.from({ length: count }, () => axis));
  if (axes.length === width / 2) return axes;
  throw new GraphError(
    `config.json: rope_scaling.mrope_section does not part ${width / 2} frequencies in three`,
  );
}

/** @param usual pairs of time, height and width where the file does not say */
export function decoderOf(c: TextConfig, usual?: readonly number[]) {
  const width = headWidth(c.hidden_size, c.num_attention_heads);
  const rotary = { ...c, axes: sectionAxes(c, width, usual) };
  return llamaDecoder({
    ...llamaSizes(c),
    bias: { projections: true },
    rotary: () => rotary,
    window: windowOf(
      { ...c, sliding_window: c.use_sliding_window ? c.sliding_window : null },
      (layer) => layer >= c.max_window_layers,
    ),
  });
}

/** Older files have the language model's fields among the others. */
export const textBeside = <S extends z.ZodType>(schema: S) =>
  z.preprocess((given) => {
    const fields = given as Record<string, unknown>;
    return { text_config: fields['text_config'] ?? fields, vision_config: fields['vision_config'] ?? {} };
  }, schema);

const configOf = <V extends z.ZodType>(vision: V) =>
  textBeside(z.object({ text_config: textConfig, vision_config: vision }));

interface Config<V> {
  text_config: TextConfig;
  vision_config: V;
}

/** Positions are counted over time, height and width. */
export const AXES = 3;

export const QWEN_PARTS = {
  'model.': ['model.language_model.', 'model.', 'language_model.'],
  'visual.': ['model.visual.', 'visual.'],
};

const headsOf = <V>(modelOf: (vision: V, text: TextConfig) => VisionModel) => ({
  'media-chat': {
    ...embeddedDecoderRoles<Config<V>>((c) => decoderOf(c.text_config), { axes: AXES }),
    vision_encoder: (g: GraphWriter, c: Config<V>) =>
      writePatchEncoder(g, modelOf(c.vision_config, c.text_config)),
  },
});

/** A language model that reads patches of images and videos of any size, at their positions. modeling_qwen2_vl.py */
export const qwen2Vl = defineFamily({
  modelTypes: ['qwen2_vl'],
  readers: { prompts: { image: 'qwen2-vl', video: 'qwen2-vl' } },
  usualTask: 'image-text-to-text',
  config: configOf(visionConfig),
  ...{ prefixes: [], parts: QWEN_PARTS },
  heads: headsOf(visionModel),
});

/** The same with windows in most layers of the encoder. modeling_qwen2_5_vl.py */
export const qwen25Vl = defineFamily({
  modelTypes: ['qwen2_5_vl'],
  readers: { prompts: { image: 'qwen2-vl', video: 'qwen2-5-vl' } },
  usualTask: 'image-text-to-text',
  config: configOf(vision25Config),
  ...{ prefixes: [], parts: QWEN_PARTS },
  heads: headsOf(vision25Model),
});
