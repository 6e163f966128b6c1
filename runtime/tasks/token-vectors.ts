import type { EncodedJson } from '../core/encoded-json.js';
import { RunError } from '../core/errors.js';
import type { EncodeOptions, TextEmbedder } from '../core/handles/index.js';
import { tensorJson } from './tensor-json.js';

/**
 * The states of all tokens of a text.
 * @throws RunError 400 for what is done to the vector of a text only
 */
export async function tokenVectors(
  handle: TextEmbedder,
  text: string,
  { normalize, truncateDim, ...options }: EncodeOptions,
): Promise<EncodedJson> {
  if (normalize !== undefined || truncateDim !== undefined)
    throw new RunError('invalid_input', 'params: vectors of tokens are neither normalized nor cut');
  const { values, tokens, width } = await handle.states(text, options);
  return tensorJson(values.subarray(0, tokens * width), [tokens, width]);
}
