import { type Family, defineFamily } from '../../family.js';
import { attention } from '../../layers/attention.js';
import { inProjections } from '../../layers/in-projections.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { gridPositions } from '../../layers/position-grid.js';
import { gridOf, resize, tokensOf } from '../../layers/patch-embed.js';
import { type Placed, placedParts } from '../../layers/detr-layer.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { maskOutputs, imageFeatures, queryMasks } from '../mask-queries.js';
import { type Mask2FormerConfig, mask2FormerConfig } from './config.js';
import { LEVELS, pixelImages } from './pixel-decoder.js';

const EPSILON = 1e-5;
/** Least float32: of what a query may not see. */
const LEAST = -3.4028234663852886e38;
const NAME = 'model.transformer_module.';

/** Where a query's mask of the layer before is, on a grid; queries whose mask is nowhere see everything: float32 [rows, 1, queries, cells]. */
function seenThrough(g: GraphWriter, masks: Value, grid: Value): Value {
  const rows = g.node('Shape', [masks], { start: 0, end: 2 });
  const smaller = resize(g, masks, g.node('Concat', [rows, grid], { axis: 0 }), { mode: 'linear' });
  const shares = g.node('Reshape', [g.node('Sigmoid', [smaller]), g.ints([0, 0, -1])]);
  const isNowhere = g.node('Less', [g.node('ReduceMax', [shares, g.ints([2])]), g.scalar(0.5)]);
  const isSeen = g.node('Or', [g.node('GreaterOrEqual', [shares, g.scalar(0.5)]), isNowhere]);
  return g.node('Unsqueeze', [g.node('Where', [isSeen, g.scalar(0), g.scalar(LEAST)]), g.ints([1])]);
}

interface Crossed {
  name: string;
  width: number;
  heads: number;
  bias: Value;
}

/** torch's MultiheadAttention of queries to cells. */
function crossed(g: GraphWriter, x: Placed, source: Placed, { name, width, heads, bias }: Crossed): Value {
  const project = inProjections(g, (of) => `${name}.${of}`, { width });
  const placed = (of: Placed) => g.node('Add', [of.x, of.positions]);
  const [asks, seen] = [placed(x), placed(source)];
  const [query, key, value] = [project(0, asks), project(1, seen), project(2, source.x)];
  const found = attention(g, { query, key, value }, { heads, width, bias });
  return linear(g, found, `${name}.out_proj`, { from: width, to: width });
}

/** Queries look at cells that their masks show, coarse images first, and at each other. */
function writeSegmenter(g: GraphWriter, c: Mask2FormerConfig): void {
  const { hidden_dim: width, num_attention_heads: heads, num_queries: queries } = c;
  const { images, positions } = pixelImages(g, imageFeatures(g, c.backbone_config), c);
  const rows = g.node('Shape', [positions], { start: 0, end: 1 });
  const table = (name: string) => g.weight(`${NAME}${name}.weight`, [queries, width]);
  const shape = g.node('Concat', [rows, g.ints([1, 1])], { axis: 0 });
  const ofLevels = g.weight(`${NAME}level_embed.weight`, [LEVELS, width]);
  const sources = images.map((image, level) => {
    const own = g.node('Gather', [ofLevels, g.ints([level], [])]);
    const grid = gridOf(g, image);
    return { grid, x: g.node('Add', [tokensOf(g, image), own]), positions: gridPositions(g, grid, width) };
  });
  const where = g.node('Unsqueeze', [table('queries_embedder'), g.ints([0])]);
  const norm = { width, epsilon: EPSILON };
  const ended = (x: Value) => layerNorm(g, x, `${NAME}decoder.layernorm`, norm);
  const masksOf = (states: Value) =>
    queryMasks(g, { states, positions }, `${NAME}decoder.mask_predictor.mask_embedder`, {
      ...{ width, features: c.mask_feature_size },
    });
  let x = g.node('Expand', [table('queries_features'), shape]);
  let states = ended(x);
  let masks = masksOf(states);
  for (let i = 0; i < c.decoder_layers - 1; i++) {
    const name = `${NAME}decoder.layers.${i}`;
    const source = sources[i % LEVELS]!;
    const { around, attend, feedForward } = placedParts(g, name, {
      ...{ ...norm, heads, inner: c.dim_feedforward, act: c.activation_function, normsBefore: c.pre_norm },
    });
    const bias = seenThrough(g, masks, source.grid);
    const looked = around(x, 'cross_attn_layer_norm', (read) =>
      crossed(g, { x: read, positions: where }, source, { name: `${name}.cross_attn`, width, heads, bias }),
    );
    x = feedForward(attend({ x: looked, positions: where }, 'self_attn'));
    states = ended(x);
    masks = masksOf(states);
  }
  maskOutputs(g, { states, masks }, { ...c, queries, width });
}

const segmentation: Family<Mask2FormerConfig>['heads'] = {
  'image-segmentation': { model: writeSegmenter },
};

/** modeling_mask2former.py */
export const mask2former = defineFamily({
  ...{
    modelTypes: ['mask2former'],
    readers: { processor: 'Mask2Former' },
    config: mask2FormerConfig,
    prefixes: ['model.'],
    heads: segmentation,
  },
});
