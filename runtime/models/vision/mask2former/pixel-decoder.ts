import { convolution2d } from '../../layers/convolution.js';
import { cellCounts, levelsOf } from '../../layers/deformable-attention.js';
import { groupedConvolution } from '../../layers/group-norm.js';
import { gridPositions } from '../../layers/position-grid.js';
import { imageOf, resize } from '../../layers/patch-embed.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { Features } from '../backbone/index.js';
import { cellLayer, cellShares } from '../deformable-levels.js';
import type { Mask2FormerConfig } from './config.js';

/** Images that queries look at, and positions that a cell looks at in each of them. */
export const [LEVELS, POINTS] = [3, 4];

export interface PixelImages {
  /** The coarse ones first: float32 [rows, width, lines, columns]. */
  images: Value[];
  /** What masks are made of: float32 [rows, mask features, lines, columns]. */
  positions: Value;
}

const NAME = 'model.pixel_level_module.decoder.';

/** Cells of the coarse images look around themselves in all of them; finer ones get what those know. */
export function pixelImages(g: GraphWriter, given: readonly Features[], c: Mask2FormerConfig): PixelImages {
  if (given.length < LEVELS)
    throw new GraphError('config.json: less than three stages of the backbone are read');
  const { feature_size: width, mask_feature_size: to } = c;
  const images = looked(g, given.toReversed().slice(0, LEVELS), c);
  // As many of the finest ones as lie between the strides.
  const stride = Math.min(...c.feature_strides.slice(-LEVELS));
  const finer = given.slice(0, Math.trunc(Math.log2(stride) - Math.log2(c.common_stride)));
  let finest = images.at(-1)!;
  for (const [i, { features, width: from }] of [...finer.entries()].toReversed()) {
    const own = { to: width, bias: false };
    const read = groupedConvolution(g, features, `${NAME}adapter_${i + 1}`, { ...own, from, kernel: 1 });
    const larger = resize(g, finest, g.node('Shape', [read]), { mode: 'linear' });
    const sum = g.node('Add', [read, larger]);
    const size = { ...own, from: width, kernel: 3, act: 'relu' };
    finest = groupedConvolution(g, sum, `${NAME}layer_${i + 1}`, size);
  }
  const positions = convolution2d(g, finest, `${NAME}mask_projection`, { from: width, to, kernel: 1 });
  return { images, positions };
}

function looked(g: GraphWriter, given: readonly Features[], c: Mask2FormerConfig): Value[] {
  const { feature_size: width } = c;
  const projected = given.map(({ features, width: from }, level) =>
    groupedConvolution(g, features, `${NAME}input_projections.${level}`, { from, to: width, kernel: 1 }),
  );
  const levels = levelsOf(g, projected);
  const table = g.weight(`${NAME}level_embed`, [LEVELS, width]);
  const together = (parts: readonly Value[]) => g.node('Concat', parts, { axis: 1 });
  const positions = together(
    levels.grids.map((grid, level) =>
      g.node('Add', [gridPositions(g, grid, width), g.node('Gather', [table, g.ints([level], [])])]),
    ),
  );
  const shares = together(levels.grids.map((grid) => cellShares(g, grid)));
  const middles = g.node('Unsqueeze', [shares, g.ints([2])]);
  let { tokens } = levels;
  for (let i = 0; i < c.encoder_layers; i++)
    tokens = cellLayer(
      g,
      tokens,
      { grids: levels.grids, positions, middles },
      {
        ...{ name: `${NAME}encoder.layers.${i}`, width, heads: c.num_attention_heads, points: POINTS },
        ...{ inner: c.encoder_feedforward_dim, act: 'relu', epsilon: 1e-5 },
      },
    );
  const parts = g.nodes('Split', [tokens, cellCounts(g, levels.grids)], {
    ...{ outputs: LEVELS, attributes: { axis: 1 } },
  });
  return parts.map((part, level) => imageOf(g, part, levels.grids[level]!));
}
