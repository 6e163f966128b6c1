import { setImmediate as nextTurn } from 'node:timers/promises';
import { RunError } from '../../../core/errors.js';
import type { SparseValue } from '../../../core/handles/index.js';
import { requireLogits } from '../../../core/not-finite.js';
import { firstNumber, readJson, readOptionalJson } from '../../repository/model-folder.js';
import { type PromptSettings, readPromptSettings } from '../../repository/sentence-prompts.js';
import type { TensorLike } from '../../sessions/tensors.js';
import { vectorAt } from './vector-at.js';

/** How a repository of sentence-transformers makes one sparse vector of the scores of a text (SpladePooling). */
export interface Splade extends PromptSettings {
  pooling: 'max' | 'sum';
  /** How often a positive score becomes log(1 + score). */
  logarithms: 1 | 2;
  /** Tokens of the longest text, where the repository says. */
  maxLength: number | undefined;
}

const ACTIVATIONS: Readonly<Record<string, Splade['logarithms']>> = { relu: 1, log1p_relu: 2 };

/**
 * @returns undefined where modules.json names no SpladePooling
 * @throws RunError `not_ready` for one that we can't compute
 */
export async function readSplade(dir: string): Promise<Splade | undefined> {
  const modules = await readOptionalJson<{ type?: string; path?: string }[]>(dir, 'modules.json');
  const pooling = modules?.find(({ type }) => type?.split('.').at(-1) === 'SpladePooling');
  if (!pooling) return undefined;
  const [config, transformer, prompts] = await Promise.all([
    readJson(dir, `${pooling.path ?? ''}/config.json`),
    readOptionalJson(dir, 'sentence_bert_config.json'),
    readPromptSettings(dir),
  ]);
  const kind = config['pooling_strategy'] ?? 'max';
  const logarithms = ACTIVATIONS[String(config['activation_function'] ?? 'relu')];
  if ((kind !== 'max' && kind !== 'sum') || !logarithms)
    throw new RunError(
      'not_ready',
      'SpladePooling: this pooling_strategy or activation_function is not known',
    );
  const maxLength = firstNumber(transformer ?? {}, 'max_seq_length');
  return { ...prompts, pooling: kind, logarithms, maxLength };
}

/** Milliseconds that other work waits at most. */
const TURN_MS = 10;

/** The weights above 0 of a text's tokens over the vocabulary. @param logits [1, tokens, vocabulary] */
export async function sparseVector(
  logits: TensorLike,
  { pooling, logarithms }: Pick<Splade, 'pooling' | 'logarithms'>,
  signal: AbortSignal,
): Promise<SparseValue[]> {
  const [, tokens, size] = logits.dims as [number, number, number];
  const pooled = new Float32Array(size);
  const weigh = (score: number) => {
    const once = Math.log1p(Math.max(0, score));
    return logarithms === 1 ? once : Math.log1p(once);
  };
  let pause = Date.now() + TURN_MS;
  for (let at = 0; at < tokens; at++) {
    const scores = requireLogits(vectorAt(logits, at));
    // The weight grows with the score: of a maximum it is taken at the end.
    if (pooling === 'max') for (let id = 0; id < size; id++) pooled[id] = Math.max(pooled[id]!, scores[id]!);
    else for (let id = 0; id < size; id++) pooled[id]! += weigh(scores[id]!);
    if (Date.now() < pause) continue;
    await nextTurn();
    signal.throwIfAborted();
    pause = Date.now() + TURN_MS;
  }
  const found: SparseValue[] = [];
  pooled.forEach((score, index) => {
    if (score > 0) found.push({ index, value: pooling === 'max' ? Math.fround(weigh(score)) : score });
  });
  return found;
}
