import { createHash, randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const MODELS = join(import.meta.dirname, '../fixtures/graph-models');
/** Not in the temporary folder, which each run has anew. */
const CACHE = join(import.meta.dirname, '../../.cache/fixtures');
const RECIPES = 'weights.json';

/** Seed, binary places of the numbers, the whole number in their middle, and how wide they are spread about it. */
export type Recipe = readonly [seed: number, places: number, centre: number, width: number];

type Kind = 'F32' | 'F16' | 'BF16';

/** A file of safetensors. */
interface Description {
  /** Of the file that Python saved. */
  sha256: string;
  metadata: object | null;
  /** In the order of their data: what draws them, or their bytes in base64. */
  tensors: (readonly [name: string, kind: Kind, dims: number[], from: Recipe | string])[];
}

/** The whole numbers of a recipe, which stand for so many parts of two to the power of its places (drawn.py). */
function wholeNumbers([seed, , centre, width]: Recipe, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => {
    let bits = (Math.imul(i, 0x9e3779b9) + seed) >>> 0;
    bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
    bits ^= bits >>> 15;
    const noise = (bits & 255) + ((bits >>> 8) & 255) + ((bits >>> 16) & 255) + (bits >>> 24) - 510;
    return centre + ((noise * width + 512) >> 10);
  });
}

/** The numbers that a recipe draws. */
export function drawn(recipe: Recipe, count: number): Float32Array {
  return Float32Array.from(wholeNumbers(recipe, count), (whole) => whole * 2 ** -recipe[1]);
}

/** A whole number of at most nine bits, over two to the power of `places`, as a normal float16. */
function halfOf(whole: number, places: number): number {
  if (whole === 0) return 0;
  const magnitude = Math.abs(whole);
  const exponent = 31 - Math.clz32(magnitude);
  const fraction = (magnitude << (10 - exponent)) & 0x3ff;
  return (whole < 0 ? 0x8000 : 0) | ((exponent - places + 15) << 10) | fraction;
}

function bytesOf(kind: Kind, dims: readonly number[], from: Recipe | string): Uint8Array {
  if (typeof from === 'string') return Buffer.from(from, 'base64');
  const count = dims.reduce((a, b) => a * b, 1);
  if (kind === 'F16')
    return bytesUnder(Uint16Array.from(wholeNumbers(from, count), (whole) => halfOf(whole, from[1])));
  const floats = drawn(from, count);
  if (kind === 'F32') return bytesUnder(floats);
  return bytesUnder(Uint16Array.from(new Uint32Array(floats.buffer), (bits) => bits >>> 16));
}

const bytesUnder = ({ buffer }: Float32Array | Uint16Array): Uint8Array => new Uint8Array(buffer);

/** The file, as Python saved it to the bit. */
function safetensorsOf({ metadata, tensors }: Omit<Description, 'sha256'>): Buffer {
  const header: Record<string, object> = metadata ? { __metadata__: metadata } : {};
  const data: Uint8Array[] = [];
  let end = 0;
  for (const [name, kind, dims, from] of tensors) {
    const bytes = bytesOf(kind, dims, from);
    header[name] = { dtype: kind, shape: dims, data_offsets: [end, (end += bytes.length)] };
    data.push(bytes);
  }
  const text = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([text, Buffer.alloc(-text.length & 7, ' ')]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, padded, ...data]);
}

/** Of all that the folder holds: a checkpoint of an earlier state is never taken for it. */
function digestOf(folder: string, files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}

/**
 * A checkpoint of test/fixtures/graph-models with its weights, which are drawn from seeds instead of being stored.
 * @returns its folder, for reading alone: others read it, too
 */
export function graphModel(name: string): string {
  const from = join(MODELS, name);
  const files = readdirSync(from).sort();
  const folder = join(CACHE, `${name}-${digestOf(from, files)}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${randomUUID()}`;
  mkdirSync(unfinished, { recursive: true });
  for (const file of files) {
    if (file === RECIPES) writeWeights(join(from, file), unfinished);
    else copyFileSync(join(from, file), join(unfinished, file));
  }
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    // Another process was first.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function writeWeights(recipes: string, folder: string): void {
  const described = JSON.parse(readFileSync(recipes, 'utf8')) as Record<string, Description>;
  for (const [file, description] of Object.entries(described)) {
    const content = safetensorsOf(description);
    if (createHash('sha256').update(content).digest('hex') !== description.sha256)
      throw new Error(`${recipes}: ${file} is not drawn as Python did`);
    writeFileSync(join(folder, file), content);
  }
}

/** Names of all checkpoints. */
export const graphModels = (): string[] => readdirSync(MODELS).sort();
