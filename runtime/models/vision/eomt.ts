import * as z from 'zod';
import { epsilon, labels, layers, size } from '../config-fields.js';
import { defineFamily, type Family } from '../family.js';
import { named } from '../inert-fields.js';
import { activation } from '../layers/activation.js';
import { convolution2d } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { channelNorm, layerNorm } from '../layers/norm.js';
import { imageInput, imageOf, patches, resize, tokensFrom, withTokens } from '../layers/patch-embed.js';
import { preNormLayer } from '../layers/pre-norm-layer.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { channels } from '../bases/vision/vit-config.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { swigluWidth } from './dinov2/family.js';
import { dinov3Encoder, dinov3Fields } from './dinov3.js';
import { maskOutputs } from './mask-queries.js';

const edge = z
  .int()
  .min(1)
  .max(2 ** 14);

/** What both networks have. */
const fields = {
  ...labels,
  hidden_size: size.default(1024),
  num_hidden_layers: layers.default(24),
  num_attention_heads: size.default(16),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: epsilon.default(1e-6),
  image_size: edge.default(640),
  patch_size: edge.default(16),
  num_channels: channels,
  num_register_tokens: z.int().min(0).max(4096).default(4),
  num_queries: size.default(200),
  num_blocks: z.int().min(1).max(1024).default(4),
  num_upscale_blocks: z.int().min(0).max(8).default(2),
};

type Fields = z.output<z.ZodObject<typeof fields>>;

const fitting = (c: Fields): boolean => c.num_blocks <= c.num_hidden_layers && c.patch_size <= c.image_size;
const UNFIT = { message: 'does not fit num_hidden_layers or image_size', path: ['num_blocks'] };

interface LayerOf {
  index: number;
  /** Queries before the other tokens. */
  queries: number;
  /** Added to scores. */
  bias: Value | undefined;
}

interface Encoder {
  /** float32 [rows, 1 + registers + patches, width] */
  tokens: Value;
  layer(x: Value, of: LayerOf): Value;
}

/** Of norms over channels. */
const EPSILON = 1e-6;
/** What hides a patch from a query. */
const HIDDEN = -1e9;

const gridEdge = (c: Fields): number => Math.floor(c.image_size / c.patch_size);
const imageOfEdge = (g: GraphWriter, c: Fields): Value =>
  imageInput(g, c.num_channels, [c.image_size, c.image_size]);

/** Patches at several times the edge: float32 [rows, width, lines, columns]. */
function enlarged(g: GraphWriter, image: Value, c: Fields): Value {
  const width = c.hidden_size;
  let x = image;
  for (let i = 0; i < c.num_upscale_blocks; i++) {
    const at = (name: string) => `upscale_block.block.${i}.${name}`;
    const inputs = [
      x,
      g.weight(at('conv1.weight'), [width, width, 2, 2]),
      g.weight(at('conv1.bias'), [width]),
    ];
    const twice = g.node('ConvTranspose', inputs, { kernel_shape: [2, 2], strides: [2, 2] });
    const each = { from: width, to: width, kernel: 3, groups: width, bias: false };
    const found = convolution2d(g, activation(g, twice, c.hidden_act), at('conv2'), each);
    x = channelNorm(g, found, at('layernorm2d'), { width, epsilon: EPSILON });
  }
  return x;
}

interface Predicted {
  /** float32 [rows, queries, width] */
  states: Value;
  /** float32 [rows, queries, lines, columns] */
  masks: Value;
}

function predicted(g: GraphWriter, x: Value, c: Fields): Predicted {
  const { hidden_size: width, num_queries: queries, num_register_tokens: registers } = c;
  const normed = layerNorm(g, x, 'layernorm', { width, epsilon: c.layer_norm_eps });
  const states = tokensFrom(g, normed, 0, queries);
  const edge = gridEdge(c);
  const image = imageOf(g, tokensFrom(g, normed, queries + 1 + registers), g.ints([edge, edge]));
  const large = enlarged(g, image, c);
  const vectors = ['fc1', 'fc2', 'fc3'].reduce((read, name, i) => {
    const sum = linear(g, read, `mask_head.${name}`, { from: width, to: width });
    return i === 2 ? sum : activation(g, sum, c.hidden_act);
  }, states);
  const found = g.node('MatMul', [vectors, g.node('Reshape', [large, g.ints([0, 0, -1])])]);
  const lines = edge * 2 ** c.num_upscale_blocks;
  return { states, masks: g.node('Reshape', [found, g.ints([0, 0, lines, lines])]) };
}

/**
 * Queries look at the patches of their own masks, in blocks that were trained so to the end; others see what those before them see:
 * float32 [1 or rows, 1, tokens, tokens].
 */
function maskBias(
  g: GraphWriter,
  x: Value,
  c: Fields,
  before: { block: number; bias: Value | undefined },
): Value {
  const { masks } = predicted(g, x, c);
  const [queries, edge] = [c.num_queries, gridEdge(c)];
  const rows = g.node('Shape', [masks], { start: 0, end: 1 });
  const sizes = g.node('Concat', [rows, g.ints([queries, edge, edge])], { axis: 0 });
  const small = g.node('Reshape', [resize(g, masks, sizes, { mode: 'linear' }), g.ints([0, 0, -1])]);
  const isSeen = g.node('Greater', [small, g.scalar(0)]);
  const ofPatches = g.node('Where', [isSeen, g.scalar(0), g.scalar(HIDDEN)]);
  const learned = 1 + c.num_register_tokens;
  const pads = g.ints([0, 0, queries + learned, 0, learned + edge * edge, 0]);
  const all = g.node('Unsqueeze', [g.node('Pad', [ofPatches, pads]), g.ints([1])]);
  const shares = g.weight('attn_mask_probs', [c.num_blocks]);
  const share = g.node('Gather', [shares, g.ints([before.block], [])]);
  const isMasked = g.node('Greater', [share, g.scalar(0)]);
  return g.node('Where', [isMasked, all, before.bias ?? g.scalar(0)]);
}

function writeSegments(g: GraphWriter, c: Fields, encoder: Encoder): void {
  const { hidden_size: width, num_queries: queries } = c;
  const first = c.num_hidden_layers - c.num_blocks;
  let x = encoder.tokens;
  let bias: Value | undefined;
  for (let index = 0; index < c.num_hidden_layers; index++) {
    if (index === first) {
      const table = g.node('Unsqueeze', [g.weight('query.weight', [queries, width]), g.ints([0])]);
      x = withTokens(g, x, [table]);
    }
    if (index >= first) bias = maskBias(g, x, c, { block: index - first, bias });
    x = encoder.layer(x, { index, queries: index < first ? 0 : queries, bias });
  }
  maskOutputs(g, predicted(g, x, c), { ...c, queries, width });
}

const eomtConfig = z
  .object({
    ...fields,
    mlp_ratio: z.number().min(0.01).max(64).default(4),
    use_swiglu_ffn: z.boolean().default(false),
  })
  .refine(fitting, UNFIT);
type EomtConfig = z.output<typeof eomtConfig>;

const NAMES = {
  ...{
    attentionNorm: 'norm1',
    query: 'attention.q_proj',
    key: 'attention.k_proj',
    value: 'attention.v_proj',
  },
  ...{ output: 'attention.out_proj', norm: 'norm2', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
};

function eomtEncoder(g: GraphWriter, c: EomtConfig): Encoder {
  const { hidden_size: width, num_register_tokens: registers } = c;
  const { tokens } = patches(g, imageOfEdge(g, c), 'embeddings.patch_embeddings.projection', {
    ...{ channels: c.num_channels, width, patch: [c.patch_size, c.patch_size] },
  });
  const count = gridEdge(c) ** 2;
  const placed = g.node('Add', [tokens, g.weight('embeddings.position_embeddings.weight', [count, width])]);
  const inner = Math.trunc(width * c.mlp_ratio);
  return {
    tokens: withTokens(g, placed, learnedTokens(g, width, registers)),
    layer(x, { index, bias }) {
      const at = (name: string) => `layers.${index}.${name}`;
      const gated = { width, inner: swigluWidth(inner), act: 'silu', bias: true };
      return preNormLayer(g, x, {
        ...{ width, inner, heads: c.num_attention_heads, epsilon: c.layer_norm_eps, act: c.hidden_act },
        ...{ names: NAMES, at, bias, scales: ['layer_scale1.lambda1', 'layer_scale2.lambda1'] },
        feedForward: c.use_swiglu_ffn
          ? (_, read) => gatedFeedForward(g, read, (name) => at(`mlp.${name}`), gated)
          : undefined,
      });
    },
  };
}

function learnedTokens(g: GraphWriter, width: number, registers: number): Value[] {
  const first = g.weight('embeddings.cls_token', [1, 1, width]);
  return registers === 0 ? [first] : [first, g.weight('embeddings.register_tokens', [1, registers, width])];
}

const limits = [
  'Python masks a share of the queries at random where a checkpoint says one between 0 and 1 (`attn_mask_probs`); here all of them are masked.',
];

const headsOf = <C extends Fields>(encoderOf: (g: GraphWriter, c: C) => Encoder): Family<C>['heads'] => ({
  'image-segmentation': { model: (g, c) => writeSegments(g, c, encoderOf(g, c)) },
});

/** Queries join the patches in the last layers. modeling_eomt.py */
export const eomt = defineFamily({
  modelTypes: ['eomt'],
  readers: { processor: 'Eomt' },
  limits,
  config: eomtConfig,
  prefixes: [],
  heads: headsOf<EomtConfig>(eomtEncoder),
});

const eomtDinov3Config = z
  .object({ ...dinov3Fields, ...fields, intermediate_size: size.default(4096) })
  .refine(fitting, UNFIT);
type EomtDinov3Config = z.output<typeof eomtDinov3Config>;

/** The same over DINOv3, whose heads are turned by the patches' positions. modeling_eomt_dinov3.py */
export const eomtDinov3 = defineFamily({
  modelTypes: ['eomt_dinov3'],
  inert: [
    {
      fields: named('pos_embed_(?:shift|jitter|rescale)'),
      reason: 'augmentation of positions, in training alone',
    },
  ],
  readers: { processor: 'Eomt' },
  limits,
  config: eomtDinov3Config,
  prefixes: [],
  heads: headsOf<EomtDinov3Config>((g, c) =>
    dinov3Encoder(g, c, { pixels: imageOfEdge(g, c), layers: 'layers' }),
  ),
});
