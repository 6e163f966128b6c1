import { RunError } from '../../../../core/errors.js';
import type { Port, Tensors } from '../../../sessions/tensors.js';
import { elements } from '../../../sessions/elements.js';
import { NARROW_TYPES, type TensorLike } from '../../../sessions/tensors.js';
import type { Encoding } from '../../../tokenizers/tokenizer.js';
import { fixedRows, fixedWidth, isCache } from './graph-ports.js';

/** A row as graphs read it. */
export interface EncoderRow extends Encoding {
  /** What the decoder of a graph with two halves reads: as many tokens. */
  decoderIds?: number[];
  /** Left, top, right and bottom of each token's box on its page, one after the other; absent: zeros. */
  boxes?: readonly number[];
}

/** Inputs that can be made from tokens alone: the value of each token, and of padding. */
const INPUTS: Record<string, (row: EncoderRow, token: number) => number> = {
  input_ids: (row, token) => row.ids[token]!,
  attention_mask: (row, token) => row.mask?.[token] ?? 1,
  token_type_ids: (row, token) => row.typeIds[token]!,
  position_ids: (_, token) => token,
  decoder_input_ids: (row, token) => row.decoderIds![token]!,
};

/** Numbers of each token's box, which are zero for a text without a page, as Python has it. */
const BOXES: Record<string, number> = { bbox: 4 };

/** Where each row begins among the tokens of all rows, in graphs that read them one after another. */
const OFFSETS = 'offsets';

/** True for graphs of static embeddings, which take rows as bags of tokens: no axis of rows, no special tokens. */
export function readsBags(inputs: readonly Port[]): boolean {
  return inputs.some(({ name }) => name === OFFSETS);
}

/** @throws RunError `not_ready` for a graph that wants more than tokens, or more than one row */
export function checkInputs(inputs: readonly Port[]): void {
  const known = (name: string) => name in INPUTS || name in BOXES || name === OFFSETS || isCache(name);
  const unknown = inputs.map(({ name }) => name).filter((name) => !known(name));
  if (unknown.length > 0) {
    throw new RunError('not_ready', `the graph wants inputs that a text can't give: ${unknown.join(', ')}`);
  }
  const rows = fixedRows(inputs) ?? 1;
  if (rows > 1) throw new RunError('not_ready', `the graph wants ${rows} texts at a time`);
}

/** Feeds [rows, longest row], shorter rows padded on the right; padding has the id `padId` and a mask of 0. */
export function createFeeds(inputs: readonly Port[], rows: readonly EncoderRow[], padId: number): Tensors {
  if (readsBags(inputs)) return bagsOf(inputs, rows);
  const length = widthOf(inputs, rows);
  const entries = inputs.map((port) => {
    if (isCache(port.name)) return [port.name, emptyCache(port, rows.length)] as const;
    const [valueOf, size] = [INPUTS[port.name], BOXES[port.name]];
    if (!valueOf) return [port.name, boxTensor(port, rows, [rows.length, length, size!])] as const;
    const { tensor, put } = integerTensor(port, [rows.length, length]);
    rows.forEach((row, r) => {
      for (let token = 0; token < row.ids.length; token++) put(r * length + token, valueOf(row, token));
      if (!port.name.endsWith('input_ids')) return;
      for (let token = row.ids.length; token < length; token++) put(r * length + token, padId);
    });
    return [port.name, tensor] as const;
  });
  return Object.fromEntries(entries);
}

/** Padding lies at zero. */
function boxTensor(port: Port, rows: readonly EncoderRow[], dims: [number, number, number]): TensorLike {
  const { tensor, put } = integerTensor(port, dims);
  const [, length, size] = dims;
  rows.forEach(({ boxes = [] }, r) => boxes.forEach((value, i) => put(r * length * size + i, value)));
  return tensor;
}

/** All tokens as one list, and where each row begins. */
function bagsOf(inputs: readonly Port[], rows: readonly EncoderRow[]): Tensors {
  const begins = rows.map((_, r) => rows.slice(0, r).reduce((sum, { ids }) => sum + ids.length, 0));
  const all = rows.flatMap(({ ids }) => ids);
  const entries = inputs.map((port) => {
    const values = port.name === OFFSETS ? begins : all;
    const { tensor, put } = integerTensor(port, [values.length]);
    values.forEach((value, i) => put(i, value));
    return [port.name, tensor] as const;
  });
  return Object.fromEntries(entries);
}

function emptyCache({ type, shape }: Port, rows: number): TensorLike {
  return { type, data: elements(type, 0), dims: [rows, Number(shape[1]), 0, Number(shape[3])] };
}

interface IntegerTensor {
  /** Zeros at first. */
  tensor: TensorLike;
  /** @param value of 32 bits */
  put(at: number, value: number): void;
}

/** In the type that the graph declares. */
function integerTensor({ type }: Port, dims: number[]): IntegerTensor {
  const count = dims.reduce((a, b) => a * b, 1);
  if (type in NARROW_TYPES) {
    const data = new NARROW_TYPES[type as keyof typeof NARROW_TYPES](count);
    return { tensor: { type, data, dims }, put: (at, value) => void (data[at] = value) };
  }
  // A BigInt for each token would cost more than all the rest.
  const words = new Int32Array(2 * count);
  const tensor: TensorLike = { type: 'int64', data: new BigInt64Array(words.buffer), dims };
  const put = (at: number, value: number) => {
    words[2 * at] = value;
    // Its sign: some configurations pad with -1.
    words[2 * at + 1] = value >> 31;
  };
  return { tensor, put };
}

/** Tokens of each row of a run. */
function widthOf(inputs: readonly Port[], rows: readonly Encoding[]): number {
  return fixedWidth(inputs) ?? Math.max(...rows.map(({ ids }) => ids.length));
}

interface Graph {
  inputs: readonly Port[];
  outputs: readonly Port[];
}

/** What a run gave, row by row: batch axis of 1, padding cut off. Views, no copies. */
export function splitRows(
  tensors: Tensors,
  rows: readonly Encoding[],
  { inputs, outputs }: Graph,
): Tensors[] {
  const length = widthOf(inputs, rows);
  const fixed = fixedWidth(inputs) !== undefined;
  return rows.map((row, i) =>
    Object.fromEntries(
      outputs.map((port) => {
        const tensor = tensors[port.name]!;
        const axis = (fixed || typeof port.shape[1] !== 'number') && hasTokenAxis(port, tensor, length);
        return [port.name, rowOf(tensor, i, axis ? row.ids.length : undefined)];
      }),
    ),
  );
}

/** Scores over labels [batch, labels] have no token axis, even where there are as many labels as tokens. */
function hasTokenAxis({ name }: Port, { dims }: TensorLike, length: number): boolean {
  if (dims.length < 2 || dims[1] !== length) return false;
  return dims.length > 2 || /^(start|end)_logits$/.test(name);
}

function rowOf({ type, data, dims }: TensorLike, row: number, tokens: number | undefined): TensorLike {
  const [, ...rest] = dims;
  const size = rest.reduce((a, b) => a * b, 1);
  const kept = tokens === undefined ? rest : [tokens, ...rest.slice(1)];
  const start = row * size;
  const part = (data as Float32Array).subarray(start, start + kept.reduce((a, b) => a * b, 1));
  return { type, data: part, dims: [1, ...kept] };
}
