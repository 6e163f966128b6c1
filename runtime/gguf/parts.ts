import { quoted } from '../weights/errors.js';
import { inParallel } from '../weights/in-parallel.js';
import { rangeFile, type RangeOptions } from '../weights/read-ranges.js';
import type { RangeSource } from '../weights/types.js';
import { readGgufHeader } from './header.js';
import { type Refuse, refusalsOf } from './refusal.js';
import type { GgufHeader, GgufMetadata, GgufTensor } from './types.js';

/** Headers that are read at a time. */
const PARALLEL = 4;
/** Far beyond any model. */
const MAX_PARTS = 999;

const PART = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;

/** The paths of all parts of a file, the first one first, by the path of any of them; itself where there are no parts. */
export function partPaths(path: string): string[] {
  const [, stem, , total] = PART.exec(path) ?? [];
  if (stem === undefined) return [path];
  const count = Math.min(Number(total), MAX_PARTS);
  return Array.from(
    { length: count },
    (_, i) => `${stem}-${String(i + 1).padStart(5, '0')}-of-${total}.gguf`,
  );
}

/** A model in one file or several. */
export interface GgufModel {
  /** Of the first part. */
  metadata: GgufMetadata;
  tensors: readonly (GgufTensor & { file: string })[];
  /** Paths of all parts. */
  files: readonly string[];
}

/**
 * The headers of all parts of a model, checked against each other.
 * @param path of any part
 * @throws WeightsError, or what the source throws
 */
export async function readGgufModel(
  source: RangeSource,
  path: string,
  options: RangeOptions = {},
): Promise<GgufModel> {
  const paths = partPaths(path);
  const sizes = new Map(source.files.map((file) => [file.path, file.size]));
  const missing = paths.find((one) => !sizes.has(one));
  if (missing !== undefined)
    throw refusalsOf(path)(
      'shard-missing',
      `is one of ${paths.length} parts, of which the repository lacks ${quoted(missing)}`,
      'the upload is incomplete: take another revision or another repository',
    );
  const headers = await inParallel(PARALLEL, options.signal, paths, (one, signal) =>
    readGgufHeader(rangeFile(source, { path: one, size: sizes.get(one)! }, { ...options, signal })),
  );
  const [first] = headers;
  headers.forEach((header, place) => checkPart(header, { place, count: paths.length, first: first! }));
  const tensors = headers.flatMap(({ file, tensors }) => tensors.map((tensor) => ({ ...tensor, file })));
  checkTensors(tensors, first!);
  return { metadata: first!.metadata, tensors, files: paths };
}

interface Expected {
  place: number;
  count: number;
  first: GgufHeader;
}

function checkPart({ file, metadata }: GgufHeader, { place, count, first }: Expected): void {
  const refuse = refusalsOf(file);
  const announced = metadata.get('split.count') ?? 1;
  if (announced !== count && !(announced === 0 && count === 1))
    throw refuse(
      'split',
      count === 1
        ? `says that it is one of ${String(announced)} parts, which its name does not`
        : `says that it is one of ${String(announced)} parts, and its name says ${count}`,
    );
  if (count > 1 && metadata.get('split.no') !== place)
    throw refuse(
      'split',
      `says that it is part ${Number(metadata.get('split.no')) + 1}, and its name says ${place + 1}`,
    );
  for (const key of ['split.tensors.count', 'general.architecture'])
    if (metadata.has(key) && metadata.get(key) !== first.metadata.get(key))
      throw refuse('split', `is part of another model than ${quoted(first.file)}: ${key} differs`);
}

function checkTensors(tensors: GgufModel['tensors'], { file, metadata }: GgufHeader): void {
  const refuse: Refuse = refusalsOf(file);
  const files = new Map<string, string>();
  for (const { name, file: other } of tensors) {
    const known = files.get(name);
    if (known !== undefined)
      throw refuse('name-collision', `has ${quoted(name)} in ${quoted(known)} and ${quoted(other)}`);
    files.set(name, other);
  }
  const announced = metadata.get('split.tensors.count');
  if (announced !== undefined && announced !== tensors.length)
    throw refuse(
      'tensor-missing',
      `announces ${String(announced)} tensors in all parts, which hold ${tensors.length}`,
    );
}
