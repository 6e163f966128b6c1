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
      answers.push(contestant.parse(JSON.parse(await response.text())));
    }
    return answers;
  } finally {
    await server.stop();
  }
}

/** `likeness(a, b)` is 1 for equal answers. @throws when a pair is below 0.999 */
export async function checkAgreement(contestants, texts, likeness = cosine) {
  const [first, ...others] = contestants.filter(({ measure }) => !measure);
  if (others.length === 0) return [];
  const expected = await answersOf(first, texts);
  const rows = [];
  for (const each of others) {
    const answers = await answersOf(each, texts);
    const least = Math.min(...answers.map((answer, i) => likeness(answer, expected[i])));
    rows.push({ name: `${each.name} beside ${first.name}`, least });
    if (!(least >= 0.999)) throw new Error(`${each.name} and ${first.name} disagree: ${least}`);
  }
  return rows;
}
