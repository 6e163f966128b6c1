import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { elementsOf } from '../../../sessions/elements.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { integers } from '../../../sessions/tensors.js';
import type { Prompt } from '../prompt.js';

/** The table of token embeddings, for decoders that take embeddings instead of tokens. */
export interface TokenEmbedder {
  /** One row after the other, each with equally many tokens: [rows, tokens, width]. */
  embed(rows: readonly (readonly number[])[]): Promise<Tensor>;
}

/** Name of the input of decoders that take embeddings. */
export const EMBEDDINGS_INPUT = 'inputs_embeds';

/** @returns undefined for a model without such a table */
export async function openTokenEmbedder(request: LoadRequest): Promise<TokenEmbedder | undefined> {
  if (!('embed_tokens' in request.spec.graphs)) return undefined;
  // A row of a table is looked up: threads have nothing to share.
  const session = await openSession(graphSource(request, 'embed_tokens'), {
    ...request,
    threads: 1,
    arena: false,
  });
  const [input] = session.inputNames;
  const [output] = session.outputNames;
  if (session.inputNames.length !== 1 || input === undefined || output === undefined)
    throw new RunError('not_ready', `embed_tokens wants ${session.inputNames.join(', ')}, not tokens alone`);
  return {
    async embed(rows) {
      const dims = [rows.length, rows[0]!.length];
      const feeds = { [input]: integers(session, input, rows.flat(), dims) };
      return (await session.run(feeds, [output]))[output]!;
    },
  };
}

/**
 * Embeddings [rows, tokens, width] of sequences that begin with one prompt, from a position on. Features stand at their
 * positions in each of them.
 */
export async function embedPrompt(
  embedder: TokenEmbedder,
  { spans = [] }: Prompt,
  { from, rows }: { from: number; rows: readonly (readonly number[])[] },
): Promise<Tensor> {
  const count = rows[0]!.length;
  const inside = spans.filter((span) => span.start < from + count && span.start + span.count > from);
  if (inside.length === 0) return embedder.embed(rows);
  // The token of an image need not be in the table.
  const ids = rows.map((row) =>
    inside.reduce(
      (all, span) => all.fill(0, Math.max(0, span.start - from), span.start + span.count - from),
      [...row],
    ),
  );
  const embedded = await embedder.embed(ids);
  const width = embedded.dims[2]!;
  const target = elementsOf(embedded);
  for (const { start, count: length, features } of inside) {
    const [first, last] = [Math.max(start, from), Math.min(start + length, from + count)];
    const source = elementsOf(features).subarray((first - start) * width, (last - start) * width);
    rows.forEach((_, row) => target.set(source, (row * count + first - from) * width));
  }
  return new ort.Tensor(embedded.type as 'float32', target as Float32Array, embedded.dims);
}

/** @throws RunError not_ready where the decoder takes other numbers than the table has */
export function checkEmbeddings(session: InferenceSession, embedder: TokenEmbedder | undefined): void {
  if (session.inputNames.includes(EMBEDDINGS_INPUT) === (embedder !== undefined)) return;
  throw new RunError(
    'not_ready',
    embedder
      ? 'the decoder takes no embeddings (inputs_embeds), so it reads no images'
      : 'the graph takes embeddings, and the model has no embed_tokens',
  );
}
