import * as z from 'zod';
import { defineFamily } from '../family.js';
import { attention } from '../layers/attention.js';
import { linear } from '../layers/linear.js';
import { rmsNorm } from '../layers/norm.js';
import { bucketBiasByRow, relativeBuckets } from '../layers/t5-relative-bias.js';
import { positionsOf, type TextInputs } from '../layers/text-inputs.js';
import { windowMask } from '../layers/window-mask.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { t5Config, type T5Layer, t5Model, type T5Parts } from '../bases/encoder-decoder/t5-model.js';
import { size } from '../config-fields.js';
import { ELEMENTS } from '../writer/tensors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const config = t5Config.extend({
  local_radius: size.default(127),
  /** Python counts blocks by sums of 1 / size, which are exact for powers of two. */
  global_block_size: size
    .refine((count) => Number.isInteger(Math.log2(count)), 'has to be a power of two')
    .default(16),
  encoder_attention_type: z.enum(['local', 'transient-global']).default('local'),
});
type Config = z.output<typeof config>;

/** Least number that is added to scores of what is not seen. */
const UNSEEN = -1e10;

interface Blocks {
  /** int64 [rows, tokens]: the block that a token is of, -1 for none. */
  own: Value;
  /** int64 [blocks]: 0, 1, 2, … */
  numbers: Value;
  /** bool [rows, blocks]: blocks that have tokens. */
  isUsed: Value;
}

/** Parts of a text of one length; what is left over belongs to the last one. */
function blocksOf(g: GraphWriter, { ids, mask }: TextInputs, length: number): Blocks {
  return g.once('blocks', () => {
    const positions = positionsOf(g, ids);
    const isText = g.node('Equal', [mask, g.ints([1], [])]);
    const nth = g.node('Div', [positions, g.ints([length], [])]);
    const isEnd = g.node('Equal', [
      g.node('Mod', [positions, g.ints([length], [])]),
      g.ints([length - 1], []),
    ]);
    const ends = g.node('Cast', [g.node('And', [isEnd, isText])], { to: ELEMENTS.int64 });
    const last = g.node('Sub', [g.node('ReduceSum', [ends, g.ints([1])], { keepdims: 1 }), g.ints([1], [])]);
    const given = g.node('Where', [isText, nth, g.ints([-1], [])]);
    const own = g.node('Min', [given, last]);
    const count = g.node('Div', [
      g.node('Squeeze', [g.node('Shape', [ids], { start: 1, end: 2 })]),
      g.ints([length], []),
    ]);
    const numbers = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
    return { own, numbers, isUsed: g.node('LessOrEqual', [numbers, last]) };
  });
}

/** The sums of what blocks hold, normed: float32 [rows, blocks, width]. */
function sumsOf(g: GraphWriter, read: Value, { name, inputs }: T5Layer, c: Config): Value {
  const { own, numbers } = blocksOf(g, inputs, c.global_block_size);
  const isOwn = g.once('tokens of blocks', () =>
    g.node(
      'Cast',
      [
        g.node('Equal', [
          g.node('Unsqueeze', [own, g.ints([1])]),
          g.node('Unsqueeze', [numbers, g.ints([1])]),
        ]),
      ],
      { to: ELEMENTS.float32 },
    ),
  );
  const size = { width: c.d_model, epsilon: c.layer_norm_epsilon };
  return rmsNorm(g, g.node('MatMul', [isOwn, read]), `${name}.global_input_layer_norm`, size);
}

/** What a block's distance from a token's own adds to scores: float32 [rows, heads, tokens, blocks]. */
function blockBias(g: GraphWriter, { inputs }: T5Layer, c: Config): Value {
  return g.once('bias of blocks', () => {
    const { own, numbers } = blocksOf(g, inputs, c.global_block_size);
    const distance = g.node('Sub', [numbers, g.node('Unsqueeze', [own, g.ints([2])])]);
    const count = c.relative_attention_num_buckets;
    const farthest = c.relative_attention_max_distance;
    const buckets = relativeBuckets(g, distance, { count, farthest, bothWays: true });
    const name = `encoder.block.0.layer.0.${GLOBAL}.global_relative_attention_bias.weight`;
    return bucketBiasByRow(g, buckets, g.weight(name, [count, c.num_heads]));
  });
}

const GLOBAL = 'TransientGlobalSelfAttention';

const nearBias = (g: GraphWriter, read: Value, { bias }: T5Layer, c: Config): Value =>
  g.once('bias of near tokens', () => g.node('Add', [bias, windowMask(g, read, c.local_radius, UNSEEN)]));

/** Tokens see their neighbours, and the sums of all blocks beside them. */
function attendBlocks(g: GraphWriter, read: Value, layer: T5Layer, c: Config): Value {
  const { query, key, value } = layer.project(read);
  const whole = c.num_heads * c.d_kv;
  const sums = sumsOf(g, read, layer, c);
  const both = (letter: string, own: Value) => {
    const size = { from: c.d_model, to: whole, bias: false };
    return g.node('Concat', [own, linear(g, sums, `${layer.name}.${letter}`, size)], { axis: 1 });
  };
  const bias = g.once('bias of all', () => {
    const seen = blocksOf(g, layer.inputs, c.global_block_size).isUsed;
    const mask = g.node('Where', [
      g.node('Unsqueeze', [seen, g.ints([1, 2])]),
      g.scalar(0),
      g.scalar(UNSEEN),
    ]);
    const [near, far] = [nearBias(g, read, layer, c), g.node('Add', [blockBias(g, layer, c), mask])];
    const rows = g.node('Shape', [far], { start: 0, end: 1 });
    const shape = g.node('Concat', [rows, g.node('Shape', [near], { start: 1 })], { axis: 0 });
    return g.node('Concat', [g.node('Expand', [near, shape]), far], { axis: 3 });
  });
  const padding = g.once('padding of all', () => {
    const seen = blocksOf(g, layer.inputs, c.global_block_size).isUsed;
    return g.node('Concat', [layer.inputs.padding, g.node('Cast', [seen], { to: ELEMENTS.int32 })], {
      axis: 1,
    });
  });
  return attention(
    g,
    { query, key: both('k', key), value: both('v', value) },
    { heads: c.num_heads, width: whole, scale: 1, padding, bias },
  );
}

function attendNear(g: GraphWriter, read: Value, layer: T5Layer, c: Config): Value {
  const sizes = { heads: c.num_heads, width: c.num_heads * c.d_kv, scale: 1 };
  const bias = nearBias(g, read, layer, c);
  return attention(g, layer.project(read), { ...sizes, padding: layer.inputs.padding, bias });
}

function partsOf(c: Config): T5Parts {
  const isLocal = c.encoder_attention_type === 'local';
  const attend = isLocal ? attendNear : attendBlocks;
  return {
    sharesTable: true,
    encoderAttention: {
      at: isLocal ? 'LocalSelfAttention' : GLOBAL,
      attend: (g, read, layer) => attend(g, read, layer, c),
    },
  };
}

/** T5 whose encoder attends to what is near, and to sums of what is far. modeling_longt5.py */
export const longt5 = defineFamily({
  modelTypes: ['longt5'],
  readers: { positions: 'distance' },
  usualTask: 'text2text-generation',
  limits: [
    'Memory grows with the square of a text: scores of all pairs are computed, and those beyond the windows are masked.',
  ],
  config,
  prefixes: [],
  heads: seq2seqHeads<Config>((c) => t5Model({ ...c, parts: partsOf(c) })),
});
