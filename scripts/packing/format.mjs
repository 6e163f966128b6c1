/**
 * A pack of test/fixtures/packs: brotli over the length of a header (uint32), the header (JSON: files with their parts) and
 * the bytes of all parts. Parts are bytes as they are, numbers with the first bytes of all before the second ones, and
 * weights of 32 or 16 bits drawn as torch draws them, with the steps of the last bit between both (a byte each). Files that several models
 * have are in packs of their own, `shared/<sha256>.pack`.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { normal, words } from './draws.mjs';
import { halfOf } from './halves.mjs';

export const FIXTURES = join(import.meta.dirname, '../../test/fixtures');
export const PACKS = join(FIXTURES, 'packs');
export const SHARED = join(PACKS, 'shared');
/** Folders of test/fixtures whose models, <task>/<name>, are packed. */
export const ROOTS = ['zoo', 'zoo-gguf', 'zoo-own', 'zoo-v5', 'zoo-weights'];
/** Streams of random words grow by this many. */
const WORDS = 1 << 18;
/** A tensor's last block of 16 may be drawn anew. */
const BLOCK = 16;

export const sha256 = (content) => createHash('sha256').update(content).digest('hex');

/** Paths of all files under a folder, relative to it, in order; none where it is not there. */
export function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return (
    readdirSync(folder, { recursive: true, withFileTypes: true })
      // Servers that tests start leave records of what they have checked (.slipway.json).
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.slipway'))
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
      .sort()
  );
}

/** Models that are packed, as `<root>/<task>/<name>`. */
export const packedModels = () =>
  filesUnder(PACKS)
    .filter((file) => dirname(file) !== 'shared')
    .map((file) => file.slice(0, -'.pack'.length));

export const packOf = (model) => join(PACKS, `${model}.pack`);
export const sharedPack = (digest) => join(SHARED, `${digest}.pack`);

/** Numbers of so many bytes: the first byte of all, then the second of all, and so on. */
export const split = (content, width) => turned(content, content.length / width, width);

const joined = (content, width) => turned(content, width, content.length / width);

/** Numbers of a matrix with rows and columns exchanged. */
export function turned(values, rows, columns) {
  const to = new Uint8Array(values.length * values.BYTES_PER_ELEMENT);
  const typed = values instanceof Float32Array ? new Float32Array(to.buffer) : to;
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) typed[c * rows + r] = values[r * columns + c];
  return typed;
}

/** @returns the files of a pack, `{ name, sha256, parts }`, without parts where they are shared, and the bytes of all parts */
export function readPack(file) {
  const content = brotliDecompressSync(readFileSync(file));
  const start = 4 + content.readUInt32LE(0);
  return { files: JSON.parse(content.toString('utf8', 4, start)), data: content.subarray(start) };
}

/**
 * The files of a pack, each the one that was packed.
 * @returns {Generator<{ name: string, content: Buffer }>}
 */
export function* contentsOf({ files, data }) {
  let at = 0;
  const take = (bytes) => data.subarray(at, (at += bytes));
  for (const { name, sha256: digest, parts } of files) {
    const content = parts ? Buffer.concat(parts.map((part) => bytesOf(part, take))) : sharedContent(digest);
    if (sha256(content) !== digest)
      throw new Error(`${name}: its pack gives other bytes; pack it again (scripts/packing/pack.mjs)`);
    yield { name, content };
  }
}

const sharedContent = (digest) => contentsOf(readPack(sharedPack(digest))).next().value.content;

function bytesOf({ bytes, width, draw }, take) {
  if (draw) return weights(draw, new Int8Array(take(bytes / (draw.half ? 2 : 4))));
  return width ? joined(take(bytes), width) : take(bytes);
}

/** Weights of a recipe, each of which differs by so many steps of its last bit. */
function weights({ seed, start, deviation, turn, half }, steps) {
  const values = normal(stream(seed, start + steps.length + BLOCK), start, steps.length);
  if (half) return halves({ values, deviation, turn }, steps);
  const bits = new Int32Array(values.buffer);
  for (let i = 0; i < steps.length; i++) {
    values[i] *= deviation;
    bits[i] += steps[i];
  }
  return new Uint8Array((turn ? turned(values, ...turn) : values).buffer);
}

function halves({ values, deviation, turn }, steps) {
  const bits = Float32Array.from(values, (value, i) => halfOf(Math.fround(value * deviation)) + steps[i]);
  const flat = turn ? turned(bits, ...turn) : bits;
  return new Uint8Array(Uint16Array.from(flat).buffer);
}

const streams = new Map();

function stream(seed, count) {
  const known = streams.get(seed);
  if (known?.length >= count) return known;
  const longer = words(seed, Math.ceil(count / WORDS) * WORDS);
  streams.set(seed, longer);
  return longer;
}
