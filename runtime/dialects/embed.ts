import type { TaskId } from '../core/task-ids.js';
import type { ModelAnswer, ServedModel } from './host.js';

/** Tasks that give a vector for a text. */
export const EMBEDDING_TASKS = [
  'sentence-similarity',
  'feature-extraction',
] as const satisfies readonly TaskId[];

/** What a caller wants of vectors. */
export interface VectorOptions {
  /** Of length 1, or as the model gives them; the repository's rule where absent. */
  normalize?: boolean | undefined;
  /** Keep the first numbers only. */
  dimensions?: number | null | undefined;
  /** Of a prompt in the repository, which is put before the text. */
  promptName?: string | null | undefined;
  /** False: a text that is too long is refused. */
  truncate?: boolean | null | undefined;
}

/** Bodies of POST /run, one for each text. */
export function embeddingBodies(
  { task }: ServedModel,
  texts: readonly string[],
  { normalize, dimensions, promptName, truncate }: VectorOptions = {},
): Record<string, unknown>[] {
  const normalizing = task === 'sentence-similarity' ? 'normalize_embeddings' : 'normalize';
  const params = {
    ...(normalize === undefined ? {} : { [normalizing]: normalize }),
    ...(dimensions == null ? {} : { dimensions }),
    ...(truncate === false ? { truncation: false } : {}),
    ...(promptName == null ? {} : { prompt_name: promptName }),
  };
  return texts.map((text) => ({ text, params }));
}

/** The vectors of answers to `embeddingBodies`. */
export const vectorsOf = (answers: readonly ModelAnswer[]): number[][] =>
  answers.map(({ output }) => output as number[]);
