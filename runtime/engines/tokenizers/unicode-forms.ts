import { type AlignedText, type Change, transform } from './aligned-text.js';

export type UnicodeForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

/** A character with those that may combine with it: marks, Korean letters, half-width voice signs. */
const CLUSTER = /[^][\p{M}\u1160-\u11ff\uff9e\uff9f\u3130-\u318f\uffa0-\uffdc]*/gu;

/** Unicode normalization; origins follow the characters as they decompose, are sorted and compose. */
export function unicodeForm(value: AlignedText, form: UnicodeForm): AlignedText {
  const text = value.text.normalize(form);
  if (!value.origins || text === value.text) return { ...value, text };
  const clusters = value.text.match(CLUSTER) ?? [];
  const apart = clusters.map((cluster) => cluster.normalize(form)).join('') === text;
  return transform(value, changesOf(apart ? clusters : [value.text], form));
}

function* changesOf(clusters: readonly string[], form: UnicodeForm): Generator<Change> {
  for (const cluster of clusters) {
    if (cluster.normalize(form) === cluster) for (const char of cluster) yield [char, 0];
    else yield* clusterChanges(cluster, form);
  }
}

function clusterChanges(cluster: string, form: UnicodeForm): Change[] {
  const apart: UnicodeForm = form.includes('K') ? 'NFKD' : 'NFD';
  const decomposed = Array.from(cluster, (char) =>
    Array.from(char.normalize(apart), (piece, i): Change => [piece, i > 0 ? 1 : 0]),
  ).flat();
  const take = taker(decomposed);
  const sorted = Array.from(cluster.normalize(apart), (char): Change => [char, take(char)]);
  if (form === apart) return sorted;
  const compose = taker(sorted);
  return Array.from(cluster.normalize(form), (char): Change => {
    const parts = Array.from(char.normalize('NFD'));
    return [char, parts.reduce((sum, piece) => sum + compose(piece), 1 - parts.length)];
  });
}

/** Hands out the changes of equal characters in their order. */
function taker(changes: readonly Change[]): (char: string) => number {
  const queues = new Map<string, number[]>();
  for (const [char, change] of changes.toReversed()) {
    const queue = queues.get(char);
    if (queue) queue.push(change);
    else queues.set(char, [change]);
  }
  return (char) => queues.get(char)?.pop() ?? 1;
}
