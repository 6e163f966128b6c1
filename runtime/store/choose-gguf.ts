import { posix } from 'node:path';
import { printable } from '../core/printable.js';
import type { RepoFile } from '../core/spec.js';
import { partPaths } from '../gguf/parts.js';
import { StoreError } from './errors.js';
import { ggufLabel, labelRank } from './gguf-label.js';

/** `mmproj`: towers for images and audio clips. `draft`: a small model that guesses for a large one. `imatrix`: figures for quantising. */
export type GgufRole = 'model' | 'mmproj' | 'adapter' | 'draft' | 'imatrix' | 'vocabulary';

/** A file of GGUF, or the parts of one. */
export interface GgufVariant {
  role: GgufRole;
  /** Quantisation, as its name has it. */
  label: string | undefined;
  /** Path of the first part. */
  path: string;
  /** All parts in their order, as far as they are there. */
  files: RepoFile[];
  /** Parts that are missing. */
  missing: string[];
  /** In bytes. */
  size: number;
}

const ROLES: readonly (readonly [GgufRole, RegExp])[] = [
  ['mmproj', /mmproj/i],
  ['imatrix', /imatrix/i],
  ['adapter', /(?:^|[-_./])(?:lora|adapter)(?=[-_./])/i],
  ['draft', /(?:^|[-_./])(?:draft|eagle3?|mtp)(?=[-_./])/i],
  ['vocabulary', /(?:^|[-_./])vocab(?:-only)?(?=[-_./])/i],
];

const roleOf = (path: string): GgufRole =>
  ROLES.find(([, pattern]) => pattern.test(posix.basename(path)))?.[0] ?? 'model';

const GGUF = /\.gguf$/i;

/** True for a repository whose only weights are in files of GGUF. */
export function isGgufOnly(files: readonly Pick<RepoFile, 'path'>[]): boolean {
  const others = /\.(?:safetensors|onnx|bin|pt|pth|ckpt|h5|msgpack)$|(?:^|\/)model_index\.json$/;
  return files.some(({ path }) => GGUF.test(path)) && !files.some(({ path }) => others.test(path));
}

/** The files of GGUF of a listing: parts together, the largest first, models before others. */
export function ggufVariants(files: readonly RepoFile[]): GgufVariant[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const variants = new Map<string, GgufVariant>();
  for (const { path } of files.filter(({ path }) => GGUF.test(path))) {
    const paths = partPaths(path);
    if (paths.length === 0 || variants.has(paths[0]!)) continue;
    const parts = paths.flatMap((part) => byPath.get(part) ?? []);
    variants.set(paths[0]!, {
      role: roleOf(path),
      label: ggufLabel(path),
      path: paths[0]!,
      files: parts,
      missing: paths.filter((part) => !byPath.has(part)),
      size: parts.reduce((sum, { size }) => sum + size, 0),
    });
  }
  const order = (a: GgufVariant, b: GgufVariant) =>
    Number(a.role !== 'model') - Number(b.role !== 'model') || b.size - a.size || (a.path < b.path ? -1 : 1);
  return [...variants.values()].sort(order);
}

export interface GgufChoiceRequest {
  id: string;
  variants: readonly GgufVariant[];
  /** A label, a path, or the name of a file. */
  wanted?: string | undefined;
  /** True where this machine has memory enough. */
  fits?(variant: GgufVariant): boolean;
  /** True where it can be served. */
  serves?(variant: GgufVariant): boolean;
}

export interface GgufChoice {
  variant: GgufVariant;
  /** Why this one. */
  reason: string;
}

/**
 * The file of a model. Pure: asked for, else Q4_K_M, else the most exact that fits and is not beyond 8 bits.
 * @throws StoreError not_found where there is none; it names those that are there
 */
export function chooseGguf(request: GgufChoiceRequest): GgufChoice {
  const { id, variants, wanted, fits = () => true, serves = () => true } = request;
  const models = variants.filter(({ role }) => role === 'model');
  if (models.length === 0) throw new StoreError('not_found', `${id} has no model in GGUF`);
  if (wanted !== undefined) return { variant: whole(named(request, wanted)), reason: 'asked for' };
  const complete = models.filter(({ missing }) => missing.length === 0);
  if (complete.length === 0) return { variant: whole(models[0]!), reason: '' };
  if (complete.length === 1) return { variant: complete[0]!, reason: 'the only one that is there' };
  const served = complete.filter(serves);
  const among = served.length > 0 ? served : complete;
  const fitting = among.filter(fits);
  if (fitting.length === 0)
    return { variant: among.at(-1)!, reason: 'the smallest: none fits the memory of this machine' };
  const usual = fitting.find(({ label }) => label === USUAL);
  if (usual) return { variant: usual, reason: 'the usual choice: 4 bits where it matters least' };
  const narrow = fitting.filter(({ label }) => labelRank(label) >= labelRank('Q8_0'));
  const best = [...(narrow.length > 0 ? narrow : fitting)].sort(
    (a, b) => labelRank(a.label) - labelRank(b.label) || b.size - a.size,
  )[0]!;
  return { variant: best, reason: 'the most exact that fits and has 8 bits at most' };
}

const USUAL = 'Q4_K_M';

/** Types of towers, the best first: of 16 bits nearly all numbers of bfloat16 are exact, and 32 are twice as large. */
const TOWER_LABELS = ['F16', 'BF16', 'F32'];

/**
 * The file for images and audio clips beside a model; undefined where there is none. Pure.
 * @param wanted one of them, by label, path or name
 * @throws StoreError `not_found` if none, or several, are so called
 */
export function chooseMmproj(variants: readonly GgufVariant[], wanted?: string): GgufChoice | undefined {
  const whole = variants.filter(({ role, missing }) => role === 'mmproj' && missing.length === 0);
  if (wanted !== undefined) return { variant: mmprojNamed(whole, wanted), reason: 'asked for' };
  if (whole.length <= 1) return whole[0] && { variant: whole[0], reason: 'the only one that is there' };
  const rankOf = ({ label = '' }: GgufVariant) =>
    TOWER_LABELS.includes(label) ? TOWER_LABELS.indexOf(label) : TOWER_LABELS.length + labelRank(label);
  const variant = [...whole].sort((a, b) => rankOf(a) - rankOf(b) || b.size - a.size)[0]!;
  return { variant, reason: `of ${whole.length} the first of ${TOWER_LABELS.join(', ')} and fewer bits` };
}

function mmprojNamed(towers: readonly GgufVariant[], wanted: string): GgufVariant {
  const name = wanted.toLowerCase();
  const found = towers.filter(({ path, label }) => isNamed(path, name) || label?.toLowerCase() === name);
  if (found.length === 1) return found[0]!;
  const those = towers.map(({ path }) => path).join(', ') || 'none';
  throw new StoreError(
    'not_found',
    `${found.length === 0 ? 'no' : 'more than one'} mmproj file is called ${printable(wanted)}`,
    {
      remedy: `give one of these with --mmproj: ${those}`,
    },
  );
}

/** By path or by the name of the file, with its ending or without. @param name in lower case */
function isNamed(path: string, name: string): boolean {
  return [path, posix.basename(path)].some(
    (one) => one.toLowerCase().replace(/\.gguf$/, '') === name.replace(/\.gguf$/, ''),
  );
}

function whole(variant: GgufVariant): GgufVariant {
  if (variant.missing.length === 0) return variant;
  throw new StoreError('not_found', `${variant.path} lacks its part ${variant.missing[0]!}`, {
    remedy: 'the upload is incomplete: take another file with --file, or another revision',
  });
}

/** By path, by the name of a file, or by label: `UD-Q4_K_XL` only where it is written so. */
function named({ id, variants }: GgufChoiceRequest, wanted: string): GgufVariant {
  const name = wanted.toLowerCase();
  const byName = variants.find(({ files }) => files.some(({ path }) => isNamed(path, name)));
  if (byName?.role === 'model') return byName;
  if (byName)
    throw new StoreError('invalid', `${byName.path} is no model but ${ROLE_WORDS[byName.role]}`, {
      remedy: 'give the file of the model with --file',
    });
  const models = variants.filter(({ role }) => role === 'model');
  const labelled = models.filter(({ label }) => label?.toLowerCase() === name);
  if (labelled.length === 1) return labelled[0]!;
  const listed = (labelled.length > 1 ? labelled : models)
    .map(({ label, path }) => (labelled.length > 1 ? path : (label ?? path)))
    .slice(0, 30)
    .join(', ');
  if (labelled.length > 1)
    throw new StoreError('invalid', `${id} has several files of ${printable(wanted)}`, {
      remedy: `give one of ${listed} with --file`,
    });
  throw new StoreError('not_found', `${id} has no GGUF file ${printable(wanted)}`, {
    remedy: `give one of ${listed} with --file`,
  });
}

/** What files are that are no models. */
export const ROLE_WORDS: Readonly<Record<GgufRole, string>> = {
  model: 'a model',
  mmproj: 'a tower for images or audio (mmproj)',
  adapter: 'an adapter (LoRA)',
  draft: 'a small model that drafts for a large one',
  imatrix: 'figures for quantising (imatrix)',
  vocabulary: 'a vocabulary without weights',
};
