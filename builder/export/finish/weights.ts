import { createHash } from 'node:crypto';
import path from 'node:path';
import { floatsOf, readPart, type StoredTensor, type WeightIndex } from '../../../runtime/weights/index.js';
import { FLOAT, type Tensor } from './tensor.js';

/** A constant of a graph that is one of the checkpoint's tensors. */
export interface Match {
  stored: StoredTensor;
  /** Its rows are the columns of the stored one. */
  transposed: boolean;
}

export interface MatchRequest {
  /** Floats outside of the graph. */
  tensors: readonly Tensor[];
  /** Folder of the graph's own weights. */
  from: string;
  index: WeightIndex;
  /** Folder of the checkpoint. */
  checkpoint: string;
  /** True where all that read it can read it transposed. */
  mayTurn(tensor: Tensor): boolean;
}

const TYPES: ReadonlySet<string> = new Set(['F32', 'F16', 'BF16']);
const FLOAT_BYTES = 4;

/**
 * Finds constants among the tensors of a checkpoint by their values, whatever their names are. Reads one tensor at a time.
 * @returns by the names of the constants
 */
export async function matchWeights(request: MatchRequest): Promise<Map<string, Match>> {
  const { tensors, index } = request;
  const stored = [...index.values()].filter(({ type }) => TYPES.has(type));
  const found = new Map<string, Match>();
  for (const [count, alike] of groupBy(tensors, ({ dims }) => product(dims))) {
    const candidates = stored.filter(({ shape }) => product(shape) === count);
    if (candidates.length > 0) await matchGroup(request, alike, { candidates, found });
  }
  return found;
}

interface Group {
  candidates: readonly StoredTensor[];
  found: Map<string, Match>;
}

/** Among tensors of as many numbers. The first of equal tensors counts, so that the graph is the same each time. */
async function matchGroup(
  { from, checkpoint, mayTurn }: MatchRequest,
  tensors: readonly Tensor[],
  { candidates, found }: Group,
): Promise<void> {
  const [straight, turned] = [new Map<string, Tensor[]>(), new Map<string, Tensor[]>()];
  for (const tensor of tensors) {
    const bytes = await bytesAt(from, tensor.place!);
    add(straight, hashOf(bytes), tensor);
    if (tensor.dims.length !== 2 || !mayTurn(tensor)) continue;
    add(turned, hashOf(transpose(floatsOf(bytes, 'F32'), tensor.dims)), tensor);
  }
  for (const stored of candidates) {
    const floats = floatsOf(await bytesAt(checkpoint, stored), stored.type);
    const hash = hashOf(floats);
    for (const { name } of straight.get(hash) ?? [])
      if (found.get(name)?.transposed !== false) found.set(name, { stored, transposed: false });
    if (stored.shape.length !== 2) continue;
    for (const { name, dims } of turned.get(hash) ?? [])
      if (!found.has(name) && dims[0] === stored.shape[1]) found.set(name, { stored, transposed: true });
  }
}

/** Bytes of a tensor. @throws Error where the file is shorter than it says */
export async function bytesAt(
  folder: string,
  { file, offset, length }: { file: string; offset: number; length: number },
): Promise<Buffer> {
  const bytes = await readPart(path.join(folder, ...file.split('/')), offset, length);
  if (bytes.length === length) return bytes;
  throw new Error(`${file} has become shorter`);
}

/** True for floats whose bytes lie outside of the graph. */
export const isWeight = ({ type, place, dims }: Tensor): boolean =>
  type === FLOAT && place !== undefined && place.length === FLOAT_BYTES * product(dims);

export function transpose(values: Float32Array, [rows = 1, columns = 1]: readonly number[]): Float32Array {
  const turned = new Float32Array(values.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      turned[column * rows + row] = values[row * columns + column]!;
  return turned;
}

const product = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b, 1);

function hashOf(bytes: Uint8Array | Float32Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}

function groupBy(tensors: readonly Tensor[], keyOf: (tensor: Tensor) => number): Map<number, Tensor[]> {
  const groups = new Map<number, Tensor[]>();
  for (const tensor of tensors) groups.set(keyOf(tensor), [...(groups.get(keyOf(tensor)) ?? []), tensor]);
  return groups;
}

function add<T>(groups: Map<string, T[]>, key: string, value: T): void {
  groups.set(key, [...(groups.get(key) ?? []), value]);
}
