import * as z from 'zod';
import { gatedFeedForward } from '../layers/swiglu.js';
import { headWidth } from '../layers/head-sizes.js';
import { rmsNorm } from '../layers/norm.js';
import { patches, imageInput } from '../layers/patch-embed.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { rotate, type Rotary, turns } from '../layers/rope.js';
import { rotaryFrequencies } from '../layers/rope-frequencies.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { layers, size } from '../config-fields.js';
import { channels } from '../bases/vision/vit-config.js';
import { linesAndColumns } from './patch-cells.js';

/** An encoder of images of any size, whose patches turn by their lines and columns. modeling_pixtral.py */

const edge = z
  .int()
  .min(1)
  .max(2 ** 14);

export const pixtralImages = z.object({
  ...{ hidden_size: size.default(1024), intermediate_size: size.default(4096) },
  ...{ num_hidden_layers: layers.default(24), num_attention_heads: size.default(16), num_channels: channels },
  ...{ image_size: edge.default(1024), patch_size: edge.default(16) },
  hidden_act: z.string().default('gelu'),
  rope_theta: z.number().positive().default(10_000),
});
type Config = z.output<typeof pixtralImages>;

export const PIXTRAL_EPSILON = 1e-5;

const NAMES: PreNormNames = {
  attentionNorm: 'attention_norm',
  query: 'attention.q_proj',
  key: 'attention.k_proj',
  value: 'attention.v_proj',
  output: 'attention.o_proj',
  norm: 'ffn_norm',
  wide: 'feed_forward.up_proj',
  narrow: 'feed_forward.down_proj',
};

/**
 * What the layers read of images, and what the last of so many gives, float32 [rows, patches, width] each; and lines and columns of
 * their patches, int64 [2].
 */
export function pixtralStates(g: GraphWriter, c: Config, count: number): { states: Value[]; grid: Value } {
  const { hidden_size: width, num_attention_heads: heads, intermediate_size: inner } = c;
  const { tokens, grid } = patches(g, imageInput(g, c.num_channels), 'vision_tower.patch_conv', {
    ...{ channels: c.num_channels, width, patch: [c.patch_size, c.patch_size], bias: false },
  });
  const turn = turnsOf(g, grid, c);
  const states = [rmsNorm(g, tokens, 'vision_tower.ln_pre', { width, epsilon: PIXTRAL_EPSILON })];
  for (let layer = 0; layer < count; layer++) {
    const at = (part: string) => `vision_tower.transformer.layers.${layer}.${part}`;
    states.push(
      preNormLayer(g, states.at(-1)!, {
        ...{ width, inner, heads, epsilon: PIXTRAL_EPSILON, act: c.hidden_act, names: NAMES, at },
        ...{ norm: rmsNorm, biases: { query: false, key: false, value: false, output: false } },
        turn: (x) => rotate(g, x, turn, { heads, width: headWidth(width, heads) }),
        feedForward: (_, x) =>
          gatedFeedForward(g, x, (name) => at(`feed_forward.${name}`), { width, inner, act: c.hidden_act }),
      }),
    );
  }
  return { states, grid };
}

/** Every second frequency turns by the line, the others by the column. */
function turnsOf(g: GraphWriter, grid: Value, c: Config): Rotary {
  const { values } = rotaryFrequencies(
    { rope_theta: c.rope_theta, max_position_embeddings: 1 },
    headWidth(c.hidden_size, c.num_attention_heads),
  );
  const half = values.length;
  const sorted = [0, 1].flatMap((axis) =>
    values.flatMap((value, i) => (i % 2 === axis ? [{ value, axis }] : [])),
  );
  const positions = linesAndColumns(g, { frames: g.ints([1]), cells: grid, merge: 1 });
  const chosen = g.node(
    'Gather',
    [...[g.node('Unsqueeze', [positions, g.ints([0])]), g.ints(sorted.map(({ axis }) => axis))]],
    { axis: 2 },
  );
  const frequencies = g.floats(
    sorted.map(({ value }) => value),
    [1, 1, half],
  );
  return turns(g, chosen, { frequencies, half });
}
