import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { correlation } from '../../../../runtime/engines/sessions/correlation.js';
import type { BatchToken, LlamaContext } from '../../../../runtime/engines/llama/llama.js';
import { openLlama } from '../../../../runtime/engines/llama/ffi/native-llama.js';
import { graphModel } from '../../../fakes/drawn-weights.js';
import { convertToGguf } from '../../../fakes/gguf/convert.js';
import { ggufRequest } from './support.js';

interface Case {
  tokens: number[];
  logits: { dims: [number, number]; data: string };
}

const casesOf = (folder: string): Case[] =>
  (JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) as { cases: Case[] }).cases;

const floats = (data: string) => new Float32Array(Uint8Array.from(Buffer.from(data, 'base64')).buffer);

async function opened(name: string, type: string, run: (context: LlamaContext) => Promise<void>) {
  const { dir } = ggufRequest(convertToGguf(graphModel(name), type));
  const model = await openLlama().openModel(join(dir, 'model.gguf'), { gpuLayers: 0 });
  const shape = { cells: 1024, batch: 64, rows: 8, outputs: 64, threads: 1, cacheType: 'f32' } as const;
  const context = await model.openContext(shape);
  await run(context);
  context.close();
  model.close();
}

const row = (ids: readonly number[], id: number, from = 0): BatchToken[] =>
  ids.map((token, i) => ({ id: token, position: from + i, row: id, output: true }));

/** Scores of the last tokens that Python gives scores of, one after the other. */
function lastScores(context: LlamaContext, tokens: number, count: number): Float32Array {
  const rows = Array.from({ length: count }, (_, i) => [...context.scores(tokens - count + i)]);
  return Float32Array.from(rows.flat());
}

const furthest = (a: Float32Array, b: Float32Array) =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);

describe.each([
  ['llama', 2e-5],
  ['qwen3', 2e-5],
  ['mixtral', 2e-5],
  ['olmo2', 2e-5],
  ['granite', 2e-5],
  ['gpt-oss', 2e-5],
  ['gemma', 3e-3],
] as const)('%s', (name, tolerance) => {
  test('scores of a file of 32 bits are those of transformers', async () => {
    await opened(name, 'F32', async (context) => {
      for (const { tokens, logits } of casesOf(graphModel(name))) {
        context.cutRow(0, 0);
        expect(await context.run(row(tokens, 0))).toBe('done');
        const found = lastScores(context, tokens.length, logits.dims[0]);
        expect(furthest(found, floats(logits.data))).toBeLessThan(tolerance);
      }
    });
  });

  test('files of 16 and 8 bits are alike', async () => {
    for (const [type, least] of [
      ['F16', 0.9999],
      ['Q8_0', 0.999],
    ] as const)
      await opened(name, type, async (context) => {
        const [{ tokens, logits }] = casesOf(graphModel(name)) as [Case];
        await context.run(row(tokens, 0));
        const found = lastScores(context, tokens.length, logits.dims[0]);
        expect(correlation(found, floats(logits.data))).toBeGreaterThan(least);
      });
  });
});

const [{ tokens }] = casesOf(graphModel('llama')) as [Case];

test('rows of other lengths in one run, and prompts beside them, change nothing', async () => {
  await opened('llama', 'F32', async (context) => {
    await context.run(row(tokens, 0));
    const alone = context.scores(tokens.length - 1).slice();
    context.cutRow(0, 0);
    // Half of the prompt, then the rest beside two other rows.
    await context.run(row(tokens.slice(0, 6), 0));
    const others = [...row(tokens.slice(3), 1), ...row([5], 2)];
    await context.run([...others, ...row(tokens.slice(6), 0, 6)]);
    const found = context.scores(others.length + tokens.length - 7);
    expect(furthest(found, alone)).toBeLessThan(2e-5);
  });
});

test('a copied row goes on as the first does, and a cut one is computed anew', async () => {
  await opened('llama', 'F32', async (context) => {
    await context.run(row(tokens, 0));
    context.copyRow(0, 1);
    context.copyRow(0, 2, 4);
    await context.run([...row([7], 0, tokens.length), ...row([7], 1, tokens.length)]);
    expect(furthest(context.scores(0), context.scores(1))).toBeLessThan(2e-5);
    const whole = context.scores(0).slice();
    await context.run(row([...tokens.slice(4), 7], 2, 4));
    expect(furthest(context.scores(tokens.length - 4), whole)).toBeLessThan(2e-5);
    expect(context.cutRow(2, 4)).toBe(true);
  });
});

test('a run that was not planned for is refused, and no view of nothing is made', async () => {
  await opened('llama', 'F32', async (context) => {
    await expect(context.run([])).rejects.toThrow('not planned for');
    await expect(context.run(row(tokens, 8))).rejects.toThrow('not planned for');
    await expect(
      context.run(
        row(
          Array.from({ length: 65 }, () => 1),
          0,
        ),
      ),
    ).rejects.toThrow('not planned for');
    expect(() => context.scores(0)).toThrow('no scores of token 0');
    await context.run([{ id: 3, position: 0, row: 0, output: false }]);
    expect(() => context.scores(0)).toThrow('no scores of token 0');
    await expect(context.run(row([96], 1))).rejects.toThrow('llama.cpp refuses the run');
  });
});

test('a run under way stops when it is asked to', async () => {
  await opened('llama', 'F32', async (context) => {
    const running = context.run(row(tokens, 0));
    context.stop();
    expect(['stopped', 'done']).toContain(await running);
    context.cutRow(0, 0);
    expect(await context.run(row(tokens, 0))).toBe('done');
  });
});

test.each([
  ['junk', Buffer.from('not a model at all, and longer than a header')],
  ['cut', convertToGguf(graphModel('llama'), 'F32').subarray(0, 3000)],
])('a file that is %s is refused with what llama.cpp says', async (_, content) => {
  const { dir } = ggufRequest(content);
  const path = join(dir, 'model.gguf');
  await expect(openLlama().openModel(path, { gpuLayers: 0 })).rejects.toMatchObject({
    code: 'not_ready',
    message: expect.not.stringContaining(dir),
  });
});
