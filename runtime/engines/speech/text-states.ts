import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { RunError } from '../../core/errors.js';
import type { LoadRequest } from '../../core/load-request.js';
import type { NetworkSizes } from '../../core/network.js';
import { largestWithin, runBytes } from '../../core/run-memory.js';
import { graphSource } from '../sessions/graph-source.js';
import { availableMemory } from '../sessions/available-memory.js';
import { openSession } from '../sessions/session.js';
import { integers } from '../sessions/tensors.js';
import { loadTokenizer } from '../tokenizers/tokenizer.js';

/** Reads texts for a decoder. */
export interface TextStates {
  /** @throws RunError 422 for an empty text, or one that is too long */
  tokens(text: string): number[];
  /** What the graph gives: states [1, tokens, width] first. */
  encode(tokens: readonly number[]): Promise<Tensor[]>;
}

export interface TextStatesOptions {
  /** Role of the graph. */
  role: string;
  /** Of the encoder. */
  sizes: NetworkSizes;
  /** Most tokens, where the model has a limit. */
  longest?: number | undefined;
}

/** Bytes of a run past which a text is refused where memory has no limit. */
const MOST_BYTES = 2 ** 31;

/** Opens the tokenizer and a graph input_ids [, attention_mask] -> states, and what else the decoder wants. */
export async function openTextStates(
  request: LoadRequest,
  { role, sizes, longest = Infinity }: TextStatesOptions,
): Promise<TextStates> {
  const [tokenizer, session] = await Promise.all([
    loadTokenizer(request.dir),
    openSession(graphSource(request, role), { ...request, arena: true }),
  ]);
  checkInputs(session);
  const bytesOf = (tokens: number) => runBytes(sizes, { tokens, attended: tokens });
  return {
    tokens(text) {
      const { ids } = tokenizer.encode(text);
      if (ids.length === 0) throw new RunError('unprocessable', 'text: has nothing that this model can read');
      const room = Math.min(MOST_BYTES, availableMemory(request.memory));
      const most = Math.min(longest, largestWithin(room, ids.length, bytesOf));
      if (ids.length <= most) return ids;
      throw new RunError(
        'unprocessable',
        `text: has ${ids.length} tokens, and ${most === longest ? 'the model takes' : 'there is memory for'} ${most}: shorten it`,
      );
    },
    async encode(tokens) {
      const dims = [1, tokens.length];
      const values: Record<string, number[]> = {
        input_ids: [...tokens],
        attention_mask: tokens.map(() => 1),
      };
      const feeds = session.inputNames.map((name) => [name, integers(session, name, values[name]!, dims)]);
      const outputs = await session.run(Object.fromEntries(feeds) as Record<string, Tensor>);
      return session.outputNames.map((name) => outputs[name]!);
    },
  };
}

function checkInputs({ inputNames }: InferenceSession): void {
  const unknown = inputNames.filter((name) => name !== 'input_ids' && name !== 'attention_mask');
  if (unknown.length > 0)
    throw new RunError('not_ready', `the graph wants inputs that a text can't give: ${unknown.join(', ')}`);
}
