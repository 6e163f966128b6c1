import { RunError } from '../../../../core/errors.js';
import type { ModelReaders } from '../../../../core/readers.js';
import type { Json } from '../../../repository/model-folder.js';

/** What a decoder reads beside an encoder that read `ids`: as many tokens. */
export type DecoderIds = (ids: readonly number[]) => number[];

/**
 * The input that Python's base models make where they are given none.
 * @throws RunError `not_ready` for families that make none
 */
export function decoderIdsOf(config: Json, input: ModelReaders['decoderInput']): DecoderIds {
  const start = config['decoder_start_token_id'];
  if (input === 'shifted' && typeof start === 'number') return (ids) => [start, ...ids.slice(0, -1)];
  const padding = config['pad_token_id'];
  if (input === 'rotated') return (ids) => [lastOf(ids, padding), ...ids.slice(0, -1)];
  throw new RunError('not_ready', `the graph wants decoder_input_ids, which this model makes of no text`);
}

/** The last token, by the number of those that are no padding, as Python counts. */
function lastOf(ids: readonly number[], padding: unknown): number {
  return ids.at(ids.filter((id) => id !== padding).length - 1)!;
}
