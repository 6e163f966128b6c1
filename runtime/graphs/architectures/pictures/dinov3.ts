import * as z from 'zod';
import { type Architecture, defineArchitecture } from '../../architecture.js';
import { gatedFeedForward } from '../../blocks/gated-feed-forward.js';
import { headWidth } from '../../blocks/heads.js';
import { layerNorm } from '../../blocks/norm.js';
import { patches, pictureInput, withTokens } from '../../blocks/pictures.js';
import { preNormLayer, type PreNormNames } from '../../blocks/pre-norm-layer.js';
import { rotate, type Rotary } from '../../blocks/rotary.js';
import { firstToken } from '../../blocks/text-heads.js';
import { GraphError } from '../../errors.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { ELEMENTS } from '../../tensors.js';
import { epsilon, layers, size } from '../config.js';
import { channels } from './config.js';

const config = z.object({
  patch_size: z
    .int()
    .min(1)
    .max(2 ** 14)
    .default(16),
  hidden_size: size.default(384),
  intermediate_size: size.default(1536),
  num_hidden_layers: layers.default(12),
  num_attention_heads: size.default(6),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: epsilon.default(1e-5),
  rope_theta: z.number().min(1).max(1e9).default(100),
  num_channels: channels,
  query_bias: z.boolean().default(true),
  key_bias: z.boolean().default(false),
  value_bias: z.boolean().default(true),
  proj_bias: z.boolean().default(true),
  mlp_bias: z.boolean().default(true),
  use_gated_mlp: z.boolean().default(false),
  num_register_tokens: z.int().min(0).max(4096).default(0),
});
type Config = z.output<typeof config>;

const NAMES: PreNormNames = {
  attentionNorm: 'norm1',
  query: 'attention.q_proj',
  key: 'attention.k_proj',
  value: 'attention.v_proj',
  output: 'attention.o_proj',
  norm: 'norm2',
  wide: 'mlp.up_proj',
  narrow: 'mlp.down_proj',
};

const sizesOf = (c: Config) => ({
  width: c.hidden_size,
  inner: c.intermediate_size,
  heads: c.num_attention_heads,
  epsilon: c.layer_norm_eps,
  act: c.hidden_act,
});

interface Places {
  /** int64 [2]: patches of a column and of a line. */
  grid: Value;
  /** int64 [1] */
  rows: Value;
  /** Tokens before the patches, whose heads are not turned. */
  learnt: number;
  /** Of a head. */
  width: number;
}

/** Half of a head's pairs turn by the line of a patch, half by its column; both go from -1 to 1. */
function turnsOf(g: GraphWriter, { grid, rows, learnt, width }: Places, base: number): Rotary {
  if (width % 4 !== 0)
    throw new GraphError(`config.json: heads of width ${width} can't be turned on two axes`);
  const quarter = width / 4;
  const values = Array.from({ length: quarter }, (_, i) => 2 * Math.PI * base ** ((-4 * i) / width));
  const frequencies = g.floats(values);
  const whole = g.node('Concat', [grid, g.ints([quarter])], { axis: 0 });
  const parts = [0, 1].map((axis) => {
    const count = g.node('Gather', [grid, g.ints([axis], [])]);
    const float = (x: Value) => g.node('Cast', [x], { to: ELEMENTS.float32 });
    const numbers = float(g.node('Range', [g.ints([0], []), count, g.ints([1], [])]));
    const share = g.node('Div', [g.node('Add', [numbers, g.scalar(0.5)]), float(count)]);
    const place = g.node('Sub', [g.node('Mul', [share, g.scalar(2)]), g.scalar(1)]);
    const shaped = g.node('Reshape', [place, g.ints(axis === 0 ? [-1, 1, 1] : [1, -1, 1])]);
    return g.node('Expand', [g.node('Mul', [shaped, frequencies]), whole]);
  });
  const half = 2 * quarter;
  const ofPatches = g.node('Reshape', [g.node('Concat', parts, { axis: 2 }), g.ints([-1, half])]);
  const still = g.node('Expand', [g.scalar(0), g.ints([learnt, half])]);
  const angles = g.node('Concat', [still, ofPatches], { axis: 0 });
  const count = g.node('Squeeze', [g.node('Shape', [angles], { start: 0, end: 1 })]);
  const lines = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
  const shape = g.node('Concat', [rows, g.ints([1])], { axis: 0 });
  return {
    ...{ cosine: g.node('Cos', [angles]), sine: g.node('Sin', [angles]), width },
    lines: g.node('Expand', [lines, shape]),
  };
}

/** float32 [rows, tokens, width]: of the picture, of registers, of patches. */
function statesOf(g: GraphWriter, c: Config): Value {
  const sizes = sizesOf(c);
  const { width, heads } = sizes;
  const pixels = pictureInput(g, c.num_channels);
  const { tokens, grid } = patches(g, pixels, 'embeddings.patch_embeddings', {
    ...{ channels: c.num_channels, width, patch: [c.patch_size, c.patch_size] },
  });
  const registers = c.num_register_tokens;
  const named = [g.weight('embeddings.cls_token', [1, 1, width])];
  if (registers > 0) named.push(g.weight('embeddings.register_tokens', [1, registers, width]));
  let x = withTokens(g, tokens, named);
  const rows = g.node('Shape', [tokens], { start: 0, end: 1 });
  const own = headWidth(width, heads);
  const turns = turnsOf(g, { grid, rows, learnt: 1 + registers, width: own }, c.rope_theta);
  const bias = c.mlp_bias;
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (name: string) => `layer.${i}.${name}`;
    x = preNormLayer(g, x, {
      ...{ ...sizes, names: NAMES, at, scales: ['layer_scale1.lambda1', 'layer_scale2.lambda1'] },
      biases: {
        ...{ query: c.query_bias, key: c.key_bias, value: c.value_bias },
        ...{ output: c.proj_bias, feedForward: bias },
      },
      turn: (heading) => rotate(g, heading, turns, { heads, width: own }),
      feedForward: c.use_gated_mlp
        ? (_, read) => gatedFeedForward(g, read, (name) => at(`mlp.${name}`), { ...sizes, bias })
        : undefined,
    });
  }
  return layerNorm(g, x, 'norm', sizes);
}

const heads: Architecture<Config>['heads'] = {
  'image-features': {
    model: (g, c) => {
      const states = statesOf(g, c);
      g.output('last_hidden_state', states, 'float32', ['rows', 'tokens', c.hidden_size]);
      g.output('pooler_output', firstToken(g, states), 'float32', ['rows', c.hidden_size]);
    },
  },
};

/** modeling_dinov3_vit.py */
export const dinov3 = defineArchitecture({
  modelTypes: ['dinov3_vit'],
  config,
  prefixes: ['dinov3_vit.'],
  heads,
});
