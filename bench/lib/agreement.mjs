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
  } catch (error) {
    throw new Error(`${contestant.name} gave no answer: ${server.ended?.() || error.cause || error}`, {
      cause: error,
    });
  } finally {
    await server.stop();
  }
}

/**
 * Compares all with the first one. `likeness(a, b)` is 1 for equal answers; the table gives the least under `title`.
 * @returns { rows, answering }: contestants that give no answers are named and left out
 * @throws when a pair is below `limit`
 */
export async function checkAgreement(
  contestants,
  texts,
  { likeness, title, limit, comparable = () => true },
) {
  const [rows, answering] = [[], []];
  let first;
  for (const each of contestants) {
    const answers = each.measure ? [] : await answersOf(each, texts).catch((error) => error);
    if (answers instanceof Error) {
      console.log(`left out: ${answers.message}`);
      continue;
    }
    answering.push(each);
    if (each.measure || !comparable(each)) continue;
    first ??= { name: each.name, answers };
    if (first.name === each.name) continue;
    const least = Math.min(...answers.map((answer, i) => likeness(answer, first.answers[i])));
    rows.push({ name: `${each.name} beside ${first.name}`, [title]: least });
    if (!(least >= limit)) throw new Error(`${each.name} and ${first.name} disagree: ${title} ${least}`);
  }
  return { rows, answering };
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

/** Greedy texts of the same weights are the same but for a late turn. */
export const SAME_TEXT = { likeness: samePrefix, title: 'same start', limit: 0.5 };
