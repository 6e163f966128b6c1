import * as z from 'zod';
import { outputOf, post, type ServerUnderTest } from '../server.js';
import { jsonOf, type Recipe, requireSame, sameAsRun } from './recipe.js';

const VECTOR = z.array(z.number()).min(1);

const NO_VECTOR = 'the model gives a vector for each token, and this interface one for a text';

/** The model's vector of its example, or undefined where it has one for each token. */
async function ownVector(server: ServerUnderTest): Promise<{ text: string; vector: number[] } | undefined> {
  const text = String(server.golden['text']);
  const output = VECTOR.safeParse(outputOf(await post(server, { text })));
  return output.success ? { text, vector: output.data } : undefined;
}

interface Embedding {
  body(text: string): Record<string, unknown>;
  vectors: z.ZodType<readonly (readonly number[])[]>;
  /** The interface makes them of length 1. */
  normalized?: boolean;
}

function embedding({ body, vectors, normalized = false }: Embedding): Recipe {
  return async (server, path) => {
    const own = await ownVector(server);
    if (!own) return NO_VECTOR;
    const sent = withModel(server, body(own.text));
    const [found] = vectors.parse(jsonOf(await post(server, sent, { path })));
    requireSame(found, normalized ? ofLengthOne(own.vector) : own.vector);
    return `${own.vector.length} numbers, as POST /run gives them${normalized ? ', of length 1' : ''}`;
  };
}

/** Interfaces that name a model are told which. */
function withModel({ described }: ServerUnderTest, body: Record<string, unknown>): Record<string, unknown> {
  return 'inputs' in body ? body : { model: described.model, ...body };
}

function ofLengthOne(vector: readonly number[]): number[] {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

const DATA = z.object({ data: z.array(z.object({ embedding: VECTOR })).min(1) });

export const openAiEmbeddings = embedding({
  body: (input) => ({ input }),
  vectors: DATA.transform(({ data }) => data.map(({ embedding: vector }) => vector)),
});

export const teiEmbed = embedding({
  body: (inputs) => ({ inputs }),
  vectors: z.array(VECTOR).min(1),
  normalized: true,
});

export const ollamaEmbed = embedding({
  body: (input) => ({ input }),
  vectors: z.object({ embeddings: z.array(VECTOR).min(1) }).transform(({ embeddings }) => embeddings),
  normalized: true,
});

export const ollamaEmbeddings = embedding({
  body: (prompt) => ({ prompt }),
  vectors: z.object({ embedding: VECTOR }).transform(({ embedding: vector }) => [vector]),
});

export const cohereEmbed = embedding({
  body: (text) => ({ texts: [text] }),
  vectors: z
    .object({ embeddings: z.object({ float: z.array(VECTOR).min(1) }) })
    .transform(({ embeddings }) => embeddings.float),
});

/** POST embed_all: a vector for each token. */
export const embedAll: Recipe = (server, path) => {
  const text = String(server.golden['text']);
  const tokens =
    server.described.task === 'sentence-similarity'
      ? { output_value: 'token_embeddings' }
      : { pooling: 'none' };
  return sameAsRun(server, {
    run: { text, params: tokens },
    ask: () => post(server, { inputs: text }, { path }),
    found: (answer) => z.array(z.unknown()).length(1).parse(jsonOf(answer))[0],
  });
};

/** POST similarity: a sentence is as like itself as can be. */
export const similarity: Recipe = async (server, path) => {
  const own = await ownVector(server);
  if (!own) return NO_VECTOR;
  const other = `${own.text} once more`;
  const second = VECTOR.parse(outputOf(await post(server, { text: other })));
  const inputs = { source_sentence: own.text, sentences: [own.text, other] };
  const found = jsonOf(await post(server, { inputs }, { path }));
  requireSame(found, [1, cosine(own.vector, second)]);
  return `of two sentences, as the vectors of POST /run: ${JSON.stringify(found)}`;
};

/** A tester computes it itself. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  const [first, second] = [ofLengthOne(a), ofLengthOne(b)];
  return first.reduce((sum, value, i) => sum + value * second[i]!, 0);
}

/** How well two texts go together by the vectors of POST /run. */
export async function cosineOf(
  server: ServerUnderTest,
  [a, b]: readonly [string, string],
): Promise<number | undefined> {
  const vectors = await Promise.all([a, b].map(async (text) => outputOf(await post(server, { text }))));
  const [first, second] = vectors.map((output) => VECTOR.safeParse(output));
  return first!.success && second!.success ? cosine(first!.data, second!.data) : undefined;
}
