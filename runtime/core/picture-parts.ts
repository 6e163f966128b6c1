import type { ModelSpec } from './spec.js';

/** In pixels. */
export interface Edges {
  height: number;
  width: number;
}

export type Json = Readonly<Record<string, unknown>>;

/** Bytes of a run, over a graph of ours, and over an export. */
export interface RunBytes {
  own: number;
  exported: number;
}

/** The bytes that count for the graph that is served. */
export const bytesForGraph = ({ written }: Pick<ModelSpec, 'written'>, run: RunBytes): number =>
  written ? run.own : run.exported;

const FLOAT = 4;
/** Fragmentation of the arena, as in run-memory.ts. */
const GAPS = 1.25;

/**
 * Bytes of the run of a network for pictures. The factors are measured on networks of real size with random weights
 * (bench/picture-memory.mjs, docs/measurements.md). Used by `builder plan` and by the server's admission.
 * @param config config.json
 * @param size of what the network reads
 */
export function pictureRunBytes(config: Json, size: Edges): RunBytes {
  const { parts } = networkParts(config, size);
  const bytes = (held: (part: Part) => number) => Math.round(GAPS * FLOAT * Math.max(...parts.map(held)));
  return {
    own: bytes(({ states }) => states),
    exported: bytes(({ states, exported = 0 }) => states + exported),
  };
}

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

/** Numbers beside a run. */
export interface NetworkParts {
  parts: Part[];
  /** Largest output. */
  output: number;
  /** Constants that are computed when a session is opened: positions of pairs of tokens. */
  folded: number;
  /** Convolutions whose norms become part of their weights: weights are there three times for a moment. */
  convolutional: boolean;
}

/**
 * Reads which parts a network for pictures has, from the fields of config.json, so that a new family is mostly known by what
 * it shares with others: a transformer over patches, stages that halve the picture, a neck or decoder behind them, queries.
 * @param size of what the network reads
 */
export function networkParts(config: Json, size: Edges): NetworkParts {
  const inner = innerConfig(config);
  const towers = [config, ...inner];
  const parts = towers.flatMap((each) => [...tower(each, size), ...stages(each, size), ...heads(each, size)]);
  return {
    parts: parts.length > 0 ? parts : [unknownStages(size)],
    output: outputs(config, size),
    folded: Math.max(0, ...towers.map((each) => foldedBias(each, size))),
    convolutional: towers.some(isConvolutional) || parts.length === 0,
  };
}

/** Where configurations hold those of networks that they are made of. */
const INNER = ['backbone_config', 'vision_config', 'encoder', 'patch_model_config'];

function innerConfig(config: Json): Json[] {
  const own = INNER.map((name) => config[name]).filter(isObject);
  const deeper = own.map(({ backbone_config: backbone }) => backbone).filter(isObject);
  // timm's are only named.
  const named = config['use_timm_backbone'] !== false && positive(config['d_model']) && own.length === 0;
  return named ? [RESNET_50] : [...own, ...deeper];
}

const RESNET_50: Json = { model_type: 'resnet', hidden_sizes: [256, 512, 1024, 2048], embedding_size: 64 };

/** What a layer of a transformer holds for each token: three times the inner width, six times its own. */
const layerStates = (width: number, inner: number): number => 3 * inner + 6 * width;

/** Scores and their softmax. */
const SCORES = 2;

function tower(config: Json, size: Edges): Part[] {
  const [width, tokens] = [positive(config['hidden_size']), tokensOf(config, size)];
  if (!width || !tokens || Array.isArray(config['depths'])) return [];
  const inner =
    positive(config['intermediate_size'] ?? config['mlp_dim']) ??
    width * (positive(config['mlp_ratio']) ?? 4);
  return [
    { states: tokens * layerStates(width, inner), exported: SCORES * headsOf(config, width) * tokens ** 2 },
  ];
}

/** Patches, and what is learnt beside them; of films those of each few frames. */
function tokensOf(config: Json, size: Edges): number | undefined {
  const tubelet = numbers(config['tubelet_size']);
  const patch = edge(config['patch_size']) ?? tubelet[1];
  if (!patch) return undefined;
  const learnt = positive(config['num_detection_tokens']) ?? positive(config['num_queries']) ?? 0;
  const steps = Math.ceil(framesOf(config) / (edge(config['tubelet_size']) ?? 1));
  return steps * cells(size, patch) + 1 + learnt;
}

/** Frames of a film; 1 for pictures. */
export const framesOf = (config: Json): number => positive(config['num_frames']) ?? 1;

/** Of a head of transformers for pictures where nothing is said. */
const HEAD_WIDTH = 64;
const headsOf = (config: Json, width: number): number =>
  positive(config['num_attention_heads']) ?? Math.ceil(width / HEAD_WIDTH);

/** BEiT's table of each layer for all pairs of tokens. */
function foldedBias(config: Json, size: Edges): number {
  const [width, tokens] = [positive(config['hidden_size']), tokensOf(config, size)];
  if (config['use_relative_position_bias'] !== true || !width || !tokens) return 0;
  return (positive(config['num_hidden_layers']) ?? 12) * headsOf(config, width) * tokens ** 2;
}

/** Networks of convolutions without wide layers in between: what is read, the shortcut, what comes out. */
const CONVOLUTIONAL =
  /^(?:resnet|regnet|bit|mobilenet_v[12]|efficientnet|levit|vovnet|mobilevit|rt_detr_resnet|hgnet_v2)$/;
const isConvolutional = ({ model_type: type }: Json): boolean => CONVOLUTIONAL.test(String(type));
const CONVOLUTION = 3;

/** The first stage of networks of which nothing is known: 96 channels of every second pixel. */
const unknownStages = (size: Edges): Part => ({ states: CONVOLUTION * 96 * cells(size, 2) });

/** Each stage has a cell for more pixels than the one before, and more numbers in it. */
function stages(config: Json, size: Edges): Part[] {
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

const firstStride = (config: Json): number =>
  edge(config['patch_size']) ?? edge(config['patch_stride']) ?? edge(config['strides']) ?? 4;

/** Queries, keys and values: as they are projected, cut into heads, and in windows; and what stands beside them. */
const PROJECTED = 12;

/** Hiera's: a stage's first layer computes its wide queries, keys and values for all cells of the stage before, and pools them then. */
const poolings = (widths: readonly number[], first: number, size: Edges): Part[] =>
  widths.slice(1).map((width, stage) => ({ states: PROJECTED * width * cells(size, first * 2 ** stage) }));

/** Swin's widths double from stage to stage. */
function widthsOf(config: Json): number[] {
  const [first, depths] = [positive(config['embed_dim']), numbers(config['depths'])];
  if (first && depths.length > 0) return depths.map((_, stage) => first * 2 ** stage);
  if (Array.isArray(config['embed_dim_per_stage'])) return numbers(config['embed_dim_per_stage']);
  return isStaged(config) ? numbers(config['hidden_sizes']) : [];
}

const isStaged = (config: Json): boolean => isConvolutional(config) || Array.isArray(config['depths']);

/** Numbers of a map of features that is computed from another one of its size: both, in two layouts. */
const MAP = 4;

/** What stands behind a backbone, and turns its features into pixels, queries or both. */
function heads(config: Json, size: Edges): Part[] {
  const field = (...names: string[]) => names.map((name) => positive(config[name])).find(Boolean);
  const found: Part[] = [];
  const fused = field('fusion_hidden_size');
  // DPT's: half of the channels, in the size of the picture.
  if (fused) found.push({ states: CONVOLUTION * Math.floor(fused / 2) * cells(size, 1) });
  if (isPyramid(config)) found.push(pyramidPart(config, size));
  const decoder = field('decoder_hidden_size');
  if (decoder && isStaged(config)) found.push(stageDecoder(config, size, decoder));
  const [wide, patch, doublings] = [
    field('hidden_size'),
    edge(config['patch_size']),
    field('num_upscale_blocks'),
  ];
  // EoMT's: all channels of the patches, each of which becomes pixels of masks.
  if (wide && patch && doublings)
    found.push({ states: CONVOLUTION * wide * cells(size, patch / 2 ** doublings) });
  const masks = field('mask_feature_size', 'fpn_feature_size');
  if (masks) found.push({ states: MAP * masks * cells(size, 4) });
  const width = field('d_model', 'encoder_hidden_dim') ?? masks;
  if (width && !field('patch_size')) found.push(queryPart(config, size, width));
  return found;
}

/** GLPN decodes to the size of the picture, SegFormer to that of the first stage, to which exports enlarge all others. */
function stageDecoder(config: Json, size: Edges, width: number): Part {
  if (config['model_type'] === 'glpn') return { states: CONVOLUTION * width * cells(size, 1) };
  const map = width * cells(size, 4);
  return { states: MAP * map, exported: 2 * (numbers(config['depths']).length - 1) * map };
}

/** UperNet's head. */
const isPyramid = ({ model_type: type }: Json): boolean => type === 'upernet';

/** All stages in the size of the first one, and the same joined, which become one map. */
function pyramidPart(config: Json, size: Edges): Part {
  const [backbone = RESNET_50] = innerConfig(config);
  const maps = 2 * Math.max(1, widthsOf(backbone).length) + 1;
  return { states: maps * (positive(config['hidden_size']) ?? 512) * cells(size, firstStride(backbone)) };
}

/** Samples of a level before and after they are weighted; exports join those of all levels, and weight them in part. */
const [SAMPLED, JOINED] = [2, 2.5];

/** DETR's encoder over the last stage; where it is deformable, over several. */
function queryPart(config: Json, size: Edges, width: number): Part {
  const inner =
    positive(config['encoder_ffn_dim']) ?? positive(config['encoder_feedforward_dim']) ?? 4 * width;
  const levels = levelsOf(config);
  if (!levels) {
    const tokens = cells(size, 32);
    return { states: tokens * layerStates(width, inner), exported: SCORES * 8 * tokens ** 2 };
  }
  const tokens = Array.from({ length: levels }, (_, i) => cells(size, 8 * 2 ** i)).reduce((a, b) => a + b);
  // Of each level a token reads some points.
  const points = positive(config['encoder_n_points']) ?? 4;
  const whole = (samples: number) =>
    tokens * Math.max(layerStates(width, inner), layerStates(width, 0) + samples * width);
  // Our graphs sample level by level, and add up what was seen in each.
  const states = whole(SAMPLED * points + levels);
  return { states, exported: Math.max(0, whole(JOINED * points * levels) - states) };
}

/** Levels whose tokens are all encoded: RT-DETR's are not, Mask2Former's are all but the finest. */
function levelsOf(config: Json): number {
  if (Array.isArray(config['encode_proj_layers'])) return 0;
  const strides = positive(config['mask_feature_size']) ? numbers(config['feature_strides']).length - 1 : 0;
  return Math.max(0, Math.min(8, positive(config['num_feature_levels']) ?? strides));
}

/** Numbers of the largest output: depths, classes of pixels, masks. */
function outputs(config: Json, size: Edges): number {
  if (positive(config['fusion_hidden_size']) || config['model_type'] === 'glpn') return cells(size, 1);
  const labels = isObject(config['id2label']) ? Object.keys(config['id2label']).length : 2;
  if (isPyramid(config)) return labels * cells(size, 1);
  if (positive(config['decoder_hidden_size'])) return labels * cells(size, 4);
  const masks = ['mask_feature_size', 'fpn_feature_size', 'num_upscale_blocks'].some((name) =>
    positive(config[name]),
  );
  return masks ? (positive(config['num_queries']) ?? 100) * cells(size, 4) : 0;
}

const cells = ({ height, width }: Edges, stride: number): number =>
  Math.ceil(height / stride) * Math.ceil(width / stride);

/** A number of pixels or frames, or the first of a pair. */
function edge(value: unknown): number | undefined {
  const found = positive(Array.isArray(value) ? value[0] : value);
  return found && Math.max(1, found);
}

/** At most as many stages as any network has. */
const numbers = (value: unknown): number[] =>
  Array.isArray(value) ? value.slice(0, 16).map((each) => positive(each) ?? 1) : [];

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Larger than any field of a network; what is beyond is a mistake. */
const MOST_FIELD = 2 ** 20;

/** @returns undefined for what is no positive number of usual size */
export function positive(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && value <= MOST_FIELD ? value : undefined;
}
