import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { groupWidth, headWidth } from '../../layers/head-sizes.js';
import { linear } from '../../layers/linear.js';
import { headNorm, rmsNorm } from '../../layers/norm.js';
import { imageInput, patches, withTokens } from '../../layers/patch-embed.js';
import { preNormLayer, type PreNormNames } from '../../layers/pre-norm-layer.js';
import { centredTurns } from '../../layers/rope-2d.js';
import { rotate } from '../../layers/rope.js';
import { gatedHalves } from '../../layers/swiglu.js';
import { keyHeadsOf, type Sapiens2Config } from './config.js';

/** Names as checkpoints have them, which transformers renames when it reads them. */
const NAMES: PreNormNames = {
  attentionNorm: 'ln1',
  query: 'attn.wq',
  output: 'attn.proj',
  norm: 'ln2',
  wide: 'mlp.up_proj',
  narrow: 'ffn.w3',
};

export interface Encoded {
  /** float32 [rows, 1 + registers + patches, width], normed. */
  states: Value;
  /** int64 [2]: lines and columns of patches. */
  grid: Value;
}

/** A vision transformer like DINOv3, whose middle layers share keys and values among heads. */
export function sapiens2States(g: GraphWriter, c: Sapiens2Config): Encoded {
  const { hidden_size: width, num_register_tokens: registers, num_attention_heads: heads } = c;
  const { tokens, grid } = patches(g, imageInput(g, c.num_channels), 'patch_embed.projection', {
    ...{ channels: c.num_channels, width, patch: c.patch_size },
  });
  const learned = [g.weight('cls_token', [1, 1, width])];
  if (registers > 0) learned.push(g.weight('storage_tokens', [1, registers, width]));
  const rows = g.node('Shape', [tokens], { start: 0, end: 1 });
  const own = headWidth(width, heads);
  const turns = centredTurns(g, { grid, rows, learned: 1 + registers, width: own }, c.rope_theta);
  const turn = (x: Value) => rotate(g, x, turns, { heads, width: own });
  let x = withTokens(g, tokens, learned);
  for (let layer = 0; layer < c.num_hidden_layers; layer++) x = encoderLayer(g, x, c, { layer, turn });
  return { states: rmsNorm(g, x, 'ln1', { width, epsilon: c.rms_norm_eps }), grid };
}

function encoderLayer(
  g: GraphWriter,
  x: Value,
  c: Sapiens2Config,
  { layer, turn }: { layer: number; turn: (x: Value) => Value },
): Value {
  const at = (name: string) => `blocks.${layer}.${name}`;
  const [width, inner, bias] = [c.hidden_size, c.intermediate_size, c.mlp_bias];
  const sizes = { width, inner, heads: c.num_attention_heads, epsilon: c.rms_norm_eps, act: c.hidden_act };
  return preNormLayer(g, x, {
    ...{ ...sizes, names: NAMES, at, turn, norm: rmsNorm },
    biases: { output: c.proj_bias, feedForward: bias },
    project: (_, read) => projected(g, read, c, { layer, at }),
    scales: ['attn.gamma.weight'],
    feedForward: c.use_gated_mlp
      ? (_, read) => gatedHalves(g, read, { both: at('ffn.w12'), down: at(NAMES.narrow) }, { ...sizes, bias })
      : undefined,
  });
}

/** Queries, keys and values, those that several heads share said for each of them. */
function projected(
  g: GraphWriter,
  read: Value,
  c: Sapiens2Config,
  { layer, at }: { layer: number; at: (name: string) => string },
) {
  const { hidden_size: from, num_attention_heads: heads, rms_norm_eps: epsilon } = c;
  const [width, keyHeads] = [headWidth(from, heads), keyHeadsOf(c, layer)];
  const part = (
    name: string,
    norm: string | undefined,
    { count, bias }: { count: number; bias: boolean },
  ) => {
    const found = linear(g, read, at(`attn.${name}`), { from, to: count * width, bias });
    const isNormed = norm !== undefined && c.use_qk_norm;
    return isNormed ? headNorm(g, found, at(`attn.${norm}`), { heads: count, width, epsilon }) : found;
  };
  const each = (x: Value) => repeated(g, x, { keyHeads, heads, width });
  return {
    query: part('wq', 'q_norm', { count: heads, bias: c.query_bias }),
    key: each(part('wk', 'k_norm', { count: keyHeads, bias: c.key_bias })),
    value: each(part('wv', undefined, { count: keyHeads, bias: c.value_bias })),
  };
}

interface Shared {
  keyHeads: number;
  heads: number;
  width: number;
}

/** float32 [rows, tokens, keyHeads · width] -> [rows, tokens, heads · width] */
function repeated(g: GraphWriter, x: Value, { keyHeads, heads, width }: Shared): Value {
  const times = groupWidth(heads, keyHeads);
  if (times === 1) return x;
  const split = g.node('Reshape', [x, g.ints([0, 0, keyHeads, 1, width])]);
  const many = g.node('Expand', [split, g.ints([1, 1, 1, times, 1])]);
  return g.node('Reshape', [many, g.ints([0, 0, heads * width])]);
}
