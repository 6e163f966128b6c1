import type { RepoFile } from '../../runtime/core/spec.js';

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
