import type { PatternPart } from './pattern.js';

/** A part of a delimiter: a text, or the group that holds a name, a key or a value. */
export type Mark = { text: string } | { group: string | undefined; inner: string };

/** What a delimiter consists of, without blanks; undefined where it says more than texts and groups. */
export function marksOf(parts: readonly PatternPart[]): Mark[] | undefined {
  const marks: Mark[] = [];
  for (const part of parts) {
    if (part.kind === 'blanks') continue;
    if (part.kind === 'text') {
      if (part.text.trim() !== '') marks.push({ text: part.text.trim() });
    } else if (part.kind === 'group') marks.push({ group: part.name, inner: part.inner });
    else if (part.kind === 'choice' && part.texts.length === 1) marks.push({ text: part.texts[0]!.trim() });
    else if (!(part.kind === 'choice' && part.texts.length === 0)) return undefined;
  }
  return marks;
}

/** The texts before and after the group of that name, where there is one group only. */
export function aroundGroup(
  marks: readonly Mark[],
  name?: string,
): { before: string[]; after: string[] } | undefined {
  const at = marks.findIndex((mark) => 'inner' in mark && mark.group === name);
  if (at < 0) return undefined;
  const [before, after] = [textsIn(marks.slice(0, at)), textsIn(marks.slice(at + 1))];
  return before && after ? { before, after } : undefined;
}

/** Undefined where there is a group among them. */
export function textsIn(marks: readonly Mark[]): string[] | undefined {
  const texts = marks.flatMap((mark) => ('text' in mark ? [mark.text] : []));
  return texts.length === marks.length ? texts : undefined;
}
