import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { RangeSource } from '../../../runtime/weights/index.js';

export const FIXTURES = join(import.meta.dirname, '../../fixtures/weights');

/** The files of a repository, by path. */
export type Files = Record<string, Buffer>;

export function readFiles(dir: string): Files {
  const paths = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    paths.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(dir.length + 1), readFileSync(path)];
    }),
  );
}

/** A source that notes what is read; sizes are those listed, which the content may not have. */
export function sourceOf(files: Files, sizes: Record<string, number> = {}) {
  const reads: { path: string; offset: number; length: number }[] = [];
  const source: RangeSource = {
    files: Object.entries(files).map(([path, { length }]) => ({ path, size: sizes[path] ?? length })),
    async read(path, offset, length) {
      reads.push({ path, offset, length });
      return new Uint8Array(files[path]!.subarray(offset, offset + length));
    },
  };
  return { source, reads };
}

/** A safetensors file with this header, as text or value, and data. */
export function safetensors(header: unknown, data: Buffer | number = 0): Buffer {
  const text = Buffer.isBuffer(header)
    ? header
    : Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, typeof data === 'number' ? Buffer.alloc(data) : data]);
}

export interface ZipFile {
  name: string;
  data: Buffer;
  /** Over what is written for the entry; `size` in the directory alone. */
  flags?: number;
  method?: number;
  size?: number;
  /** Name in the local header. */
  localName?: string;
  /** Offset in the directory. */
  offset?: number;
  extra?: Buffer;
}

const fields = (...values: [bytes: 2 | 4 | 8, value: number][]): Buffer =>
  Buffer.concat(
    values.map(([bytes, value]) => {
      const buffer = Buffer.alloc(8);
      buffer.writeBigUInt64LE(BigInt(value));
      return buffer.subarray(0, bytes);
    }),
  );

/** The fields of a zip archive's end, to be changed by tests. */
export interface ZipEnd {
  zip64?: boolean;
  disk?: number;
  count?: number;
  comment?: string;
  /** In the zip64 record alone. */
  longCount?: number;
}

/** A zip archive with entries as they are. */
export function zip(files: readonly ZipFile[], end: ZipEnd = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, data, flags = 0x800, method = 0, size = data.length, ...file } of files) {
    const offset = file.offset ?? at;
    const [localName, longName] = [Buffer.from(file.localName ?? name), Buffer.from(name)];
    const extra = file.extra ?? Buffer.from('FB\x02\x00ZZ', 'latin1');
    const about = fields([2, flags], [2, method], [4, 0], [4, crc32(data)]);
    const local = fields([4, data.length], [4, data.length], [2, localName.length], [2, extra.length]);
    parts.push(fields([4, 0x04034b50], [2, 0]), about, local, localName, extra, data);
    at += 30 + localName.length + extra.length + data.length;
    const long = end.zip64 ? fields([2, 1], [2, 24], [8, size], [8, size], [8, offset]) : Buffer.alloc(0);
    const [shownSize, shownOffset] = end.zip64 ? [0xffffffff, 0xffffffff] : [size, offset];
    const central = fields([4, shownSize], [4, shownSize], [2, longName.length], [2, long.length], [2, 0]);
    const rest = fields([2, 0], [2, 0], [4, 0], [4, shownOffset]);
    directory.push(fields([4, 0x02014b50], [2, 0], [2, 0]), about, central, rest, longName, long);
  }
  const central = Buffer.concat(directory);
  return Buffer.concat([...parts, central, zipEnd(end, files.length, at, central.length)]);
}

function zipEnd(end: ZipEnd, files: number, offset: number, length: number): Buffer {
  const { disk = 0, count = files, comment = '', longCount = count } = end;
  const record = fields([4, 0x06064b50], [8, 44], [2, 45], [2, 45], [4, disk], [4, disk]);
  const sizes = fields([8, longCount], [8, longCount], [8, length], [8, offset]);
  const locator = fields([4, 0x07064b50], [4, 0], [8, offset + length], [4, 1]);
  const short = fields(
    [4, 0x06054b50],
    [2, disk],
    [2, disk],
    [2, count],
    [2, count],
    [4, length],
    [4, offset],
  );
  const long = end.zip64 ? [record, sizes, locator] : [];
  return Buffer.concat([...long, short, fields([2, comment.length]), Buffer.from(comment)]);
}

/** Opcodes and arguments of a pickle: texts as they are. */
export function pickle(...parts: (string | number)[]): Buffer {
  return Buffer.concat(
    parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part, 'latin1'))),
  );
}

/** BINUNICODE */
export function text(value: string): string {
  const bytes = Buffer.from(value);
  return `X${fields([4, bytes.length]).toString('latin1')}${bytes.toString('latin1')}`;
}

/** BININT1 */
export const int = (value: number): string => `K${String.fromCharCode(value)}`;

export interface PickledTensor {
  storage?: string;
  key?: string;
  count?: number;
  offset?: number;
  shape?: number[];
  strides?: number[];
}

export function pickledStorage(storage = 'torch\nFloatStorage', key = '0', count = 2): string {
  return `(${text('storage')}c${storage}\n${text(key)}${text('cpu')}${int(count)}tQ`;
}

/** A tensor as torch pickles it; two floats if nothing else is said. */
export function pickledTensor(tensor: PickledTensor = {}): string {
  const {
    storage = 'torch\nFloatStorage',
    key = '0',
    count = 2,
    offset = 0,
    shape = [2],
    strides = [1],
  } = tensor;
  const tuple = (values: number[]) => `(${values.map(int).join('')}t`;
  const id = pickledStorage(storage, key, count);
  const hooks = 'ccollections\nOrderedDict\n)R';
  return `ctorch._utils\n_rebuild_tensor_v2\n(${id}${int(offset)}${tuple(shape)}${tuple(strides)}\x89${hooks}tR`;
}

/** A state dict of one tensor `w`. */
export const stateDict = (tensor: PickledTensor = {}): Buffer =>
  pickle(`\x80\x02}${text('w')}${pickledTensor(tensor)}s.`);

/** pytorch_model.bin with this index and one storage of eight bytes. */
export function torchFile(
  index: Buffer = stateDict(),
  more: readonly ZipFile[] = [],
  end: ZipEnd = {},
): Buffer {
  return zip(
    [{ name: 'a/data.pkl', data: index }, { name: 'a/data/0', data: Buffer.from('ABCDEFGH') }, ...more],
    end,
  );
}
