import type { BaseModel, RepoFile } from '../../runtime/core/spec.js';

/** Names of licence texts, notices and model cards at a repository's root. */
const NOTICE = /^(?:(?:un)?licen[cs]e|copying|notice|use_policy|readme|model_?card)(?:[-._][\w.-]*)?$/i;
/** Larger files are not texts. */
const MAX_BYTES = 5e6;

/** Licence texts and model card of one model. */
export interface Notices {
  files: readonly RepoFile[];
  /** Folder with the files. */
  dir: string;
}

/** The notices in a listing. They go into the image, because a model must be passed on with its licence. */
export function noticeFiles(files: readonly RepoFile[]): RepoFile[] {
  return files.filter(({ path, size }) => NOTICE.test(path) && size <= MAX_BYTES);
}

/** Those of an adapter and of its base: each file of both listings from the repository that the description has it from. */
export function layeredNotices(
  adapter: readonly RepoFile[],
  below: readonly RepoFile[],
  { files }: Pick<BaseModel, 'files'>,
): RepoFile[] {
  const isBase = new Set(files);
  const own = adapter.filter(({ path }) => !isBase.has(path));
  return noticeFiles([...own, ...below.filter(({ path }) => isBase.has(path))]);
}
