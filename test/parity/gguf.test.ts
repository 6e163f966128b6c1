import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ort from 'onnxruntime-node';
import { makeFile } from '../../builder/pack/make-file.js';
import { openGguf } from '../../builder/plan/gguf/open-gguf.js';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { openSession } from '../../runtime/engines/sessions/session.js';
import { floatsOfBlocks } from '../../runtime/gguf/index.js';
import { packedStorage } from '../../runtime/models/writer/storage.js';
import { writeGraphs } from '../../runtime/models/write-graphs.js';
import { folderSource } from '../../runtime/store/folder.js';
import {
  floatsOf,
  localFiles,
  readPart,
  readWeightIndex,
  type WeightIndex,
} from '../../runtime/weights/index.js';
import { graphModel } from '../fakes/drawn-weights.js';
import { ggufOfModel, type ModelTensor, type ModelToWrite } from '../helpers/gguf/from-model.js';
import { quantise } from '../helpers/gguf/quantise.js';

type Json = Record<string, unknown>;

interface Model {
  /** config.json, with what metadata can't say as llama.cpp takes it. */
  config: Json;
  index: WeightIndex;
  dir: string;
  tensors: Map<string, ModelTensor>;
}

async function modelOf(name: string, changed: Json = {}): Promise<Model> {
  const dir = graphModel(name);
  const config = {
    ...(parsePythonJson(await readFile(join(dir, 'config.json'), 'utf8')) as Json),
    ...changed,
  };
  const index = await readWeightIndex(await localFiles(dir));
  const tensors = new Map<string, ModelTensor>();
  for (const [own, { file, offset, length, type, shape }] of index)
    tensors.set(own, { type, shape, bytes: await readPart(join(dir, file), offset, length) });
  return { config, index, dir, tensors };
}

const TOKENS = [21, 48, 69, 32, 52, 51, 56, 47, 84, 19, 79, 78, 25];

/** Scores of every token of a text, or states. */
async function computed(bytes: Uint8Array, weightsIn: string): Promise<Float32Array> {
  const session = await openSession({ bytes, weightsIn }, { device: 'cpu', threads: 1 });
  const row = (values: number[]) =>
    new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  const feeds: Record<string, ort.Tensor> = {
    input_ids: row(TOKENS),
    attention_mask: row(TOKENS.map(() => 1)),
    position_ids: row([...TOKENS.keys()]),
    token_type_ids: row(TOKENS.map(() => 0)),
  };
  for (const entry of session.inputMetadata)
    if (entry.isTensor && entry.name.startsWith('past_key_values.'))
      feeds[entry.name] = new ort.Tensor('float32', new Float32Array(0), [
        ...[1, Number(entry.shape[1]), 0, Number(entry.shape[3])],
      ]);
  const wanted = Object.fromEntries(session.inputNames.map((name) => [name, feeds[name]!]));
  const found = await session.run(wanted);
  return Float32Array.from(Object.values(found)[0]!.data as Float32Array);
}

async function overSafetensors({ config, index, dir }: Model, head: 'causal-lm' | 'embedding') {
  const { graphs } = writeGraphs({ config, index, head });
  return computed(Object.values(graphs)[0]!, dir);
}

/** As the builder does it, from a folder with one file of GGUF. */
async function overGguf(file: Buffer, head: 'causal-lm' | 'embedding') {
  const dir = await mkdtemp(join(tmpdir(), 'gguf-'));
  await writeFile(join(dir, 'm.gguf'), file);
  const source = folderSource(dir);
  const opened = (await openGguf({ source, info: await source.info('org/model') }))!;
  const text = (await opened.source.readText(opened.info, 'config.json')) ?? '';
  const config = parsePythonJson(text) as Json;
  const storage = packedStorage('made.bin', undefined);
  const { graphs } = writeGraphs({ config, index: opened.index, head, storage });
  await makeFile(join(dir, 'made.bin'), { from: dir, recipe: storage.recipe() });
  return { config, scores: await computed(Object.values(graphs)[0]!, dir) };
}

function difference(found: Float32Array, wanted: Float32Array): number {
  expect(found).toHaveLength(wanted.length);
  const most = wanted.reduce((max, value) => Math.max(max, Math.abs(value)), 1e-9);
  return wanted.reduce((max, value, i) => Math.max(max, Math.abs(value - found[i]!)), 0) / most;
}

/** Fields that metadata have no words for, as llama.cpp takes them. */
const MODELS: readonly (readonly [name: string, changed: Json])[] = [
  ['llama', {}],
  ['llama-yarn', {}],
  ['mixtral', {}],
  ['qwen3', {}],
  ['gemma', {}],
  ['gemma2', { query_pre_attn_scalar: 16 }],
  ['gemma3', { query_pre_attn_scalar: 16, rope_scaling: { rope_type: 'linear', factor: 8 } }],
  ['phi3', { original_max_position_embeddings: 64 }],
  ['olmo2', {}],
  ['granite', {}],
];

test.each(MODELS)('%s in GGUF computes what its PyTorch weights do', async (name, changed) => {
  const model = await modelOf(name, changed);
  const wanted = await overSafetensors(model, 'causal-lm');
  const { scores, config } = await overGguf(ggufOfModel(model), 'causal-lm');
  expect(config['model_type']).toBe(model.config['model_type']);
  expect(difference(scores, wanted)).toBeLessThan(2e-5);
});

/** The same numbers before and behind a type that rounds them. */
function roundedTo(type: string, { tensors, config }: ModelToWrite): Buffer {
  const rounded = [...tensors].map(([name, tensor]): [string, ModelTensor] => {
    const { shape, bytes, type: stored } = tensor;
    if (shape.length < 2 || shape.at(-1)! % 32 !== 0) return [name, tensor];
    const blocks = quantise(floatsOf(bytes, stored), type);
    const values = type.startsWith('Q') ? floatsOfBlocks(type, blocks) : floatsOf(blocks, type);
    return [name, { shape, type: 'F32', bytes: quantise(values, 'F32') }];
  });
  return ggufOfModel({ config, tensors: new Map(rounded) });
}

describe.each(['llama', 'mixtral'])('%s', (name) => {
  // Products of blocks round their inputs, too: to eight bits of 32 at a time.
  test.each([
    ['F16', 2e-5],
    ['BF16', 2e-5],
    ['Q8_0', 0.03],
    ['Q4_0', 0.03],
    ['Q4_1', 0.03],
  ] as const)('in %s computes what its numbers in F32 do', async (type, tolerance) => {
    const { config, tensors } = await modelOf(name);
    const { scores } = await overGguf(ggufOfModel({ config, tensors, type }), 'causal-lm');
    const wanted = await overGguf(roundedTo(type, { config, tensors }), 'causal-lm');
    expect(difference(scores, wanted.scores)).toBeLessThan(tolerance);
    if (!type.startsWith('Q')) return;
    // It is not the model in F32, whose numbers have no more than the bits of a half.
    const { scores: exact } = await overGguf(ggufOfModel({ config, tensors }), 'causal-lm');
    expect(difference(scores, exact)).toBeGreaterThan(0);
  });
});

test('a BERT in GGUF computes the vectors that its PyTorch weights do', async () => {
  const model = await modelOf('bert-classifier', { architectures: ['BertModel'] });
  const wanted = await overSafetensors(model, 'embedding');
  const { scores } = await overGguf(ggufOfModel(model), 'embedding');
  expect(difference(scores, wanted)).toBeLessThan(2e-5);
});
