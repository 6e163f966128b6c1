import type { PositionKind } from '../../core/readers.js';
import { firstNumber, type Json, textConfig } from './model-folder.js';

/** Names under which configurations give the longest sequence. */
export function contextLengthOf(config: Json): number | undefined {
  const text = textConfig(config);
  return firstNumber(
    text,
    'max_position_embeddings',
    'n_positions',
    'n_ctx',
    'max_sequence_length',
    'max_seq_len',
    'seq_length',
  );
}

/** Longest text of the encoder in tokens by its position table; Infinity where there is none. */
export function encoderPositions(config: Json, kind: PositionKind | undefined): number {
  return positions(partOf(config, 'encoder'), kind, 'max_encoder_position_embeddings');
}

/** Longest sequence of the decoder in tokens, its start token included. */
export function decoderPositions(config: Json, kind: PositionKind | undefined): number {
  return positions(
    partOf(config, 'decoder'),
    kind,
    'max_decoder_position_embeddings',
    'max_target_positions',
  );
}

/** Other names under which models that were put together of two keep the configuration of each. */
const PART_NAMES = { encoder: 'vision_config', decoder: 'text_config' };

/** Models that were put together of two keep a configuration of each. */
export function partOf(config: Json, part: 'encoder' | 'decoder'): Json {
  const own =
    config[part] ??
    (part === 'decoder' ? config['decoder_config'] : undefined) ??
    ('vision_config' in config ? config[PART_NAMES[part]] : undefined);
  return typeof own === 'object' && own !== null ? (own as Json) : config;
}

function positions(config: Json, kind: PositionKind | undefined, ...names: string[]): number {
  if (kind === 'distance') return Infinity;
  return firstNumber(config, ...names, 'max_position_embeddings', 'n_positions') ?? Infinity;
}
