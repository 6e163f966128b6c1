import * as z from 'zod';
import { defineFamily } from '../family.js';
import { linear } from '../layers/linear.js';
import { modulatedNorm, type Modulation } from '../layers/adaptive-norm.js';
import { patches } from '../layers/patch-embed.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { layers, size } from '../config-fields.js';
import { channels } from './config.js';
import { type Joint, jointLayer } from './joint-layer.js';
import { fromPatches, patchGrid } from './patch-grid.js';
import { timeAndText } from './time.js';

const config = z.object({
  patch_size: z.int().min(1).max(64).default(2),
  ...{ in_channels: channels.default(16), out_channels: channels.nullable().default(16) },
  num_layers: layers.min(1).default(18),
  ...{ attention_head_dim: size.default(64), num_attention_heads: size.default(18) },
  ...{ joint_attention_dim: size.default(4096), caption_projection_dim: size.default(1152) },
  pooled_projection_dim: size.default(2048),
  pos_embed_max_size: z.int().min(1).max(4096).default(96),
  dual_attention_layers: z.array(z.int().min(0)).default([]),
  qk_norm: z.literal('rms_norm', 'norms of heads other than rms_norm are not known').nullish(),
});
type Config = z.output<typeof config>;

/** Positions of the middle of the table, as many as the image has patches: float32 [1, patches, width]. */
function positionsOf(
  g: GraphWriter,
  grid: Value,
  { pos_embed_max_size: most }: Config,
  width: number,
): Value {
  const stored = g.weight('pos_embed.pos_embed', [1, most * most, width]);
  const table = g.node('Reshape', [stored, g.ints([most, most, width])]);
  const start = g.node('Div', [g.node('Sub', [g.ints([most]), grid]), g.ints([2])]);
  const cut = g.node('Slice', [table, start, g.node('Add', [start, grid]), g.ints([0, 1])]);
  return g.node('Reshape', [cut, g.ints([1, -1, width])]);
}

function write(g: GraphWriter, c: Config): void {
  const { patch_size: edge, in_channels: from, num_attention_heads: heads, attention_head_dim } = c;
  const [width, out] = [heads * attention_head_dim, c.out_channels ?? from];
  if (c.caption_projection_dim !== width)
    throw new GraphError(`config.json: caption_projection_dim is not as wide as the heads, ${width}`);
  const sample = g.input('sample', 'float32', ['rows', from, 'height', 'width']);
  const time = g.input('timestep', 'float32', ['steps']);
  const texts = g.input('encoder_hidden_states', 'float32', ['rows', 'tokens', c.joint_attention_dim]);
  const pooled = g.input('pooled_projections', 'float32', ['rows', c.pooled_projection_dim]);
  const states = timeAndText(g, { time, pooled }, { width, pooledWidth: c.pooled_projection_dim });
  const by: Modulation = { states, from: width, width };
  const grid = patchGrid(g, sample, edge);
  const cells = { channels: from, width, patch: [edge, edge] as const };
  const { tokens } = patches(g, sample, 'pos_embed.proj', cells);
  let x: Joint = {
    sample: g.node('Add', [tokens, positionsOf(g, grid, c, width)]),
    context: linear(g, texts, 'context_embedder', { from: c.joint_attention_dim, to: width }),
  };
  for (let i = 0; i < c.num_layers; i++)
    x = jointLayer(g, x, `transformer_blocks.${i}`, {
      ...{ by, heads, headWidth: attention_head_dim, normed: c.qk_norm != null },
      ...{ isLast: i === c.num_layers - 1, isDual: c.dual_attention_layers.includes(i) },
    });
  const last = modulatedNorm(g, x.sample, 'norm_out', by);
  const found = linear(g, last, 'proj_out', { from: width, to: edge * edge * out });
  const noise = fromPatches(g, found, grid, { channels: out, edge, order: 'channels last' });
  g.output('out_sample', noise, 'float32', ['rows', out, 'height', 'width']);
}

/** Stable Diffusion 3 and 3.5. transformer_sd3.py of diffusers */
export const sd3 = defineFamily({
  modelTypes: ['SD3Transformer2DModel'],
  limits: [
    '`skip_guidance_layers`, `mu` and adapters are unknown parameters.',
    'Networks larger than memory are not split.',
  ],
  config,
  prefixes: [],
  heads: { 'text-to-image': { transformer: write } },
});
