/** `org/name` or a bare `name`, in the characters that the hub allows. */
const MODEL_ID = /^(?:[A-Za-z0-9][\w.-]{0,95}\/)?[A-Za-z0-9_][\w.-]{0,95}$/;

/** True for a well-formed hub id: no path tricks (`..`, `--` runs that the hub forbids), no leading dot. */
export function isModelId(id: string): boolean {
  return MODEL_ID.test(id) && !id.includes('..') && !id.includes('--') && !/\.git$/i.test(id);
}
