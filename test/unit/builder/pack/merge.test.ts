import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ort from 'onnxruntime-node';
import { buildPackedFile } from '../../../../builder/pack/build-packed-file.js';
import { findBase } from '../../../../builder/plan/adapter/index.js';
import { type NoGraphs, type OwnGraphs, writeOwnGraphs } from '../../../../builder/plan/own-graphs.js';
import type { Head } from '../../../../runtime/core/handles/index.js';
import { openSession } from '../../../../runtime/engines/sessions/session.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { graphModel } from '../../../fakes/drawn-weights.js';

const FIXTURES = path.join(import.meta.dirname, '../../../fixtures');

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'merge-'))));
afterEach(() => rm(folder, { recursive: true }));

const readJson = async <T>(folder: string, file: string): Promise<T> =>
  JSON.parse(await readFile(path.join(folder, file), 'utf8')) as T;

const adapterOf = (name: string): string => path.join(FIXTURES, 'adapters', name);

/** The graphs of an adapter over the model of the same name. */
async function write(name: string, head: Head): Promise<OwnGraphs | NoGraphs> {
  const [own, base] = [folderSource(adapterOf(name)), folderSource(graphModel(name))];
  const adapter = (await findBase(own, base, await own.info('zoo/adapter')))!;
  const { model_type: modelType } = await readJson<{ model_type: string }>(graphModel(name), 'config.json');
  return writeOwnGraphs({ ...adapter, adapter, head, modelType });
}

// Matrices that are stored turned, square ones too, a head of the adapter's own; tables of tokens and a norm.
test.each([
  ['gpt2-classifier', 'adapter_model.safetensors'],
  ['llama-classifier', 'adapter_model.bin'],
])('%s computes what peft’s merged model computes, from %s', async (name, weights) => {
  const model = await write(name, 'sequence-classification');
  if (!('graphs' in model)) throw new Error(model.problem);
  for (const from of [adapterOf(name), graphModel(name)])
    for (const file of await readdir(from)) await copyFile(path.join(from, file), path.join(folder, file));
  const { recipe, sources } = model.packedWeights!;
  expect(sources.map((file) => file.path)).toEqual([weights, 'model.safetensors']);
  await buildPackedFile(path.join(folder, recipe.file), { from: folder, recipe });
  const bytes = Buffer.from(model.written[0]!.content, 'base64');
  const session = await openSession({ bytes, weightsIn: folder }, { device: 'cpu', threads: 1 });
  const given = await readJson<{ cases: { inputs: Record<string, number[][]> }[] }>(
    graphModel(name),
    'cases.json',
  );
  const tensors = session.inputNames.map((input) => {
    const rows = given.cases[0]!.inputs[input]!;
    const values = BigInt64Array.from(rows.flat(), BigInt);
    return [input, new ort.Tensor('int64', values, [rows.length, rows[0]!.length])];
  });
  const found = await session.run(Object.fromEntries(tensors) as Record<string, ort.Tensor>);
  const { logits } = await readJson<{ logits: number[] }>(adapterOf(name), 'cases.json');
  const computed = [...(found['logits']!.data as Float32Array)];
  expect(computed).toHaveLength(logits.length);
  logits.forEach((value, i) => expect(computed[i]).toBeCloseTo(value, 4));
  await session.release();
});

test('a task that does not read what the adapter changes is refused', async () => {
  await expect(write('llama-classifier', 'embedding')).rejects.toThrow(
    /adapter that changes score.weight, which this task does not read; .*--task/,
  );
});

test('the adapter’s weights are not taken for those of a base without any', async () => {
  const own = adapterOf('llama-classifier');
  await copyFile(path.join(graphModel('llama-classifier'), 'config.json'), path.join(folder, 'config.json'));
  const [source, bases] = [folderSource(own), folderSource(folder)];
  const adapter = (await findBase(source, bases, await source.info('zoo/adapter')))!;
  const found = await writeOwnGraphs({ ...adapter, adapter, head: 'embedding', modelType: 'llama' });
  expect(found).toMatchObject({
    problem: expect.stringMatching(/holds neither model.safetensors nor/) as string,
  });
});
