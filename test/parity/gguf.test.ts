import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ort from 'onnxruntime-node';
import { buildPackedFile } from '../../builder/pack/build-packed-file.js';
import { chooseFile } from '../../builder/plan/gguf/choose-file.js';
import { openGguf } from '../../builder/plan/gguf/open-gguf.js';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { openSession } from '../../runtime/engines/sessions/session.js';
import { floatsOfBlocks } from '../../runtime/gguf/index.js';
import { packedStorage } from '../../runtime/models/writer/storage.js';
import { writeGraphs } from '../../runtime/models/write-graphs.js';
import { folderSource } from '../../runtime/store/folder.js';
import { floatsOf } from '../../runtime/weights/index.js';
import { checkpointIn, drawnCheckpoint, type DrawnCheckpoint } from '../helpers/gguf/checkpoint.js';
import { ggufOfModel, type ModelTensor, type ModelToWrite } from '../helpers/gguf/from-model.js';
import { exactProducts, largestDifference } from '../helpers/gguf/exact-products.js';
import { scoresByLlama } from '../helpers/gguf/scores-by-llama.js';
import { quantise } from '../helpers/gguf/quantise.js';
import { FIXTURES } from './zoo.js';

type Json = Record<string, unknown>;

/** More than the first length of longrope. */
const TOKENS = [21, 48, 69, 32, 52, 51, 56, 47, 84, 19, 79, 78, 25, 22, 49, 70, 33, 53, 52, 57, 48, 85];

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
  return Float32Array.from((found['logits'] ?? found['last_hidden_state'])!.data as Float32Array);
}

async function overSafetensors({ config, index, dir }: DrawnCheckpoint, head: 'causal-lm' | 'embedding') {
  const { graphs } = writeGraphs({ config, index, head });
  return computed(Object.values(graphs)[0]!, dir);
}

/** As the builder does it, from a folder with one file of GGUF. */
async function overGguf(file: Buffer, head: 'causal-lm' | 'embedding', { exact = false } = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'gguf-'));
  await writeFile(join(dir, 'm.gguf'), file);
  const source = folderSource(dir);
  const info = await source.info('org/model');
  const opened = await openGguf(source, info, await chooseFile(source, info));
  const text = (await opened.source.readText(opened.info, 'config.json')) ?? '';
  const config = parsePythonJson(text) as Json;
  const storage = packedStorage('made.bin', undefined);
  const products = exact ? exactProducts(storage) : storage;
  const { graphs } = writeGraphs({ config, index: opened.index, head, storage: products });
  await buildPackedFile(join(dir, 'made.bin'), { from: dir, recipe: storage.recipe() });
  return { config, scores: await computed(Object.values(graphs)[0]!, dir) };
}

/** Metadata of these architectures have no word for windows. */
const WITHOUT_WINDOW = { use_sliding_window: false, sliding_window: null };

/** Fields that metadata have no words for, as llama.cpp takes them. */
const MODELS: readonly (readonly [name: string, changed: Json])[] = [
  ['llama', {}],
  ['llama-yarn', {}],
  ['mixtral', {}],
  ['qwen3', {}],
  ['gemma', {}],
  ['gemma2', { query_pre_attn_scalar: 16 }],
  ['gemma3', { query_pre_attn_scalar: 16, rope_scaling: { rope_type: 'linear', factor: 8 } }],
  ['qwen2-window', { ...WITHOUT_WINDOW, layer_types: ['full_attention', 'full_attention'] }],
  ['qwen3-moe', { ...WITHOUT_WINDOW, decoder_sparse_step: 1, mlp_only_layers: [] }],
  ['phi3', { original_max_position_embeddings: 64 }],
  ['phi3-longrope', {}],
  ['olmo2', {}],
  ['granite', {}],
  ['smollm3', { ...WITHOUT_WINDOW, layer_types: Array(4).fill('full_attention') }],
  ['glm4', {}],
  ['ernie4-5', {}],
  ['starcoder2', { sliding_window: 4096 }],
  ['cohere2', {}],
  ['olmo3', {}],
  ['olmoe', { clip_qkv: null }],
  ['seed-oss', {}],
  ['nemotron', {}],
  ['exaone4', {}],
  ['arcee', {}],
];

test.each(MODELS)('%s in GGUF computes what its PyTorch weights do', async (name, changed) => {
  const model = allSparse(await drawnCheckpoint(name, changed));
  const wanted = await overSafetensors(model, 'causal-lm');
  const { scores, config } = await overGguf(ggufOfModel(model), 'causal-lm');
  expect(config['model_type']).toBe(model.config['model_type']);
  expect(largestDifference(scores, wanted)).toBeLessThan(2e-5);
});

/** Types of layers that see all tokens, in a configuration that names each. */
const allFull = (layers: number): Json => ({
  ...WITHOUT_WINDOW,
  layer_types: Array.from({ length: layers }, () => 'full_attention'),
});

/**
 * Files that llama.cpp takes, whose scores it has to compute as graphs of ours over the same file do. Left out are networks that no
 * model has, which it refuses: heads of other widths (Nemotron), heads that share keys (OLMoE); and biases that it has no place for.
 */
const BY_LLAMA: readonly (readonly [name: string, changed: Json, tolerance: number])[] = [
  ['llama', {}, 2e-5],
  ['llama-yarn', {}, 2e-5],
  ['mixtral', {}, 2e-5],
  ['qwen3', {}, 2e-5],
  // It looks GELU up in a table of 16 bits.
  ['gemma', {}, 2e-3],
  ['gemma2', { query_pre_attn_scalar: 16 }, 2e-3],
  ['gemma3', { query_pre_attn_scalar: 16, rope_scaling: { rope_type: 'linear', factor: 8 } }, 2e-3],
  ['starcoder2', { sliding_window: 4096 }, 2e-3],
  ['qwen2-window', allFull(2), 2e-5],
  ['qwen3-moe', { ...WITHOUT_WINDOW, decoder_sparse_step: 1, mlp_only_layers: [] }, 2e-5],
  // It knows no window of Phi-3.
  ['phi3', { original_max_position_embeddings: 64, sliding_window: null }, 2e-5],
  ['phi3-longrope', {}, 2e-5],
  // Texts below the first length, in a cache below it.
  ['phi3-longrope', { original_max_position_embeddings: 256, max_position_embeddings: 1024 }, 2e-5],
  ['olmo2', {}, 2e-5],
  ['granite', {}, 2e-5],
  ['smollm3', allFull(4), 2e-5],
  ['glm4', {}, 2e-5],
  ['ernie4-5', { use_bias: false }, 2e-5],
  ['cohere2', {}, 2e-5],
  ['olmo3', {}, 2e-5],
  ['seed-oss', {}, 2e-5],
  // Windows are those of models of 64 layers only.
  ['exaone4', allFull(4), 2e-5],
  ['arcee', { mlp_bias: false }, 2e-5],
];

/** Without what the configuration says that it has not. */
function withoutBiases(model: DrawnCheckpoint): DrawnCheckpoint {
  const { use_bias: all, mlp_bias: ofMlp } = model.config;
  const left = (name: string) =>
    !name.endsWith('.bias') || (all !== false && (ofMlp !== false || !name.includes('.mlp.')));
  const kept = <T>(from: ReadonlyMap<string, T>) => new Map([...from].filter(([name]) => left(name)));
  return { ...model, index: kept(model.index), tensors: kept(model.tensors) };
}

test.each(BY_LLAMA)(
  'llama.cpp and graphs of ours compute the same of %s',
  async (name, changed, tolerance) => {
    const file = ggufOfModel(withoutBiases(allSparse(await drawnCheckpoint(name, changed))));
    const { scores } = await overGguf(file, 'causal-lm');
    const found = await scoresByLlama(file, TOKENS);
    expect(largestDifference(found.slice(-scores.length), scores)).toBeLessThan(tolerance);
  },
);

test('Ministral 3 in GGUF, whose queries grow, computes what its PyTorch weights do', async () => {
  const repo = join(FIXTURES, 'zoo-v5/text-generation/ministral3/repo');
  const { rope_parameters: rope } = (await checkpointIn(repo)).config as { rope_parameters: Json };
  const model = await checkpointIn(repo, { rope_scaling: rope, rope_theta: rope['rope_theta'] });
  const wanted = await overSafetensors(model, 'causal-lm');
  const { scores, config } = await overGguf(ggufOfModel(model), 'causal-lm');
  expect(config['model_type']).toBe('ministral3');
  expect(largestDifference(scores, wanted)).toBeLessThan(2e-5);
});

test('the factor of attention of scaled positions is read', async () => {
  const scaling = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 16, attention_factor: 2 };
  const model = await drawnCheckpoint('llama-yarn', { rope_scaling: scaling });
  const { scores } = await overGguf(ggufOfModel(model), 'causal-lm');
  expect(largestDifference(scores, await overSafetensors(model, 'causal-lm'))).toBeLessThan(2e-5);
});

/** Layers without experts get those of the first layer that has some: files of GGUF have them in all layers. */
function allSparse(model: DrawnCheckpoint): DrawnCheckpoint {
  const experts = /^model\.layers\.(\d+)\.mlp\.(?:gate|experts\.\d+\.\w+)\.weight$/;
  const first = [...model.index.keys()]
    .map((name) => experts.exec(name)?.[1])
    .find((layer) => layer !== undefined);
  if (first === undefined) return model;
  const dense = /^(model\.layers\.\d+\.mlp)\.gate_proj\.weight$/;
  const layers = [...model.index.keys()].flatMap((name) => dense.exec(name)?.[1] ?? []);
  const filled = <T>(from: ReadonlyMap<string, T>): Map<string, T> => {
    const given = [...from].filter(([name]) => !layers.some((layer) => name.startsWith(`${layer}.`)));
    const copied = given.flatMap(([name, value]) =>
      experts.exec(name)?.[1] === first
        ? layers.map((layer): [string, T] => [name.replace(`model.layers.${first}.mlp`, layer), value])
        : [],
    );
    return new Map([...given, ...copied]);
  };
  return { ...model, index: filled(model.index), tensors: filled(model.tensors) };
}

/** The same numbers before and behind a type that rounds them. */
function roundedTo(type: string, { tensors, config }: ModelToWrite): Buffer {
  const rounded = [...tensors].map(([name, tensor]): [string, ModelTensor] => {
    const { shape, bytes, type: stored } = tensor;
    // Routers stay as they are.
    if (shape.length < 2 || shape.at(-1)! % 32 !== 0 || name.endsWith('.gate.weight')) return [name, tensor];
    const blocks = quantise(floatsOf(bytes, stored), type);
    const values = type.startsWith('Q') ? floatsOfBlocks(type, blocks) : floatsOf(blocks, type);
    return [name, { shape, type: 'F32', bytes: quantise(values, 'F32') }];
  });
  return ggufOfModel({ config, tensors: new Map(rounded) });
}

describe.each(['llama', 'mixtral'])('%s', (name) => {
  test.each(['F16', 'BF16', 'Q8_0', 'Q4_0', 'Q4_1'])(
    'in %s computes what its numbers in F32 do',
    async (type) => {
      const { config, tensors } = await drawnCheckpoint(name);
      const { scores } = await overGguf(ggufOfModel({ config, tensors, type }), 'causal-lm', { exact: true });
      const wanted = await overGguf(roundedTo(type, { config, tensors }), 'causal-lm');
      expect(largestDifference(scores, wanted.scores)).toBeLessThan(2e-5);
    },
  );
});

test.each(['Q8_0', 'Q4_0', 'Q4_1'])(
  'products with blocks of %s round their inputs to eight bits',
  async (type) => {
    const { config, tensors } = await drawnCheckpoint('llama');
    const { scores } = await overGguf(ggufOfModel({ config, tensors, type }), 'causal-lm');
    const wanted = await overGguf(roundedTo(type, { config, tensors }), 'causal-lm');
    expect(largestDifference(scores, wanted.scores)).toBeLessThan(0.03);
    expect(largestDifference(scores, wanted.scores)).toBeGreaterThan(1e-4);
  },
);

test('a BERT in GGUF computes the vectors that its PyTorch weights do', async () => {
  const model = await drawnCheckpoint('bert-classifier', { architectures: ['BertModel'] });
  const wanted = await overSafetensors(model, 'embedding');
  const { scores } = await overGguf(ggufOfModel(model), 'embedding');
  expect(largestDifference(scores, wanted)).toBeLessThan(2e-5);
});
