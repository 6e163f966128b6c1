import type { RepoFile } from '../../runtime/core/spec.js';

/** Licence texts, notices and the model card, as repositories name them at their root. */
const NOTICE = /^(?:(?:un)?licen[cs]e|copying|notice|use_policy|readme|model_?card)(?:[-._][\w.-]*)?$/i;
/** A model card without its pictures is text; what is larger is something else. */
const LARGEST = 5e6;

/** Licence texts and model card of one model. */
export interface Notices {
  files: readonly RepoFile[];
  /** Folder that holds them. */
  dir: string;
}

/** The files of a listing that travel with the weights: whoever passes a model on has to pass on its licence. */
export function noticeFiles(files: readonly RepoFile[]): RepoFile[] {
  return files.filter(({ path, size }) => NOTICE.test(path) && size <= LARGEST);
}
