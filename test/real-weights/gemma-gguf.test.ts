import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../fakes/server.js';
import { serveCheckpoint, type Served } from './support/served.js';

/** Python's over the dequantised weights (scripts/real-weights/gemma_answers.py). */
interface Answer {
  text: string;
  tokens: number;
  /** Mean over all tokens but the first, natural logarithm. */
  meanLogprob: number;
}

const ANSWERS = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/real/gemma-answers.json'), 'utf8'),
) as Answer[];

/**
 * Products round what they read to eight bits, in either engine, and llama.cpp's kernels for AVX2, AVX-512 and AMX round otherwise:
 * one text differs by up to 0.034 in either direction, the mean over all tokens by 0.005 at most.
 */
const MOST = 0.02;

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const dir = join(ROOT, 'node_modules/.cache/real-weights/gemma-3-270m-gguf');
const isThere = existsSync(join(dir, 'gemma-3-270m-q4_k_m.gguf'));
if (!isThere && process.env['REQUIRE_REAL_WEIGHTS'])
  throw new Error('REQUIRE_REAL_WEIGHTS is set: bash scripts/real-weights-gguf.sh');

interface Scored {
  prompt_logprobs: { content: { logprob: number | null }[] };
}

(isThere ? describe : describe.skip)(
  'Gemma 3 270M in Q4_K_M (skipped without its file: scripts/real-weights-gguf.sh)',
  () => {
    describe.each(['own', 'llama'] as const)('by the engine %s', (engine) => {
      let server: Served;
      beforeAll(async () => {
        server = await serveCheckpoint({ dir, task: 'text-generation', engine });
      }, 300_000);
      afterAll(() => server?.stop());

      async function scoresOf({ text, tokens }: Answer): Promise<number[]> {
        const params = { count_only: true, prompt_logprobs: 0 };
        const { prompt_logprobs: scored } = (await server.run({ text, params })) as Scored;
        expect(scored.content).toHaveLength(tokens);
        const values = scored.content.flatMap(({ logprob }) => (logprob === null ? [] : [logprob]));
        expect(values).toHaveLength(tokens - 1);
        return values;
      }

      test('the log-probability of texts is Python’s', async () => {
        const found: number[] = [];
        for (const answer of ANSWERS) found.push(...(await scoresOf(answer)));
        const python = sumOf(ANSWERS.map(({ tokens, meanLogprob }) => (tokens - 1) * meanLogprob));
        const [mean, wanted] = [sumOf(found) / found.length, python / found.length];
        console.log(`Gemma, ${engine}: ${mean.toFixed(4)}, Python ${wanted.toFixed(4)}`);
        expect(Math.abs(mean - wanted)).toBeLessThan(MOST);
      }, 120_000);

      test('what leaves no doubt is written as Python does', async () => {
        const params = { max_new_tokens: 24, do_sample: false };
        const text = await server.run({ text: 'def fibonacci(n):\n    ', params });
        expect(text).toBe(
          'def fibonacci(n):\n    if n == 0:\n        return 0\n    elif n == 1:\n        return 1',
        );
      }, 120_000);
    });
  },
);
