import * as z from 'zod';
import { defineFamily } from '../../family.js';
import type { Decoder } from '../../bases/decoder/decoder.js';
import { embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import { softmaxChoices, stackedFeedForward } from '../../layers/moe.js';
import { rotaryConfig } from '../../layers/rope-frequencies.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { layerEndings } from '../../writer/weights.js';
import { size } from '../../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../../bases/decoder/llama-config.js';
import { llamaDecoder, type LlamaLike } from '../../bases/decoder/llama-decoder.js';
import { isMixed, mixedLayers } from '../../bases/decoder/mixed-layers.js';
import { interleavedAxes } from './interleaved-axes.js';
import { deepDecoder } from './deepstack-decoder.js';
import { AXES, QWEN_PARTS } from '../qwen2-vl/family.js';
import { deepLayers, type Vision3Config, vision3Config, writeDeepEncoder } from './vision.js';

const common = {
  ...llamaConfig,
  max_position_embeddings: rotaryConfig.max_position_embeddings.default(128_000),
  rope_theta: z.number().positive().default(5e6),
};

const textConfig = z.object({
  ...common,
  ...usualSizes({ vocabulary: 151_936, width: 4096, inner: 22_016, layers: 32, heads: 32 }),
  num_key_value_heads: size.nullable().default(32),
  head_dim: size.default(128),
});
type TextConfig = z.output<typeof textConfig>;

/** Pairs of time, height and width where the file does not say. */
const SECTIONS = [24, 20, 20];

function decoderOf(c: TextConfig, feedForward?: LlamaLike['feedForward']): Decoder {
  const sizes = llamaSizes(c);
  const rotary = { ...c, axes: interleavedAxes(c.rope_scaling ?? undefined, sizes.headWidth / 2, SECTIONS) };
  return llamaDecoder({
    ...{ ...sizes, headNorms: 'head', rotary: () => rotary },
    ...(feedForward ? { feedForward } : {}),
  });
}

/** Of its attention, as diffusers has them. */
const COSMOS_NAMES = layerEndings({
  ...{ '.self_attn.q_proj': '.self_attn.to_q', '.self_attn.k_proj': '.self_attn.to_k' },
  ...{ '.self_attn.v_proj': '.self_attn.to_v', '.self_attn.o_proj': '.self_attn.to_out' },
  ...{ '.self_attn.q_norm': '.self_attn.norm_q', '.self_attn.k_norm': '.self_attn.norm_k' },
});

interface Config<T> {
  text_config: T;
  vision_config: Vision3Config;
}

const configOf = <S extends z.ZodType>(text: S) =>
  z.object({ text_config: text, vision_config: vision3Config.prefault({}) });

const headsOf = <T>(model: (text: T) => Decoder) => ({
  'media-chat': {
    ...embeddedDecoderRoles<Config<T>>(
      (c) => deepDecoder(model(c.text_config), deepLayers(c.vision_config).length),
      { axes: AXES },
    ),
    vision_encoder: (g: GraphWriter, c: Config<T>) => writeDeepEncoder(g, c.vision_config),
  },
});

/** Qwen2-VL's like, whose first layers read features of their own. modeling_qwen3_vl.py */
export const qwen3Vl = defineFamily({
  modelTypes: ['qwen3_vl'],
  readers: { prompts: { image: 'qwen2-vl', video: 'qwen3-vl' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config: configOf(textConfig),
  ...{ prefixes: [], parts: QWEN_PARTS },
  heads: headsOf<TextConfig>((c) => decoderOf(c)),
});

const cosmosText = textConfig.extend({ rope_theta: z.number().positive().default(5e5) });

/** The same, in files that draw images, too, whose parts have other names. modeling_cosmos3_omni.py */
export const cosmos3Omni = defineFamily({
  modelTypes: ['cosmos3_omni'],
  readers: { prompts: { image: 'qwen2-vl', video: 'qwen3-vl' } },
  limits: ['Cosmos 3 answers about images and videos; what it draws and moves is not served.'],
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config: configOf(cosmosText),
  ...{ prefixes: [], older: COSMOS_NAMES },
  parts: { 'model.': [...QWEN_PARTS['model.'], ''], 'visual.': [...QWEN_PARTS['visual.'], ''] },
  heads: headsOf<TextConfig>((c) => decoderOf(c)),
});

const mixedConfig = z.object({
  ...common,
  ...usualSizes({ vocabulary: 151_936, width: 2048, inner: 5632, layers: 24, heads: 16 }),
  ...mixedLayers,
  num_key_value_heads: size.nullable().default(16),
  num_experts: mixedLayers.num_experts.default(60),
  num_experts_per_tok: z.int().min(1).max(1024).default(4),
  moe_intermediate_size: size.default(1408),
});
type MixedConfig = z.output<typeof mixedConfig>;

/** Files of version 5 have matrices as [rows, columns], older ones as [columns, rows]: a square one says nothing. */
function isTransposed(g: GraphWriter, name: string, { rows, columns }: Record<'rows' | 'columns', number>) {
  if (rows === columns)
    throw new GraphError(`config.json: ${name} is square, which may be stored either way round`);
  const [, first] = g.weights.shapeOf(name) ?? [];
  return first !== rows;
}

/** Experts in two tensors. */
function mixture(g: GraphWriter, x: Value, at: (name: string) => string, c: MixedConfig): Value {
  const { hidden_size: width, moe_intermediate_size: inner, hidden_act: act } = c;
  const size = { width, experts: c.num_experts, chosen: c.num_experts_per_tok };
  const [both, down] = [at('mlp.experts.gate_up_proj'), at('mlp.experts.down_proj')];
  const transposed = isTransposed(g, both, { rows: 2 * inner, columns: width });
  if (isTransposed(g, down, { rows: width, columns: inner }) !== transposed)
    throw new GraphError('config.json: its experts are stored one way round in part');
  return stackedFeedForward(g, x, {
    ...{ width, inner, act, transposed, both, down },
    choose: (tokens) => softmaxChoices(g, tokens, at('mlp.gate'), size),
  });
}

function mixedDecoder(c: MixedConfig): Decoder {
  const head = { ...c, head_dim: c.head_dim ?? Math.floor(c.hidden_size / c.num_attention_heads) };
  return decoderOf(head, (g, x, at, layer) => (isMixed(c, layer) ? mixture(g, x, at, c) : undefined));
}

/** The same with a mixture of experts. modeling_qwen3_vl_moe.py */
export const qwen3VlMoe = defineFamily({
  modelTypes: ['qwen3_vl_moe'],
  readers: { prompts: { image: 'qwen2-vl', video: 'qwen3-vl' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config: configOf(mixedConfig),
  ...{ prefixes: [], parts: QWEN_PARTS },
  heads: headsOf(mixedDecoder),
});
