import { cells, edge, type Edges, type Json, numbers, positive } from './picture-fields.js';

/** What a part of a network holds while it computes, in numbers of 32 bits. Parts run one after the other. */
export interface Part {
  /** Of states, at the part's largest layer. */
  states: number;
  /**
   * What exports hold in addition: scores of a layer's attention and their softmax, which our graphs leave to a kernel that has
   * a block of them at a time, and stages that are joined before they are fused.
   */
  exported?: number;
}

/** What a layer of a transformer holds for each token: three times the inner width, six times its own. */
export const layerStates = (width: number, inner: number): number => 3 * inner + 6 * width;

/** Scores and their softmax. */
export const SCORES = 2;

/** Networks of convolutions without wide layers in between: what is read, the shortcut, what comes out. */
const CONVOLUTIONAL =
  /^(?:resnet|regnet|bit|mobilenet_v[12]|efficientnet|levit|vovnet|mobilevit|rt_detr_resnet|hgnet_v2)$/;
export const isConvolutional = ({ model_type: type }: Json): boolean => CONVOLUTIONAL.test(String(type));
export const CONVOLUTION = 3;

/** The first stage of networks of which nothing is known: 96 channels of every second pixel. */
export const unknownStages = (size: Edges): Part => ({ states: CONVOLUTION * 96 * cells(size, 2) });

/** Each stage has a cell for more pixels than the one before, and more numbers in it. */
export function stages(config: Json, size: Edges): Part[] {
  const widths = widthsOf(config);
  const first = firstStride(config);
  const [ratios, reductions] = [numbers(config['mlp_ratios']), numbers(config['sr_ratios'])];
  const heads = numbers(config['num_attention_heads'] ?? config['num_heads']);
  const found = widths.map((width, stage): Part => {
    const count = cells(size, first * 2 ** stage);
    if (isConvolutional(config)) return { states: CONVOLUTION * width * count };
    const ratio = ratios[stage] ?? positive(config['mlp_ratio']) ?? 4;
    const window = (positive(config['window_size']) ?? 0) ** 2;
    const seen = window || count / (reductions[stage] ?? count) ** 2;
    const [states, scores] = [layerStates(width, ratio * width), SCORES * count * seen * (heads[stage] ?? 0)];
    // Pairs of a window's tokens have a bias, with which our graphs hold all scores, too.
    return window ? { states: count * states + scores } : { states: count * states, exported: scores };
  });
  if (Array.isArray(config['embed_dim_per_stage'])) found.push(...poolings(widths, first, size));
  const stem = isConvolutional(config) ? positive(config['embedding_size']) : undefined;
  return stem ? [{ states: CONVOLUTION * stem * cells(size, 2) }, ...found] : found;
}

export const firstStride = (config: Json): number =>
  edge(config['patch_size']) ?? edge(config['patch_stride']) ?? edge(config['strides']) ?? 4;

/** Queries, keys and values: as they are projected, cut into heads, and in windows; and what stands beside them. */
const PROJECTED = 12;

/** Hiera's: a stage's first layer computes its wide queries, keys and values for all cells of the stage before, and pools them then. */
const poolings = (widths: readonly number[], first: number, size: Edges): Part[] =>
  widths.slice(1).map((width, stage) => ({ states: PROJECTED * width * cells(size, first * 2 ** stage) }));

/** Swin's widths double from stage to stage. */
export function widthsOf(config: Json): number[] {
  const [first, depths] = [positive(config['embed_dim']), numbers(config['depths'])];
  if (first && depths.length > 0) return depths.map((_, stage) => first * 2 ** stage);
  if (Array.isArray(config['embed_dim_per_stage'])) return numbers(config['embed_dim_per_stage']);
  return isStaged(config) ? numbers(config['hidden_sizes']) : [];
}

export const isStaged = (config: Json): boolean => isConvolutional(config) || Array.isArray(config['depths']);
