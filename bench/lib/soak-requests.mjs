/** What clients send in the soak: ordinary requests of every length, impatient clients, and hostile ones. */
import { textOf } from './texts.mjs';

const json = (value) => ({ body: JSON.stringify(value), expect: [200] });
const refused = (value) => ({ ...json(value), expect: [400, 422] });
const either = (value) => ({ ...json(value), expect: [200, 400, 422] });

/** Members that a task wants beside `text`. */
const BESIDE = {
  'zero-shot-classification': { candidate_labels: ['weather', 'trade', 'a quiet river'] },
};
const GENERATES = new Set(['text-generation', 'summarization']);

const wordsOf = (random) => textOf(3 + Math.floor(random() ** 3 * 200), random);

function ordinary(task, random) {
  const params = GENERATES.has(task) ? { params: { max_new_tokens: 1 + Math.floor(random() * 12) } } : {};
  return { text: wordsOf(random), ...BESIDE[task], ...params };
}

/** JSON has no bytes of its own for half a pair: only an escape can say it. */
const withLoneSurrogate = (value) => JSON.stringify(value).replace('SURROGATE', String.raw`\ud83d`);

const manyLabels = (random) =>
  Array.from({ length: 300 }, (_, i) => `${i} ${textOf(3 + Math.floor(random() * 9), random)}`);

/** [weight, makes a request of a task]. */
const KINDS = {
  ordinary: [70, (task, random) => json(ordinary(task, random))],
  stream: [
    8,
    (task, random) => ({ ...json({ ...ordinary(task, random), stream: true }), expect: [200, 400] }),
  ],
  cancelled: [8, (task, random) => ({ ...json(ordinary(task, random)), cancelAfterMs: random() * 30 })],
  'cancelled stream': [
    3,
    (task, random) => ({
      ...json({ ...ordinary(task, random), stream: true }),
      ...{ expect: [200, 400], cancelAfterMs: random() * 60 },
    }),
  ],
  'empty text': [1, (task) => either({ ...BESIDE[task], text: '' })],
  'blank text': [1, (task) => either({ ...BESIDE[task], text: ' \n\t ' })],
  'control characters': [
    1,
    (task) =>
      either({ ...BESIDE[task], text: String.fromCharCode(...Array(32).keys(), 127, 0x202e, 0xfeff) }),
  ],
  'lone surrogate': [
    1,
    (task) => ({ ...either({}), body: withLoneSurrogate({ ...BESIDE[task], text: 'a SURROGATE b' }) }),
  ],
  'unknown parameter': [1, (task) => refused({ ...BESIDE[task], text: 'a', params: { no_such_thing: 1 } })],
  'wrong type': [1, (task) => refused({ ...BESIDE[task], text: { a: [1] } })],
  'deep JSON': [0.5, () => ({ ...refused({}), body: `{"text":${'['.repeat(20_000)}${']'.repeat(20_000)}}` })],
  'broken JSON': [1, () => ({ ...refused({}), body: '{"text": "never clo' })],
  'no body': [0.5, () => ({ ...refused({}), body: '' })],
  'a million letters': [0.3, (task) => either({ ...BESIDE[task], text: 'water '.repeat(170_000) })],
  'one long word': [0.2, (task) => either({ ...BESIDE[task], text: 'ab'.repeat(200_000) })],
  'too large': [0.1, () => ({ body: JSON.stringify({ text: 'a'.repeat(5_000_000) }), expect: [413] })],
  'many labels': [
    0.5,
    (task, random) =>
      task === 'zero-shot-classification'
        ? either({ text: wordsOf(random), candidate_labels: manyLabels(random) })
        : either({ text: 'a', candidate_labels: manyLabels(random) }),
  ],
};

const TOTAL = Object.values(KINDS).reduce((sum, [weight]) => sum + weight, 0);

/** One request of each kind: what memory the largest ones take belongs to the beginning. */
export const eachKind = (task, random) =>
  Object.entries(KINDS).map(([kind, [, make]]) => ({ kind, ...make(task, random) }));

/** { kind, body, expect: statuses, cancelAfterMs? } */
export function nextRequest(task, random) {
  let left = random() * TOTAL;
  for (const [kind, [weight, make]] of Object.entries(KINDS)) {
    left -= weight;
    if (left < 0) return { kind, ...make(task, random) };
  }
  return { kind: 'ordinary', ...json(ordinary(task, random)) };
}
