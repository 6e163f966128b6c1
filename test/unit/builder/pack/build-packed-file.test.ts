import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openSession } from '../../../../runtime/engines/sessions/session.js';
import { buildPackedFile } from '../../../../builder/pack/build-packed-file.js';
import { type OwnGraphs, writeOwnGraphs } from '../../../../builder/plan/own-graphs.js';
import type { Head } from '../../../../runtime/core/handles/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { digestOf } from '../../../../runtime/store/digest.js';
import ort from 'onnxruntime-node';
import { graphModel } from '../../../fakes/drawn-weights.js';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'pack-'))));
afterEach(() => rm(folder, { recursive: true }));

async function write(name: string, bits: 4 | 8, head: Head): Promise<OwnGraphs> {
  const source = folderSource(graphModel(name));
  const info = await source.info('zoo/m');
  const { model_type: modelType } = JSON.parse((await source.readText(info, 'config.json'))!) as Config;
  const found = await writeOwnGraphs({ source, info, head, modelType, bits });
  if ('graphs' in found) return found;
  throw new Error(found.problem);
}

interface Config {
  model_type: string;
}

/** Makes the plan's file in the folder. @returns its name */
async function make(model: OwnGraphs, name: string): Promise<string> {
  const { recipe } = model.packedWeights!;
  await buildPackedFile(path.join(folder, recipe.file), { from: graphModel(name), recipe });
  return recipe.file;
}

const CLASSIFIERS = ['xlm-roberta-classifier', 'gpt2-classifier', 'llama-classifier'] as const;

test.each(CLASSIFIERS)(
  '%s computes nearly the same with eight bits, whoever else is in its run',
  async (name) => {
    const cases = JSON.parse(await readFile(path.join(graphModel(name), 'cases.json'), 'utf8')) as {
      cases: { inputs: Record<string, number[][]>; outputs: Record<string, { data: string }> }[];
    };
    const { inputs, outputs } = cases.cases[0]!;
    const model = await write(name, 8, 'sequence-classification');
    await make(model, name);
    const bytes = Buffer.from(model.written[0]!.content, 'base64');
    const session = await openSession({ bytes, weightsIn: folder }, { device: 'cpu', threads: 1 });
    const run = async (rows: number[]) => {
      const tensors = session.inputNames.map((input) => {
        const values = rows.map((row) => inputs[input]![row]!);
        return [
          input,
          new ort.Tensor('int64', BigInt64Array.from(values.flat(), BigInt), [
            rows.length,
            values[0]!.length,
          ]),
        ];
      });
      const found = await session.run(Object.fromEntries(tensors) as Record<string, ort.Tensor>);
      return [...(found['logits']!.data as Float32Array)];
    };
    const both = await run([0, 1]);
    const wanted = new Float32Array(Uint8Array.from(Buffer.from(outputs['logits']!.data, 'base64')).buffer);
    const most = wanted.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    wanted.forEach((value, i) => expect(Math.abs(value - both[i]!)).toBeLessThan(0.06 * most));
    // To the bit: activations are rounded by rows.
    expect([...(await run([0])), ...(await run([1]))]).toEqual(both);
    await session.release();
  },
);

test('the same recipe gives the same bytes, from safetensors in shards and from a .bin', async () => {
  for (const name of ['mistral-window-bin-shards', 'llama-linear-bin']) {
    const model = await write(name, 4, 'embedding');
    const file = path.join(folder, await make(model, name));
    const { size } = model.packedWeights!.recipe;
    const first = await digestOf(file, { path: 'x', size });
    const again = await buildPackedFile(file, {
      from: graphModel(name),
      recipe: model.packedWeights!.recipe,
    });
    expect(again).toBe(first);
  }
});

test('who stops it gets the reason', async () => {
  const model = await write('llama-classifier', 8, 'sequence-classification');
  const { recipe } = model.packedWeights!;
  const signal = AbortSignal.abort(new Error('enough'));
  const making = buildPackedFile(path.join(folder, 'x'), {
    from: graphModel('llama-classifier'),
    recipe,
    signal,
  });
  await expect(making).rejects.toThrow('enough');
});

test('a checkpoint that has become shorter is an error', async () => {
  const name = 'llama-classifier';
  const model = await write(name, 8, 'sequence-classification');
  for (const file of await readdir(graphModel(name)))
    await copyFile(path.join(graphModel(name), file), path.join(folder, file));
  const { recipe } = model.packedWeights!;
  const beyond = recipe.parts.map((part) => ({
    ...part,
    tensor: { ...part.tensor, offset: part.tensor.offset + 2 ** 30 },
  }));
  const making = buildPackedFile(path.join(folder, 'x'), {
    from: folder,
    recipe: { ...recipe, parts: beyond },
  });
  await expect(making).rejects.toThrow(/has become shorter/);
});
