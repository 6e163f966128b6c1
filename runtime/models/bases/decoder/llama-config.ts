import * as z from 'zod';
import { GraphError } from '../../writer/errors.js';
import { headWidth } from '../../layers/head-sizes.js';
import { rotaryConfig } from '../../layers/rope-frequencies.js';
import { epsilon, labelCount, labels, layers, size } from '../../config-fields.js';
import type { LlamaLike } from './llama-decoder.js';

/** Sizes that Python's classes take where a configuration leaves them out, as those inside of others do. */
export function usualSizes(usual: Record<'vocabulary' | 'width' | 'inner' | 'layers' | 'heads', number>) {
  return {
    vocab_size: size.default(usual.vocabulary),
    hidden_size: size.default(usual.width),
    intermediate_size: size.default(usual.inner),
    num_hidden_layers: layers.default(usual.layers),
    num_attention_heads: size.default(usual.heads),
  };
}

/** What configurations of this kind have in common, with Llama's defaults. */
export const llamaConfig = {
  ...labels,
  ...rotaryConfig,
  ...usualSizes({ vocabulary: 32_000, width: 4096, inner: 11_008, layers: 32, heads: 32 }),
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  hidden_act: z.string().default('silu'),
  rms_norm_eps: epsilon.default(1e-6),
  attention_bias: z.boolean().nullish(),
  tie_word_embeddings: z.boolean().default(false),
  pad_token_id: z.int().nullish(),
};

type Given = z.output<z.ZodObject<typeof llamaConfig>>;

/** The sizes of a configuration. */
export function llamaSizes(c: Given) {
  const heads = c.num_attention_heads;
  const biased = c.attention_bias === true;
  return {
    layers: c.num_hidden_layers,
    vocabulary: c.vocab_size,
    width: c.hidden_size,
    inner: c.intermediate_size,
    heads,
    keyHeads: c.num_key_value_heads ?? heads,
    headWidth: c.head_dim ?? headWidth(c.hidden_size, heads),
    epsilon: c.rms_norm_eps,
    act: c.hidden_act,
    tie: c.tie_word_embeddings,
    labels: labelCount(c),
    padId: c.pad_token_id ?? undefined,
    bias: { projections: biased, output: biased },
    rotary: () => c,
  } satisfies LlamaLike;
}

/** Fields that say which layers see a window only. */
export const windowConfig = {
  sliding_window: z.int().min(1).nullish(),
  layer_types: z.array(z.enum(['full_attention', 'sliding_attention'])).nullish(),
};

type Windows = z.output<z.ZodObject<typeof windowConfig>> & Pick<Given, 'num_hidden_layers'>;

/**
 * The window of a layer by `layer_types`, or where there is none by `slides`.
 * @throws GraphError where `layer_types` leaves out layers
 */
export function windowOf(
  { sliding_window, layer_types, num_hidden_layers }: Windows,
  slides: (layer: number) => boolean,
): (layer: number) => number | undefined {
  if (layer_types && layer_types.length < num_hidden_layers)
    throw new GraphError(
      `config.json: layer_types are ${layer_types.length} for ${num_hidden_layers} layers`,
    );
  return (layer) => {
    const sliding = layer_types ? layer_types[layer] === 'sliding_attention' : slides(layer);
    return sliding ? (sliding_window ?? undefined) : undefined;
  };
}
