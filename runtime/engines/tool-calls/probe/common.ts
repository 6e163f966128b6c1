/** What two texts begin with alike; a tag that only begins there is none of it. */
export function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  const common = a.slice(0, length);
  const open = common.lastIndexOf('<');
  // Alike to the end, it is not cut.
  return open > common.lastIndexOf('>') && length < a.length && length < b.length
    ? common.slice(0, open)
    : common;
}

/** What two texts end with alike; a tag that only ends there is none of it. */
export function commonEnd(a: string, b: string): string {
  let length = 0;
  while (length < a.length && length < b.length && a.at(-1 - length) === b.at(-1 - length)) length++;
  const common = a.slice(a.length - length);
  const within = [a, b].some((text) => endsInTag(text.slice(0, text.length - length)));
  return within ? common.slice(common.indexOf('>') + 1) : common;
}

const endsInTag = (text: string): boolean => text.lastIndexOf('<') > text.lastIndexOf('>');

/** What only the first text has, between what both begin and end with; undefined where that is nothing. */
export function differing(text: string, other: string): string | undefined {
  const start = commonStart(text, other).length;
  const end = commonEnd(text.slice(start), other.slice(start)).length;
  const own = text.slice(start, text.length - end);
  return own === '' ? undefined : own;
}
