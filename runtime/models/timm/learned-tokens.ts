import { layerNorm } from '../layers/norm.js';
import { meanToken } from '../bases/vision/image-heads.js';
import { type Edges, patches, imageInput, tokensFrom, withTokens } from '../layers/patch-embed.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { inputEdges, shapeOf, type TimmConfig } from './config.js';

export interface Embedded {
  /** float32 [rows, tokens, width] */
  x: Value;
  width: number;
  /** Patches of a column and of a line. */
  grid: Edges;
  /** How many learned tokens stand before the patches. */
  learned: number;
}

const learnedShapes = (g: GraphWriter) =>
  ['cls_token', 'reg_token']
    .filter((name) => g.weights.has(name))
    .map((name) => ({ name, shape: shapeOf(g, name, 3) }));

/** How many tokens timm's vision transformers put before the patches. */
export const learnedCount = (g: GraphWriter): number =>
  learnedShapes(g).reduce((sum, { shape }) => sum + shape[1], 0);

/**
 * Patches of images of the size that config.json names, behind learned tokens. Positions are those of all tokens or of patches only,
 * as many as there are.
 * @throws GraphError where there are others
 */
export function embedded(g: GraphWriter, c: TimmConfig): Embedded {
  const [width, channels, patch] = shapeOf(g, 'patch_embed.proj.weight', 4);
  const edges = inputEdges(c);
  const grid = edges.map((edge) => Math.floor(edge / patch)) as [number, number];
  // Towers with a norm before their layers have no other bias.
  const size = { channels, width, patch: [patch, patch] as const, bias: !g.weights.has('norm_pre.weight') };
  const { tokens } = patches(g, imageInput(g, channels, edges), 'patch_embed.proj', size);
  const tables = learnedShapes(g);
  const learned = learnedCount(g);
  const named = tables.map(({ name, shape: [, count] }) => g.weight(name, [1, count, width]));
  const placed = (x: Value) => g.node('Add', [x, g.weight('pos_embed', [1, positions, width])]);
  const joined = (x: Value) => (learned === 0 ? x : withTokens(g, x, named));
  const found = { width, grid, learned };
  if (!g.weights.has('pos_embed')) return { ...found, x: joined(tokens) };
  const [, positions] = shapeOf(g, 'pos_embed', 3);
  const cells = grid[0] * grid[1];
  if (positions === cells) return { ...found, x: joined(placed(tokens)) };
  if (positions === cells + learned) return { ...found, x: placed(joined(tokens)) };
  const given = edges.join(' x ');
  throw new GraphError(
    `pos_embed has ${positions} places, but images of ${given}, as config.json has it, have ${cells} patches`,
  );
}

/** What labels are told by: float32 [rows, width] of the first token or the mean of all patches, and the norm behind it. */
export function pooledTokens(
  g: GraphWriter,
  x: Value,
  { isMean, epsilon }: { isMean: boolean; epsilon: number },
): Value {
  const [width] = g.weights.shapeOf('fc_norm.weight') ?? [];
  const pooled = isMean ? meanToken(g, tokensFrom(g, x, learnedCount(g))) : firstToken(g, x);
  return width === undefined ? pooled : layerNorm(g, pooled, 'fc_norm', { width, epsilon });
}
