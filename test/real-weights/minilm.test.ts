import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { halfBitsToNumber } from '../../runtime/core/half.js';
import { REAL } from '../e2e/support/zoo-hub.js';
import { vectorLikeness } from './support/likeness.js';
import { serveCheckpoint, type Served } from './support/served.js';

const FIXTURES = join(import.meta.dirname, '../fixtures/real');
const read = (name: string): unknown => JSON.parse(readFileSync(join(FIXTURES, name), 'utf8'));

const TEXTS = read('texts.json') as string[];
/** Python's (scripts/real-weights/minilm_answers.py). */
const ANSWERS = read('minilm-answers.json') as { width: number; vectors: string[] };

function vectorOf(base64: string): number[] {
  const halves = new Uint16Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer);
  const values = Array.from(halves, halfBitsToNumber);
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

const REFERENCE = ANSWERS.vectors.map(vectorOf);

/** In the tensors that the graph reads. */
const NUMBERS = 22_565_376;

/** At least so much, and so many bits for each number at most. */
const LIMITS = {
  fp32: { mean: 0.999999, least: 0.999999, ranks: 0.999999, nearest: 70, bits: 32 },
  q8: { mean: 0.9995, least: 0.9975, ranks: 0.999, nearest: 69, bits: 9.1 },
  q6: { mean: 0.992, least: 0.97, ranks: 0.987, nearest: 64, bits: 5.42 },
  q5: { mean: 0.988, least: 0.955, ranks: 0.979, nearest: 61, bits: 5 },
  q4: { mean: 0.981, least: 0.93, ranks: 0.971, nearest: 57, bits: 4.63 },
} as const;

const isThere = existsSync(join(REAL.dir, 'model.safetensors'));
if (!isThere && process.env['REQUIRE_REAL_WEIGHTS'])
  throw new Error('REQUIRE_REAL_WEIGHTS is set: bash scripts/real-weights.sh');

(isThere ? describe : describe.skip)(
  'all-MiniLM-L6-v2 (skipped without its weights: scripts/real-weights.sh)',
  () => {
    describe.each(['fp32', 'q8', 'q6', 'q5', 'q4'] as const)('%s', (dtype) => {
      let server: Served;
      beforeAll(async () => {
        server = await serveCheckpoint(
          { dir: REAL.dir, task: 'feature-extraction' },
          dtype === 'fp32' ? undefined : dtype,
        );
      }, 300_000);
      afterAll(() => server?.stop());

      const vectors = (together: boolean): Promise<number[][]> => {
        const one = (text: string) => server.run({ text }) as Promise<number[]>;
        if (together) return Promise.all(TEXTS.map(one));
        return TEXTS.reduce(
          async (before: Promise<number[][]>, text) => [...(await before), await one(text)],
          Promise.resolve([]),
        );
      };

      test('vectors are those of Python, as far as the format lets them', async () => {
        const found = vectorLikeness(await vectors(false), REFERENCE);
        const bits = (8 * (server.packed ?? 4 * NUMBERS)) / NUMBERS;
        console.log(`MiniLM ${dtype}, ${bits.toFixed(2)} bits a weight:`, found);
        const { mean, least, ranks, nearest, bits: most } = LIMITS[dtype];
        expect(found.mean).toBeGreaterThan(mean);
        expect(found.least).toBeGreaterThan(least);
        expect(found.ranks).toBeGreaterThan(ranks);
        expect(found.sameNearest).toBeGreaterThanOrEqual(nearest);
        expect(bits).toBeLessThanOrEqual(most);
      }, 240_000);

      test('who asks with others is answered as who asks alone', async () => {
        const [together, alone] = [await vectors(true), await vectors(false)];
        const { least } = vectorLikeness(together, alone);
        expect(least).toBeGreaterThan(0.999999);
      }, 240_000);
    });
  },
);
