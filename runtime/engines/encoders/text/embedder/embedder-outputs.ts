import { RunError } from '../../../../core/errors.js';
import type { Port } from '../../../sessions/tensors.js';
import { type TensorLike, toFloat32 } from '../../../sessions/tensors.js';
import type { HiddenStates } from './pooling.js';
import type { Outputs } from '../encoder/text-encoder.js';

/** Scores, not states: over a vocabulary, or over labels. */
const SCORES = /logits$/;
const LAYER = /^hidden_states\.(\d+)$/;

/** @throws RunError `not_ready` for a graph that gives neither hidden states nor a pooled vector */
export function checkEmbedderOutputs(outputs: readonly Port[]): void {
  if (outputs.some(({ name }) => !SCORES.test(name))) return;
  const names = outputs.map(({ name }) => name).join(', ');
  throw new RunError(
    'not_ready',
    `the graph gives ${names}, no hidden states; export it for feature-extraction`,
  );
}

/** True for a graph that ends in the vector of a text. */
export function poolsItself(outputs: readonly Port[]): boolean {
  const ranks = outputs.filter(({ name }) => !SCORES.test(name)).map(({ shape }) => shape.length);
  return outputs.some(({ name }) => name === 'sentence_embedding') || ranks.every((rank) => rank === 2);
}

/** What a graph exported by sentence-transformers ends in, all its modules inside; or the only vector that there is. */
export function sentenceVector(outputs: Outputs): Float32Array | undefined {
  const pooled = outputs['sentence_embedding'];
  return pooled ? toFloat32(pooled) : onlyVector(outputs);
}

/** The vector of a graph that pools itself and gives no hidden states. */
export function onlyVector(outputs: Outputs): Float32Array | undefined {
  if (statesOf(outputs)) return undefined;
  const pooled = outputs['sentence_embedding'] ?? onlyOfRank(outputs, 2);
  return pooled && toFloat32(pooled);
}

/**
 * @param from first token that counts
 * @throws RunError `unprocessable` for a graph that gives pooled vectors only
 */
export function hiddenStates(outputs: Outputs, from: number): HiddenStates {
  const tensor = statesOf(outputs);
  if (!tensor) {
    throw new RunError(
      'unprocessable',
      `params: the graph gives ${Object.keys(outputs).join(', ')}, no hidden states to pool`,
    );
  }
  const [, tokens, width] = tensor.dims as [number, number, number];
  return { values: toFloat32(tensor), tokens, width, from };
}

function statesOf(outputs: Outputs): TensorLike | undefined {
  return (
    outputs['last_hidden_state'] ??
    outputs['token_embeddings'] ??
    lastLayer(outputs) ??
    onlyOfRank(outputs, 3)
  );
}

function lastLayer(outputs: Outputs): TensorLike | undefined {
  const layers = Object.keys(outputs).filter((name) => LAYER.test(name));
  const last = layers.sort((a, b) => Number(LAYER.exec(b)![1]) - Number(LAYER.exec(a)![1]))[0];
  return last === undefined ? undefined : outputs[last];
}

/** Of several nothing tells which one it is. */
function onlyOfRank(outputs: Outputs, rank: number): TensorLike | undefined {
  const all = Object.entries(outputs).filter(
    ([name, { dims }]) => dims.length === rank && !SCORES.test(name),
  );
  return all.length === 1 ? all[0]![1] : undefined;
}
