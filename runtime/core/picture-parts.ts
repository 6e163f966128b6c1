import { heads, innerConfig, outputs } from './picture-decoders.js';
import { cells, edge, type Edges, type Json, numbers, positive } from './picture-fields.js';
import { isConvolutional, layerStates, type Part, SCORES, stages, unknownStages } from './picture-stages.js';
import type { ModelSpec } from './spec.js';

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
