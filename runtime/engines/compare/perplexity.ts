import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { logSumExp } from '../generation/search/log-softmax.js';

type Feeds = Record<string, Tensor>;

/** Inputs that a step is made of; a decoder that reads others is not measured. */
const TOKEN_INPUTS = ['input_ids', 'attention_mask', 'position_ids'];
/** Keys, values or states of the tokens before, from `present` outputs of the same names. */
const PAST = /^past_/;

/**
 * exp of the mean of -ln p over all tokens but the first: how surprised a decoder is by texts. They are fed token by token, all at once.
 * @param texts ids of tokens, all of one length
 * @returns undefined for a graph that is no decoder of texts alone, that lacks one of the tokens, or whose scores are no numbers
 */
export async function perplexityOf(
  session: InferenceSession,
  texts: readonly (readonly number[])[],
): Promise<number | undefined> {
  if (!readsTexts(session) || !knowsAll(session, texts)) return undefined;
  const length = texts[0]!.length;
  let past = emptyPast(session, texts.length);
  let sum = 0;
  for (let position = 0; position < length - 1; position++) {
    const ids = texts.map((row) => row[position]!);
    const outputs = await session.run({ ...past, ...stepOf(session, ids, position) });
    const logits = outputs['logits']!;
    for (const [i, row] of texts.entries()) {
      const scores = rowOf(logits, i);
      sum += logSumExp(scores) - scores[row[position + 1]!]!;
    }
    past = nextPast(session, past, outputs);
  }
  const perplexity = Math.exp(sum / (texts.length * (length - 1)));
  return Number.isFinite(perplexity) ? perplexity : undefined;
}

function readsTexts({ inputMetadata, inputNames, outputNames }: InferenceSession): boolean {
  const known = inputMetadata.every(
    (entry) =>
      PAST.test(entry.name) ||
      (TOKEN_INPUTS.includes(entry.name) && entry.isTensor && entry.shape.length === 2),
  );
  const hasPast = inputNames.some((name) => PAST.test(name));
  return known && hasPast && inputNames.includes('input_ids') && outputNames.includes('logits');
}

function knowsAll({ outputMetadata }: InferenceSession, texts: readonly (readonly number[])[]): boolean {
  const logits = outputMetadata.find(({ name }) => name === 'logits');
  const vocabulary = logits?.isTensor ? logits.shape.at(-1) : undefined;
  return typeof vocabulary === 'number' && texts.every((row) => row.every((token) => token < vocabulary));
}

function emptyPast({ inputMetadata }: InferenceSession, rows: number): Feeds {
  const entries = inputMetadata.flatMap((entry) => {
    if (!entry.isTensor || !PAST.test(entry.name)) return [];
    const dims = entry.shape.map((axis) => (typeof axis === 'number' ? axis : axis === 'past' ? 0 : rows));
    const count = dims.reduce((a, b) => a * b, 1);
    return [[entry.name, new ort.Tensor('float32', new Float32Array(count), dims)] as const];
  });
  return Object.fromEntries(entries);
}

function stepOf({ inputNames }: InferenceSession, ids: readonly number[], position: number): Feeds {
  const integers = (values: readonly number[], width: number) =>
    new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [ids.length, width]);
  const step: Feeds = {
    input_ids: integers(ids, 1),
    attention_mask: integers(Array<number>(ids.length * (position + 1)).fill(1), position + 1),
    position_ids: integers(Array<number>(ids.length).fill(position), 1),
  };
  return Object.fromEntries(Object.entries(step).filter(([name]) => inputNames.includes(name)));
}

/** Graphs give keys and values of the fed tokens alone, or of all; states take the place of those before. */
function nextPast({ inputMetadata }: InferenceSession, past: Feeds, outputs: Feeds): Feeds {
  const next = inputMetadata.flatMap((entry) => {
    if (!entry.isTensor || !PAST.test(entry.name)) return [];
    const given = outputs[entry.name.replace(/^past(?:_key_values)?/, 'present')]!;
    // -1 for states.
    const axis = entry.shape.indexOf('past');
    const before = past[entry.name]!;
    const isWhole = axis < 0 || given.dims[axis]! > before.dims[axis]!;
    return [[entry.name, isWhole ? given : joined(before, given, axis)] as const];
  });
  return Object.fromEntries(next);
}

/** Two tensors one behind the other along an axis. */
function joined(a: Tensor, b: Tensor, axis: number): Tensor {
  const outer = a.dims.slice(0, axis).reduce((x, y) => x * y, 1);
  const dims = a.dims.map((size, i) => (i === axis ? size + b.dims[i]! : size));
  const data = new Float32Array(a.size + b.size);
  const [one, other] = [a.size / outer, b.size / outer];
  for (let i = 0; i < outer; i++) {
    data.set((a.data as Float32Array).subarray(i * one, (i + 1) * one), i * (one + other));
    data.set((b.data as Float32Array).subarray(i * other, (i + 1) * other), i * (one + other) + one);
  }
  return new ort.Tensor('float32', data, dims);
}

/** Scores [vocabulary] of the last token of a row. */
function rowOf({ data, dims }: Tensor, row: number): Float32Array {
  const [, tokens, vocabulary] = dims as readonly [number, number, number];
  const end = (row + 1) * tokens * vocabulary;
  return (data as Float32Array).subarray(end - vocabulary, end);
}
