import { join } from 'node:path';
import { RunError } from '../../core/errors.js';
import type { LoadRequest } from '../../core/load-request.js';
import { firstNumber } from '../repository/model-folder.js';
import type { Tensors } from '../sessions/tensors.js';
import { loadClipTokenizer } from '../tokenizers/clip-tokenizer.js';
import { loadTokenizer } from '../tokenizers/tokenizer.js';
import { openGraph } from './graph.js';

/** An encoder of texts with its tokenizer. */
export interface PromptEncoder {
  /** What the encoder gives for a text, which is filled up or cut to the longest that it reads. */
  encode(text: string, signal: AbortSignal): Promise<Tensors>;
}

/** The same for texts of a length that requests may choose. */
export interface TokenEncoder extends PromptEncoder {
  /** @param length in tokens; the usual one if absent */
  encode(text: string, signal: AbortSignal, length?: number): Promise<Tensors>;
}

/** CLIP reads no more. */
const USUAL_LENGTH = 77;

/**
 * An encoder of texts that reads none of their fillings' masks, such as T5 in diffusers' pipelines.
 * @param usual length of texts in tokens: they are filled up or cut
 * @throws RunError `not_ready` where tokenizer or graph can't be opened
 */
export async function openTokenEncoder(
  request: LoadRequest,
  role: 'text_encoder_2' | 'text_encoder_3',
  usual: number,
): Promise<TokenEncoder> {
  const folder = role.replace('text_encoder', 'tokenizer');
  const [tokenizer, graph] = await Promise.all([
    loadTokenizer(join(request.dir, folder)),
    openGraph(request, role, ['input_ids', 'attention_mask']),
  ]);
  const padding = tokenizer.namedId('pad_token');
  if (padding === undefined) throw new RunError('not_ready', `the ${folder} has no padding token`);
  return {
    encode(text, signal, length = usual) {
      const dims = [1, length];
      const mask = { values: Array<number>(length).fill(1), dims };
      const { ids } = tokenizer.encode(text, { maxLength: length });
      const row = Array.from({ length }, (_, i) => ids[i] ?? padding);
      return graph.run({ input_ids: { values: row, dims }, attention_mask: mask }, signal);
    },
  };
}

/** @throws RunError `not_ready` where tokenizer or graph can't be opened */
export async function openPromptEncoder(
  request: LoadRequest,
  role: 'text_encoder' | 'text_encoder_2',
): Promise<PromptEncoder> {
  const folder = role.replace('text_encoder', 'tokenizer');
  const [tokenizer, graph] = await Promise.all([
    loadClipTokenizer(join(request.dir, folder)),
    openGraph(request, role, ['input_ids', 'attention_mask']),
  ]);
  const length =
    tokenizer.modelMaxLength ?? firstNumber(graph.config, 'max_position_embeddings') ?? USUAL_LENGTH;
  const padding = tokenizer.namedId('pad_token') ?? tokenizer.namedId('eos_token');
  if (padding === undefined) throw new RunError('not_ready', `the ${folder} has no padding token`);
  const masks = graph.config['use_attention_mask'] === true;
  return {
    encode(text, signal) {
      const { ids } = tokenizer.encode(text, { maxLength: length });
      const row = Array.from({ length }, (_, i) => ids[i] ?? padding);
      const mask = row.map((_, i) => (!masks || i < ids.length ? 1 : 0));
      const dims = [1, length];
      return graph.run({ input_ids: { values: row, dims }, attention_mask: { values: mask, dims } }, signal);
    },
  };
}
