import type { PositionKind } from '../../../../core/readers.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { TokenizerFacts } from '../../../tokenizers/patient-tokenizer.js';

/** What configurations of rotary positions hold. */
const ROTARY_KEYS = [
  ...['rope_theta', 'rope_parameters', 'global_rope_theta', 'rotary_pct', 'rotary_emb_base'],
  'rotary_emb_fraction',
];

/** Values of `position_embedding_type` under which there is no table. */
const WITHOUT_TABLE = /^(rotary|rope|alibi)$/;

/** Bytes of one layer's attention scores that a model without a position table may take. */
const ATTENTION_BYTES = 2 ** 31;

/** In tokens. */
export interface InputLimits {
  /** Longest input: the tokenizer's limit, cut to the positions. */
  text: number;
  /** What the model itself takes. */
  positions: number;
}

/** What limits texts, beside the tokenizer. */
export interface PositionFacts {
  /** config.json */
  config: Json;
  kind: PositionKind | undefined;
  /** Tokens of every row, where the graph fixes them. */
  width?: number | undefined;
}

export function readInputLimits(
  tokenizer: TokenizerFacts,
  { config, kind, width = Infinity }: PositionFacts,
): InputLimits {
  const positions = Math.min(positionsOf(config, kind), width);
  return { text: Math.min(tokenizer.modelMaxLength ?? Infinity, positions), positions };
}

/** How many tokens a model takes: as many as have positions, or as memory bears where positions go on for ever. */
export function positionsOf(config: Json, kind: PositionKind | undefined): number {
  const table = firstNumber(config, 'max_position_embeddings', 'n_positions', 'max_sequence_length');
  if (!hasTable(config, kind)) return Math.max(table ?? 0, attentionLimit(config));
  return table === undefined ? attentionLimit(config) : table - unusedPositions(config, kind);
}

function hasTable(config: Json, kind: PositionKind | undefined): boolean {
  const rotary = ROTARY_KEYS.some((name) => isSet(config, name));
  const embedding = config['position_embedding_type'];
  if (typeof embedding === 'string' && WITHOUT_TABLE.test(embedding)) return false;
  return kind !== 'distance' && !rotary;
}

function isSet(config: Json, name: string): boolean {
  const value = config[name];
  return typeof value === 'object' ? value !== null : firstNumber(config, name) !== undefined;
}

/** Rows of the position table at its beginning that no token gets. */
function unusedPositions(config: Json, kind: PositionKind | undefined): number {
  if (kind === 'after-two') return 2;
  if (kind !== 'after-padding') return 0;
  const padding = config['pad_token_id'];
  return typeof padding === 'number' ? padding + 1 : 2;
}

function attentionLimit(config: Json): number {
  const heads = firstNumber(config, 'num_attention_heads', 'n_head', 'n_heads', 'num_heads') ?? 1;
  return Math.floor(Math.sqrt(ATTENTION_BYTES / 4 / heads));
}

/** Python's tokenizers refuse windows that share more than one text's special tokens leave of them. */
export function strideExceedsRoom(tokenizer: TokenizerFacts, stride: number, width: number): boolean {
  const room = width - tokenizer.specialCount(1);
  return room >= 0 && stride > room;
}

/** The smaller of two limits, either of which may be missing. */
export function lowerLimit(limit: number | undefined, asked: number | undefined): number | undefined {
  return asked === undefined ? limit : Math.min(asked, limit ?? Infinity);
}
