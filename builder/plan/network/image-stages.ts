import type { ImagePart } from '../../../runtime/core/network.js';
import { edge, type Json, numbers, positive } from './config-fields.js';
import { traitsOf } from './traits.js';

/** What a layer of a transformer holds for each token: three times the inner width, six times its own. */
export const layerStates = (width: number, inner: number): number => 3 * inner + 6 * width;

/** Scores and their softmax. */
export const SCORES = 2;

export const isConvolutional = (config: Json): boolean => traitsOf(config).convolutional === true;
/** What a convolution reads, the shortcut, what comes out. */
export const CONVOLUTION = 3;

/** The first stage of networks of which nothing is known: 96 channels of every second pixel. */
export const UNKNOWN: ImagePart = { strides: [2], states: CONVOLUTION * 96 };

/** Each stage has a cell for more pixels than the one before, and more numbers in it. */
export function stages(config: Json): ImagePart[] {
  const widths = widthsOf(config);
  const first = firstStride(config);
  const [ratios, reductions] = [numbers(config['mlp_ratios']), numbers(config['sr_ratios'])];
  const heads = numbers(config['num_attention_heads'] ?? config['num_heads']);
  const found = widths.map((width, stage): ImagePart => {
    const strides = [first * 2 ** stage];
    if (isConvolutional(config)) return { strides, states: CONVOLUTION * width };
    const ratio = ratios[stage] ?? positive(config['mlp_ratio']) ?? 4;
    const states = layerStates(width, ratio * width);
    const scores = SCORES * (heads[stage] ?? 0);
    const window = (positive(config['window_size']) ?? 0) ** 2;
    // Pairs of a window's tokens have a bias, with which our graphs hold all scores, too.
    if (window) return { strides, states: states + scores * window };
    const reduction = reductions[stage];
    return reduction ? { strides, states, exportedPairs: scores / reduction ** 2 } : { strides, states };
  });
  if (Array.isArray(config['embed_dim_per_stage'])) found.push(...poolings(widths, first));
  const stem = isConvolutional(config) ? positive(config['embedding_size']) : undefined;
  return stem ? [{ strides: [2], states: CONVOLUTION * stem }, ...found] : found;
}

export const firstStride = (config: Json): number =>
  edge(config['patch_size']) ?? edge(config['patch_stride']) ?? edge(config['strides']) ?? 4;

/** Queries, keys and values: as they are projected, cut into heads, and in windows; and what stands beside them. */
const PROJECTED = 12;

/** Hiera's: a stage's first layer computes its wide queries, keys and values for all cells of the stage before, and pools them then. */
const poolings = (widths: readonly number[], first: number): ImagePart[] =>
  widths.slice(1).map((width, stage) => ({ strides: [first * 2 ** stage], states: PROJECTED * width }));

/** Swin's widths double from stage to stage. */
export function widthsOf(config: Json): number[] {
  const [first, depths] = [positive(config['embed_dim']), numbers(config['depths'])];
  if (first && depths.length > 0) return depths.map((_, stage) => first * 2 ** stage);
  if (Array.isArray(config['embed_dim_per_stage'])) return numbers(config['embed_dim_per_stage']);
  return isStaged(config) ? numbers(config['hidden_sizes']) : [];
}

export const isStaged = (config: Json): boolean => isConvolutional(config) || Array.isArray(config['depths']);
