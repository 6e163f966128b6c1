import { printable } from '../core/printable.js';

/** Why a checkpoint is refused; one for each thing that can be wrong with it. */
export type WeightsErrorCode =
  /** The repository has no file that could be a checkpoint. */
  | 'no-weights'
  /** It has only the weights of an adapter (LoRA). */
  | 'adapter-only'
  /** A pointer of Git LFS instead of the file. */
  | 'lfs-pointer'
  /** The source gave fewer bytes than asked for. */
  | 'short-read'
  | 'too-many-tensors'
  /** Header of safetensors: longer than the file or the limit. */
  | 'header-length'
  | 'header-json'
  | 'header-number'
  | 'duplicate-name'
  | 'element-type'
  /** A type that files have and graphs can't use. */
  | 'unsupported-type'
  /** Type × shape is another length than that of the data, or beyond any file. */
  | 'tensor-size'
  | 'tensor-overlap'
  | 'tensor-gap'
  /** Data ends before the file's end, or after it. */
  | 'file-length'
  | 'index-json'
  | 'shard-path'
  | 'shard-missing'
  | 'tensor-missing'
  /** Two shards hold tensors of one name. */
  | 'name-collision'
  /** A file of torch before 1.6, which is no zip archive. */
  | 'legacy-pickle'
  | 'torchscript'
  | 'zip-damaged'
  | 'zip-split'
  | 'zip-encrypted'
  | 'zip-compressed'
  | 'zip-duplicate'
  | 'zip-limit'
  | 'pickle-opcode'
  | 'pickle-global'
  | 'pickle-damaged'
  | 'pickle-limit'
  | 'not-a-state-dict'
  | 'storage'
  | 'strides'
  | 'byte-order'
  | 'gguf-magic'
  | 'gguf-version'
  | 'too-many-keys'
  | 'string-length'
  | 'array-length'
  | 'nested-array'
  | 'value-type'
  | 'alignment'
  /** Parts of a file that do not belong together. */
  | 'split'
  /** Metadata of GGUF that graphs can't be written by. */
  | 'metadata'
  /** A file of GGUF that is no model. */
  | 'not-a-model';

export interface WeightsProblem {
  code: WeightsErrorCode;
  /** What is wrong, without the name of the file. */
  what: string;
  /** What to do instead. */
  remedy: string;
}

/** A checkpoint that can't be used, found before any of its weights is read. */
export class WeightsError extends Error {
  override name = 'WeightsError';
  readonly code: WeightsErrorCode;
  /** What is wrong, with the file; without the remedy. */
  readonly reason: string;
  readonly remedy: string;

  constructor(
    /** Path of the file, or of the repository's folder. */
    readonly file: string,
    { code, what, remedy }: WeightsProblem,
  ) {
    const reason = `${printable(file)} ${what}`;
    super(`${reason}; ${remedy}`);
    this.code = code;
    this.reason = reason;
    this.remedy = remedy;
  }
}

/** For files that are damaged, or made to do damage. */
export const DAMAGED_REMEDY =
  'the file is damaged or was not made by the usual tools: take another revision of the repository, or another repository with the same model';

/** For checkpoints that only torch can read. */
export const CONVERT_REMEDY =
  'take a revision with model.safetensors: https://huggingface.co/spaces/safetensors/convert opens a pull request with it, whose revision is refs/pr/<number>';

const MAX_QUOTED = 120;

/** Untrusted text for a message: quoted, printable and short. */
export function quoted(text: string): string {
  const short = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  return JSON.stringify(printable(short));
}
