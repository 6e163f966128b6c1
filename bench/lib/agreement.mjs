/** Whether contestants give the same answers: their speeds mean nothing before that. */
import { cosine } from './numbers.mjs';
import { firstAnswer, post } from './processes.mjs';

/** Answers of one contestant to some texts, from a server of its own. */
async function answersOf(contestant, texts) {
  const server = await contestant.start();
  try {
    await firstAnswer(server, contestant.request(texts[0]));
    const answers = [];
    for (const text of texts) {
      const response = await post(server.url, contestant.request(text));
      answers.push(contestant.parse(await response.text()));
    }
    return answers;
  } finally {
    await server.stop();
  }
}

/**
 * `likeness(a, b)` is 1 for equal answers; the table gives the least one under `title`.
 * @throws when a pair is below `limit`
 */
export async function checkAgreement(contestants, texts, { likeness, title, limit }) {
  const [first, ...others] = contestants.filter(({ measure }) => !measure);
  if (others.length === 0) return [];
  const expected = await answersOf(first, texts);
  const rows = [];
  for (const each of others) {
    const answers = await answersOf(each, texts);
    const least = Math.min(...answers.map((answer, i) => likeness(answer, expected[i])));
    rows.push({ name: `${each.name} beside ${first.name}`, [title]: least });
    if (!(least >= limit)) throw new Error(`${each.name} and ${first.name} disagree: ${title} ${least}`);
  }
  return rows;
}

/** Two vectors must point the same way. */
export const SAME_VECTOR = { likeness: cosine, title: 'least cosine', limit: 0.999 };

/** The best label must be the same, and its score to a thousandth: some give all labels, some the best one. */
export const SAME_SCORES = {
  likeness([a], [b]) {
    return a.label === b.label ? 1 - Math.abs(a.score - b.score) : 0;
  },
  ...{ title: '1 - difference', limit: 0.999 },
};

/** The share of a text that begins as the other does: equally good tokens part ways with the order of additions. */
export function samePrefix(a, b) {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same / Math.max(a.length, b.length, 1);
}
