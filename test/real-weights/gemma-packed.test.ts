import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../fakes/server.js';
import { serveCheckpoint, type Served } from './support/served.js';

const TEXTS = (
  JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures/real/gemma-answers.json'), 'utf8')) as {
    text: string;
  }[]
).map(({ text }) => text);

/** By scripts/real-weights/gemma.py. */
const dir = join(ROOT, 'node_modules/.cache/real-weights/gemma-3-270m');

/** What perplexity grows by over the three texts together, at most. */
const LIMITS = { q8: 0.03, q6: 0.08, q5: 0.12, q4: 0.12 } as const;

interface Scored {
  prompt_logprobs: { content: { logprob: number | null }[] };
}

/** Natural logarithms of the probabilities of all tokens but the first, for each text. */
async function scoresOf(server: Served): Promise<number[][]> {
  const scores: number[][] = [];
  for (const text of TEXTS) {
    const params = { count_only: true, prompt_logprobs: 0 };
    const { prompt_logprobs: scored } = (await server.run({ text, params })) as Scored;
    scores.push(scored.content.flatMap(({ logprob }) => (logprob === null ? [] : [logprob])));
  }
  return scores;
}

const perplexity = (scores: readonly number[]): number =>
  Math.exp(-scores.reduce((sum, value) => sum + value, 0) / scores.length);

async function measured(dtype?: keyof typeof LIMITS): Promise<{ scores: number[][]; megabytes: number }> {
  const server = await serveCheckpoint({ dir, task: 'text-generation' }, dtype);
  try {
    return { scores: await scoresOf(server), megabytes: (server.packed ?? NaN) / 1e6 };
  } finally {
    await server.stop();
  }
}

(existsSync(join(dir, 'model.safetensors')) ? describe : describe.skip)(
  'Gemma 3 270M, packed (skipped without its repository: scripts/real-weights/gemma.py)',
  () => {
    let plain: number[][];
    beforeAll(async () => {
      plain = (await measured()).scores;
    }, 300_000);

    test.each(Object.entries(LIMITS) as [keyof typeof LIMITS, number][])(
      '%s: perplexity grows by %d at most',
      async (dtype, most) => {
        const { scores, megabytes } = await measured(dtype);
        const grown = (text: number) => perplexity(scores[text]!) / perplexity(plain[text]!) - 1;
        const all = perplexity(scores.flat()) / perplexity(plain.flat()) - 1;
        console.log(
          `Gemma ${dtype}, ${megabytes.toFixed(1)} MB: perplexity ${(100 * all).toFixed(1)} % more than ${perplexity(plain.flat()).toFixed(2)};`,
          `of each text: ${TEXTS.map((_, i) => `${(100 * grown(i)).toFixed(1)} %`).join(', ')}`,
        );
        expect(all).toBeLessThan(most);
      },
      300_000,
    );
  },
);
