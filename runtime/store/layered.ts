import type { BaseModel } from '../core/spec.js';
import type { ModelSource } from './source.js';

/** `open` for the files of both, by a model's description. */
export function openLayered(
  own: Pick<ModelSource, 'open'>,
  below: () => Pick<ModelSource, 'open'>,
  base: BaseModel,
): Pick<ModelSource, 'open'> {
  const isBase = isBaseFile(base);
  return {
    open: (ref, file, ...rest) =>
      isBase(file.path) ? below().open(base, inBase(base, file), ...rest) : own.open(ref, file, ...rest),
  };
}

/** A file as the repository of the base has it. */
export function inBase<F extends { path: string }>({ folder }: BaseModel, file: F): F {
  return folder === undefined ? file : { ...file, path: file.path.slice(folder.length + 1) };
}

export function isBaseFile({ files }: BaseModel): (path: string) => boolean {
  const paths = new Set(files);
  return (path) => paths.has(path);
}
