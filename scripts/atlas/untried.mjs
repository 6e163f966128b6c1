/** The pairs of task and model type that the atlas calls untried, as lines; those of types with no better verdict come first. */
import { verdicts } from './page.mjs';

/** Cheap networks of one run first. */
const ORDER = [
  ...['fill-mask', 'text-classification', 'token-classification', 'question-answering', 'feature-extraction'],
  ...['image-classification', 'image-feature-extraction', 'zero-shot-image-classification'],
  ...['object-detection', 'depth-estimation', 'image-segmentation', 'text-generation'],
  'text2text-generation',
];

/** @returns {{task: string, type: string}[]} */
export function untriedPairs() {
  const all = verdicts().flatMap(({ task, found }) => found.map((one) => ({ task, ...one })));
  const served = new Set(
    all.filter(({ kind }) => kind === 'written' || kind === 'exported').map(({ type }) => type),
  );
  const untried = all.filter(({ kind, task }) => kind === 'untried' && ORDER.includes(task));
  untried.sort((a, b) => ORDER.indexOf(a.task) - ORDER.indexOf(b.task));
  const seen = new Set(served);
  const rank = ({ type }) => (seen.has(type) ? 1 : (seen.add(type), 0));
  const ranked = untried.map((one) => ({ ...one, rank: rank(one) }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ task, type }) => ({ task, type }));
}
