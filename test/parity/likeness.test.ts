import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildPackedFile } from '../../builder/pack/build-packed-file.js';
import { planModel } from '../../builder/plan/index.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { likenessOf } from '../../runtime/engines/compare/likeness.js';
import { probeTokens } from '../../runtime/engines/compare/texts.js';
import { folderSource } from '../../runtime/store/folder.js';

const ZOO = resolve('test/fixtures/zoo-weights');

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'likeness-'))));
afterEach(() => rm(folder, { recursive: true }));

/** How alike a model of the zoo computes with its matrices packed. */
async function packedLikeness(task: TaskId, name: string, dtype: 'q8' | 'q4') {
  const repo = join(ZOO, task, name, 'repo');
  const { spec, packedWeights } = await planModel({
    source: folderSource(repo),
    id: 'zoo/m',
    task,
    dtype,
    weights: 'own',
  });
  await buildPackedFile(join(folder, packedWeights!.recipe.file), {
    from: repo,
    recipe: packedWeights!.recipe,
  });
  return likenessOf({ graphs: packedWeights!.plain!, folder: repo }, { graphs: spec.written!, folder });
}

// One of each kind: tokens, a decoder, a source beside it, images, texts beside them, audio clips, chats about images, noise.
test.each([
  ['feature-extraction', 'bert-noprefix-f16'],
  ['text-generation', 'llama-bf16-tied'],
  ['summarization', 'bart-bf16'],
  ['image-classification', 'vit-f16'],
  ['object-detection', 'yolos'],
  ['zero-shot-image-classification', 'clip-f32'],
  ['automatic-speech-recognition', 'w2v2-ctc-f32'],
  ['automatic-speech-recognition', 'whisper-languages'],
  ['image-text-to-text', 'smolvlm'],
  ['image-text-to-text', 'qwen2-vl'],
  ['image-text-to-text', 'florence2'],
  ['unconditional-image-generation', 'ldm'],
] as const)('%s, %s: eight bits compute nearly the same, four bits less so', async (task, name) => {
  const eight = await packedLikeness(task, name, 'q8');
  const four = await packedLikeness(task, name, 'q4');
  expect(eight).toEqual({ likeness: expect.any(Number) as number });
  const [more, less] = [eight, four].map((found) => ('likeness' in found ? found.likeness : NaN)) as [
    number,
    number,
  ];
  expect(more).toBeGreaterThan(0.99);
  expect(less).toBeGreaterThan(0.7);
  expect(less).toBeLessThanOrEqual(more);
});

test('what is compared of a decoder are its scores, not the keys and values of its first layer', async () => {
  const dir = resolve('test/fixtures/zoo-weights/text-generation/llama-bf16-tied/repo');
  const { spec } = await planModel({
    source: folderSource(dir),
    id: 'zoo/m',
    task: 'text-generation',
    weights: 'own',
  });
  const weights = await readFile(join(dir, 'model.safetensors'));
  const header = Number(weights.readBigUInt64LE());
  const index = JSON.parse(weights.toString('utf8', 8, 8 + header)) as Record<
    string,
    { data_offsets: [number, number] }
  >;
  const [from, to] = index['model.norm.weight']!.data_offsets;
  // Another last norm: keys and values stay what they are.
  for (let at = 8 + header + from; at < 8 + header + to; at += 8) weights.writeUInt16LE(0, at);
  await writeFile(join(folder, 'model.safetensors'), weights);
  const found = await likenessOf({ graphs: spec.written!, folder: dir }, { graphs: spec.written!, folder });
  expect(found).toEqual({ likeness: expect.any(Number) as number });
  expect('likeness' in found && found.likeness).toBeLessThan(0.98);
});

test('what reads more than can be made up is said', async () => {
  const dir = resolve('test/fixtures/zoo-weights/text-to-audio/musicgen-books/repo');
  const { spec } = await planModel({ source: folderSource(dir), id: 'zoo/m', task: 'text-to-audio' });
  const network = { graphs: spec.written!, folder: dir };
  expect(await likenessOf(network, network)).toEqual({
    unmeasured: expect.stringMatching(/^graphs\/\w+\.onnx (?:reads|does not take)/) as string,
  });
});

interface Scored {
  cases: { ids: number[]; sum: number }[];
}

/** transformers' logits under torch's log_softmax (scripts/fixtures/prompt_logprobs.py). */
const SCORED = JSON.parse(readFileSync('test/fixtures/prompt-logprobs.json', 'utf8')) as Record<
  string,
  Scored
>;

test.each(Object.entries(SCORED))("%s: the perplexity of texts is torch's", async (name, { cases }) => {
  const dir = join(ZOO, name, 'repo');
  const [task] = name.split('/') as [TaskId];
  const { spec } = await planModel({ source: folderSource(dir), id: 'zoo/m', task, weights: 'own' });
  const network = { graphs: spec.written!, folder: dir };
  for (const { ids, sum } of cases.filter((one) => one.ids.length > 1)) {
    const found = await likenessOf(network, network, [ids]);
    const wanted = Number(Math.exp(-sum / (ids.length - 1)).toPrecision(3));
    const near = (value: number) => Number(value.toPrecision(3)) === wanted;
    expect(found).toMatchObject({ likeness: 1, perplexity: { plain: expect.any(Number) as number } });
    const { plain, packed } = ('perplexity' in found && found.perplexity) || { plain: NaN, packed: NaN };
    expect({ wanted, isNear: near(plain), isSame: plain === packed }).toEqual({
      wanted,
      isNear: true,
      isSame: true,
    });
  }
});

test('bundled texts are tokens of one length, and a folder without a tokenizer has none', async () => {
  const rows = await probeTokens(join(ZOO, 'text-generation/llama-bf16-tied/repo'));
  expect(rows).toHaveLength(6);
  expect(new Set(rows!.map((row) => row.length))).toEqual(new Set([48]));
  expect(await probeTokens(join(ZOO, 'image-classification/vit-f16/repo'))).toBeUndefined();
});

test.each([
  ['feature-extraction', 'bert-noprefix-f16'],
  ['image-text-to-text', 'qwen2-vl'],
])('%s, %s: what is no decoder of texts alone has no perplexity', async (task, name) => {
  const dir = join(ZOO, task, name, 'repo');
  const { spec } = await planModel({
    source: folderSource(dir),
    id: 'zoo/m',
    task,
    weights: 'own',
  });
  const network = { graphs: spec.written!, folder: dir };
  expect(await likenessOf(network, network, await probeTokens(dir))).toEqual({ likeness: 1 });
});

test.each([
  ['feature-extraction', 'bert-noprefix-f16'],
  ['text-generation', 'llama-bf16-tied'],
] as const)('%s, %s: tokens that the network lacks are left out of the comparison', async (task, name) => {
  const dir = join(ZOO, task, name, 'repo');
  const { spec } = await planModel({ source: folderSource(dir), id: 'zoo/m', task, weights: 'own' });
  const network = { graphs: spec.written!, folder: dir };
  const early = Array.from({ length: 30 }, () => 1e6);
  expect(await likenessOf(network, network, [early])).toEqual({ likeness: 1 });
  const late = [...Array.from({ length: 29 }, () => 7), 1e6];
  expect(await likenessOf(network, network, [late])).toEqual({ likeness: 1 });
});
