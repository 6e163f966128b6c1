import { RunError } from '../../core/errors.js';
import type { TaskId } from '../../core/task-ids.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { EMBEDDING_TASKS, embeddingBodies, vectorsOf } from '../embed.js';
import type { FieldNames } from '../field-names.js';
import type { ServedModel, TokenCounts } from '../host.js';
import { cosine } from '../vectors.js';

/** Tasks whose models say how well texts go together: cross-encoders with one label, and embedders, by cosine. */
export const SCORING_TASKS = ['text-classification', ...EMBEDDING_TASKS] as const satisfies readonly TaskId[];

/** Most pairs of one request. */
export const MAX_PAIRS = 2048;

/** Two texts to compare. */
export type Pair = readonly [string, string];

export interface ScoreRequest {
  model: ServedModel;
  pairs: readonly Pair[];
  /** The cross-encoder's logit instead of its sigmoid. */
  raw: boolean;
  /** False: a text that is too long is refused. */
  truncate?: boolean | null | undefined;
  /** How the caller calls the fields. */
  names: FieldNames;
}

export interface Scores {
  scores: number[];
  tokens: TokenCounts | undefined;
}

/**
 * Scores pairs of texts, in their order, and gives them to `send`.
 * @throws RunError 400 for a model that does neither, or whose classifier has several labels
 */
export async function scorePairs(
  call: DialectCall,
  { model, pairs, names, ...how }: ScoreRequest,
  send: (scores: Scores) => void,
): Promise<void> {
  const isEmbedder = (EMBEDDING_TASKS as readonly TaskId[]).includes(model.task);
  if (!isEmbedder && model.task !== 'text-classification')
    throw new RunError(
      'invalid_input',
      `model: ${model.modelId} does ${model.task}, which scores no pairs of texts`,
    );
  const texts = [...new Set(pairs.flat())];
  const bodies = isEmbedder ? embeddingBodies(model, texts, how) : pairs.map((pair) => pairBody(pair, how));
  await answerAll(call, { model, bodies, names }, (answers, tokens) => {
    const scores = isEmbedder
      ? cosines(texts, vectorsOf(answers), pairs)
      : answers.map(({ output }) => only(output, model));
    send({ scores, tokens });
  });
}

type Scoring = Pick<ScoreRequest, 'raw' | 'truncate'>;

function pairBody([text, text_pair]: Pair, { raw, truncate }: Scoring): Record<string, unknown> {
  const params = { text_pair, top_k: null, function_to_apply: raw ? 'none' : 'sigmoid' };
  return { text, params: { ...params, ...(truncate === false ? { truncation: false } : {}) } };
}

/** The score of a cross-encoder's one label. */
function only(rows: unknown, { modelId }: ServedModel): number {
  const scores = rows as { score: number }[];
  if (scores.length === 1) return scores[0]!.score;
  throw new RunError(
    'invalid_input',
    `model: ${modelId} has ${scores.length} labels, and a reranker has one`,
  );
}

function cosines(texts: readonly string[], vectors: readonly number[][], pairs: readonly Pair[]): number[] {
  const places = new Map(texts.map((text, i) => [text, i]));
  const vectorOf = (text: string) => vectors[places.get(text)!]!;
  return pairs.map(([a, b]) => cosine(vectorOf(a), vectorOf(b)));
}

/** Indices of the scores, the highest first; of equal ones the earlier. */
export function ranking(scores: readonly number[]): number[] {
  return scores.map((_, i) => i).sort((a, b) => scores[b]! - scores[a]! || a - b);
}
