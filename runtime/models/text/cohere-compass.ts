import * as z from 'zod';
import { cohereConfig, cohereSizes } from '../bases/decoder/interleaved-rope.js';
import { windowConfig, windowOf } from '../bases/decoder/llama-config.js';
import { llamaLike, type LlamaLike } from '../bases/decoder/llama-decoder.js';
import { defineFamily } from '../family.js';
import type { RotaryConfig } from '../layers/rope-frequencies.js';
import { GraphError } from '../writer/errors.js';

const scaling = z.record(z.string(), z.unknown()).nullish();
const none = z.null().optional();

export const compassConfig = z.object({
  ...cohereConfig,
  ...windowConfig,
  sliding_window: z.int().min(1).nullable().default(4096),
  logit_scale: z.number().nullable().default(null),
  ...{ rope_local_base_freq: z.number().positive().optional(), rope_local_scaling: scaling },
  partial_rotary_factor: z.null('is not known: heads turn whole').optional(),
  // Kinds of layers whose heads are not turned; hub files have the fields of others beside them, which Python leaves out.
  rope_parameters: z
    .object({
      ...{ full_attention: none, sliding_attention: none },
      ...{ rope_theta: z.unknown().optional(), rope_type: z.unknown().optional() },
    })
    .nullish(),
  pooling: z.literal('eos', 'of labels by other tokens than the last one are not known').nullish(),
});
export type CompassConfig = z.output<typeof compassConfig>;

/** How a layer's heads turn; undefined where they don't. @throws GraphError for a kind of layers that the file says nothing of */
function rotaryOf(c: CompassConfig, slides: boolean): RotaryConfig | undefined {
  const unturned = c.rope_parameters?.[slides ? 'sliding_attention' : 'full_attention'] === null;
  if (unturned) return undefined;
  if (!slides) return c;
  if (c.rope_local_base_freq !== undefined)
    return { ...c, rope_theta: c.rope_local_base_freq, rope_scaling: c.rope_local_scaling };
  throw new GraphError('config.json: rope_parameters has none for sliding_attention');
}

/** @param axes for each frequency the axis whose positions it turns by; absent where there is one */
export function compassModel(
  c: CompassConfig,
  axes?: (of: RotaryConfig, count: number) => readonly number[],
): LlamaLike {
  const sizes = cohereSizes({ ...c, logit_scale: c.logit_scale ?? 1 });
  return {
    ...{ ...sizes, interleaved: false },
    window: windowOf(c, () => false),
    rotary(layer) {
      const own = rotaryOf(c, c.layer_types?.[layer] === 'sliding_attention');
      return own && axes ? { ...own, axes: axes(own, sizes.headWidth / 2) } : own;
    },
  };
}

/** Cohere 2 whose heads turn by halves, by kind of layer. modeling_cohere_compass.py */
export const cohereCompassText = defineFamily({
  modelTypes: ['cohere_compass_text'],
  config: compassConfig,
  ...llamaLike<CompassConfig>((c) => compassModel(c)),
});
