import { cells } from '../../../runtime/core/media-run-memory.js';
import type { ImagePart, ImageSize } from '../../../runtime/core/network.js';
import { edge, type Json, numbers, positive } from './config-fields.js';
import { heads, innerConfigs, outputs } from './image-heads.js';
import { isConvolutional, layerStates, SCORES, stages, UNKNOWN } from './image-stages.js';

/**
 * Reads which parts a network for images has, from the fields of config.json, so that a new family is mostly known by what
 * it shares with others: a transformer over patches, stages that halve the image, a neck or decoder behind them, queries.
 */
export function imageParts(config: Json): ImagePart[] {
  const parts = knownParts(config);
  return parts.length > 0 ? parts : [UNKNOWN];
}

const towersOf = (config: Json): Json[] => [config, ...innerConfigs(config)];

const knownParts = (config: Json): ImagePart[] =>
  towersOf(config).flatMap((each) => [...tower(each), ...stages(each), ...heads(each)]);

/** Numbers of 32 bits beside a run. */
export interface BesideRuns {
  /** Largest output. */
  output: number;
  /** Constants that are computed when a session is opened: positions of pairs of tokens. */
  folded: number;
  /** Convolutions whose norms become part of their weights: weights are there three times for a moment. */
  convolutional: boolean;
}

/** @param size of what the network reads */
export function besideRuns(config: Json, size: ImageSize): BesideRuns {
  const towers = towersOf(config);
  return {
    output: outputs(config, size),
    folded: Math.max(0, ...towers.map((each) => foldedBias(each, size))),
    convolutional: towers.some(isConvolutional) || knownParts(config).length === 0,
  };
}

function tower(config: Json): ImagePart[] {
  const [width, tokens] = [positive(config['hidden_size']), tokensOf(config)];
  if (!width || !tokens || Array.isArray(config['depths'])) return [];
  const inner =
    positive(config['intermediate_size'] ?? config['mlp_dim']) ??
    width * (positive(config['mlp_ratio']) ?? 4);
  const exportedPairs = SCORES * headsOf(config, width);
  return [{ ...tokens, states: layerStates(width, inner), exportedPairs }];
}

/** Patches, and what is learned beside them; of video those of each few frames. */
function tokensOf(config: Json): { strides: number[]; frames: number; more: number } | undefined {
  const tubelet = numbers(config['tubelet_size']);
  const patch = edge(config['patch_size']) ?? tubelet[1];
  if (!patch) return undefined;
  const queries = positive(config['num_detection_tokens']) ?? positive(config['num_queries']) ?? 0;
  const frames = Math.ceil(framesOf(config) / (edge(config['tubelet_size']) ?? 1));
  return { strides: [patch], frames, more: 1 + queries };
}

/** Frames of a video; 1 for images. */
export const framesOf = (config: Json): number => positive(config['num_frames']) ?? 1;

/** Of a head of transformers for images where nothing is said. */
const HEAD_WIDTH = 64;
const headsOf = (config: Json, width: number): number =>
  positive(config['num_attention_heads']) ?? Math.ceil(width / HEAD_WIDTH);

/** BEiT's table of each layer for all pairs of tokens. */
function foldedBias(config: Json, size: ImageSize): number {
  const [width, tokens] = [positive(config['hidden_size']), tokensOf(config)];
  if (config['use_relative_position_bias'] !== true || !width || !tokens) return 0;
  const count = tokens.frames * cells(size, tokens.strides[0]!) + tokens.more;
  return (positive(config['num_hidden_layers']) ?? 12) * headsOf(config, width) * count ** 2;
}
