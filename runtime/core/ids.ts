/** `org/name` or `name`, with the characters that the hub allows. */
const MODEL_ID = /^(?:[A-Za-z0-9][\w.-]{0,95}\/)?[A-Za-z0-9_][\w.-]{0,95}$/;

/** True for a valid hub id, without `..`, `--` and leading dots. */
export function isModelId(id: string): boolean {
  return MODEL_ID.test(id) && !id.includes('..') && !id.includes('--') && !/\.git$/i.test(id);
}
