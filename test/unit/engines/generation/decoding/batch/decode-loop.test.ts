import { createDecodeLoop } from '../../../../../../runtime/engines/generation/decoding/batch/decode-loop.js';

/** A loop that notes what it runs; a sequence is its name. */
function loop(chunks = { idle: 100, busy: 4 }) {
  const runs: string[] = [];
  const made = createDecodeLoop<string>({
    chunks,
    async runPrefill({ sequence, tokens, resolve, reject }, part) {
      runs.push(`${sequence}:${part.length}`);
      if (sequence === 'broken') reject(new Error('no memory'));
      else if (tokens.length === 0) resolve([Float32Array.of(part.at(-1)!)]);
      return sequence !== 'broken' && tokens.length > 0;
    },
    async runSteps(jobs) {
      runs.push(jobs.map(({ sequence }) => sequence).join('+'));
      for (const { resolve, tokens } of jobs) resolve(tokens.map((token) => Float32Array.of(token)));
    },
  });
  /** Feeds a prompt and asks for some tokens. */
  const generate = async (name: string, prompt: number, count: number) => {
    await made.prefill(
      name,
      Array.from({ length: prompt }, (_, i) => i),
    );
    for (let i = 0; i < count; i++) await made.step(name, [i]);
  };
  return { runs, generate, ...made };
}

test('prompts that come together are fed before the first step, and all steps are shared', async () => {
  const { runs, generate } = loop();
  await Promise.all([generate('a', 10, 2), generate('b', 20, 2), generate('c', 5, 1)]);
  expect(runs).toEqual(['a:10', 'b:20', 'c:5', 'a+b+c', 'a+b']);
});

test('a long prompt is fed in parts between the steps of others', async () => {
  const { runs, generate } = loop();
  const first = generate('a', 2, 5);
  while (runs.length < 2) await new Promise((next) => setImmediate(next));
  await Promise.all([first, generate('b', 9, 1)]);
  expect(runs.filter((run) => run.startsWith('b:'))).toEqual(['b:4', 'b:4', 'b:1']);
  expect(runs.join(' ')).toMatch(/b:4 a b:4 a b:1 a\+b/);
});

test('several long prompts take turns', async () => {
  const { runs, generate } = loop({ idle: 3, busy: 3 });
  await Promise.all([generate('a', 5, 0), generate('b', 4, 0)]);
  expect(runs).toEqual(['a:3', 'b:3', 'a:2', 'b:1']);
});

test('a prompt that fails ends alone', async () => {
  const { generate } = loop();
  const [broken, audio] = await Promise.allSettled([generate('broken', 3, 1), generate('a', 3, 2)]);
  expect(broken).toMatchObject({ status: 'rejected', reason: { message: 'no memory' } });
  expect(audio.status).toBe('fulfilled');
});
