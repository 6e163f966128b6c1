import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPackedFile } from '../../../../builder/pack/build-packed-file.js';
import { planModel } from '../../../../builder/plan/index.js';
import { createGraphWriter } from '../../../../runtime/models/writer/graph-writer.js';
import { type MatrixUse, packedStorage } from '../../../../runtime/models/writer/storage.js';
import { createWeights } from '../../../../runtime/models/writer/weights.js';
import type { QuantizedBlocks } from '../../../../runtime/weights/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { graphModel } from '../../../fakes/drawn-weights.js';
import { folderWith } from '../../store/folders.js';

const LLAMA = graphModel('llama-classifier');
const config = JSON.parse(await readFile(join(LLAMA, 'config.json'), 'utf8')) as Record<string, unknown>;
const weights = await readFile(join(LLAMA, 'model.safetensors'));

/** A checkpoint with its first projection under another name, as tools that quantise leave it. */
const renamed = (name: string): Buffer => {
  const size = Number(weights.readBigUInt64LE());
  const header = weights.toString('latin1', 8, 8 + size).replace('q_proj.weight"', `${name}"`);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, Buffer.from(header, 'latin1'), weights.subarray(8 + size)]);
};

function plan(settings: object, checkpoint: Buffer, tags: string[] = []) {
  const source = folderSource(
    folderWith({
      'config.json': JSON.stringify({ ...config, ...settings }),
      'tokenizer.json': '{}',
      'model.safetensors': checkpoint,
    }),
  );
  const info = async (id: string) => ({ ...(await source.info(id)), tags });
  return planModel({ source: { ...source, info }, id: 'org/m', task: 'text-classification' });
}

test.each([
  ['fp8', { quantization_config: { quant_method: 'fp8' } }],
  ['fbgemm_fp8', { text_config: {}, quantization_config: { quant_method: 'fbgemm_fp8' } }],
  ['an unnamed method', { quantization_config: {} }],
])('weights that are quantised as %s are refused by name', async (method, settings) => {
  await expect(plan(settings, renamed('q_proj.qweight'))).rejects.toThrow(
    new RegExp(
      `quantised as ${method} .*the weights lack .*q_proj.weight.*; build the repository that .* --dtype q4`,
    ),
  );
});

const COMPRESSED = { quant_method: 'compressed-tensors', format: 'pack-quantized', config_groups: {} };
const compressed = (weights: object, others = {}) => ({
  ...COMPRESSED,
  config_groups: { group_0: { ...others, weights: { num_bits: 4, strategy: 'channel', ...weights } } },
});

const GPTQ = { quant_method: 'gptq', bits: 4, group_size: 128, desc_act: false };

test.each([
  ['bits is 3', { ...GPTQ, bits: 3 }],
  ['bits is missing', { ...GPTQ, bits: undefined }],
  ['group_size is -2', { ...GPTQ, group_size: -2 }],
  ['desc_act is "no"', { ...GPTQ, desc_act: 'no' }],
  ['checkpoint_format is "marlin"', { ...GPTQ, checkpoint_format: 'marlin' }],
  ['is_marlin_format is true', { ...GPTQ, is_marlin_format: true }],
  ['dynamic is {"lm_head":{"bits":8}}', { ...GPTQ, dynamic: { lm_head: { bits: 8 } } }],
  ['version is "gemv"', { quant_method: 'awq', bits: 4, group_size: 128, version: 'gemv' }],
  ['q_proj.qweight and its qzeros and scales do not fit', GPTQ],
  ['format is of another kind', { ...COMPRESSED, format: 'float-quantized' }],
  ['group_0.weights.num_bits is of another kind', compressed({ num_bits: 3 })],
  ['group_0.weights.symmetric is of another kind', compressed({ symmetric: false })],
  ['group_0.weights.type is of another kind', compressed({ type: 'float' })],
  ['group_0.input_activations is of another kind', compressed({}, { input_activations: { num_bits: 8 } })],
])('four bits that products do not read are refused: %s', async (detail, settings) => {
  const checkpoint = renamed('q_proj.qweight');
  await expect(plan({ quantization_config: settings }, checkpoint)).rejects.toThrow(detail);
});

interface Packing {
  /** What becomes of config.json. */
  change?(this: void, config: object): object;
  /** Files beside it. */
  others?: Record<string, string>;
  dtype?: 'q4';
}

async function planPacked(name: string, { change = (same) => same, others = {}, dtype }: Packing = {}) {
  const read = async (file: string) => readFile(join(graphModel(name), file));
  const settings = JSON.parse(String(await read('config.json'))) as object;
  const folder = folderWith({
    ...others,
    'config.json': JSON.stringify(change(settings)),
    'tokenizer.json': '{}',
    'model.safetensors': await read('model.safetensors'),
  });
  const request = { source: folderSource(folder), id: 'org/m', task: 'text-generation', dtype } as const;
  return { folder, ...(await planModel(request)) };
}

test.each([
  ['gptq', 4, 'llama-gptq'],
  ['gptq', 4, 'llama-gptq-v2'],
  ['gptq', 8, 'llama-gptq-order'],
  ['awq', 4, 'qwen2-awq'],
  ['compressed-tensors', 4, 'llama-compressed'],
])('what %s has packed to %i bits is repacked as it is: %s', async (method, bits, name) => {
  const { spec, reasons, packedWeights, parameters } = await planPacked(name);
  expect(spec.dtype).toBe(`q${bits}`);
  expect(reasons.at(-1)).toMatch(`the ${bits}-bit matrices of ${method} as they are`);
  expect(packedWeights!.plain).toBeUndefined();
  expect(packedWeights!.recipe.parts.filter(({ tensor }) => tensor.blocks)).toHaveLength(7);
  // Matrices count as what they were.
  expect(parameters).toBeGreaterThan(30_000);
});

test('a network none of whose matrices can be packed is refused with --dtype, not called packed', async () => {
  const repo = join(import.meta.dirname, '../../../fixtures/zoo-weights/text-to-image/lcm/repo');
  const request = { source: folderSource(repo), id: 'org/m', task: 'text-to-image', dtype: 'q8' } as const;
  await expect(planModel(request)).rejects.toThrow(
    /none of its matrices can be packed to 8 bits; leave out --dtype/,
  );
});

test('settings that a tool has left in a file of its own are read', async () => {
  const settings = { bits: 4, group_size: 32, desc_act: false, sym: true, model_name_or_path: null };
  const without = (config: object) => ({ ...config, quantization_config: undefined });
  const own = JSON.stringify(settings);
  const found = await planPacked('llama-gptq', { change: without, others: { 'quantize_config.json': own } });
  const usual = await planPacked('llama-gptq');
  expect(found.packedWeights!.recipe).toEqual(usual.packedWeights!.recipe);
  const awq = JSON.stringify({ zero_point: true, q_group_size: 64, w_bit: 4, version: 'GEMM' });
  const other = await planPacked('qwen2-awq', { change: without, others: { 'quant_config.json': awq } });
  expect(other.packedWeights!.recipe).toEqual((await planPacked('qwen2-awq')).packedWeights!.recipe);
  await expect(planPacked('llama-gptq', { change: without })).rejects.toThrow(/lack.*q_proj.weight/);
});

test('--dtype packs what the other tool has left', async () => {
  const { spec, reasons, packedWeights } = await planPacked('llama-gptq', { dtype: 'q4' });
  expect(spec.dtype).toBe('q4');
  expect(reasons.at(-1)).toMatch(
    /the 4-bit matrices of gptq as they are, others packed to 4 bits \(\d+ % of/,
  );
  const packed = packedWeights!.recipe.parts.filter(({ packing }) => packing);
  expect(packed.filter(({ tensor }) => tensor.blocks)).toHaveLength(7);
  expect(packed.map(({ tensor }) => tensor.name)).toContain('model.embed_tokens.weight');
});

test('what tells the order of columns must leave groups of one size', async () => {
  const { folder, packedWeights } = await planPacked('llama-gptq-order');
  const parts = packedWeights!.recipe.parts.map((part) => {
    const { blocks } = part.tensor;
    // Other integers in place of the groups.
    const groupOf = blocks && { ...part.tensor, length: (blocks as QuantizedBlocks).groupOf!.length };
    return blocks ? { ...part, tensor: { ...part.tensor, blocks: { ...blocks, groupOf } } } : part;
  });
  const making = buildPackedFile(join(folder, 'made'), {
    from: folder,
    recipe: { ...packedWeights!.recipe, parts },
  });
  await expect(making).rejects.toThrow('groups of other sizes (g_idx)');
});

test('columns that are grouped in another order than config.json says are an error', async () => {
  const { folder, packedWeights } = await planPacked('llama-gptq');
  const parts = packedWeights!.recipe.parts.map((part) => {
    const { tensor } = part;
    const { blocks } = tensor;
    // Other integers in place of the groups.
    const groupOf = blocks && { ...tensor, length: (blocks as QuantizedBlocks).groupOf!.length };
    return blocks ? { ...part, tensor: { ...tensor, blocks: { ...blocks, groupOf } } } : part;
  });
  const making = buildPackedFile(join(folder, 'made'), {
    from: folder,
    recipe: { ...packedWeights!.recipe, parts },
  });
  await expect(making).rejects.toThrow('desc_act');
});

test('words and scales of compressed-tensors that do not fit each other are refused', async () => {
  const checkpoint = renamed('q_proj.weight_packed');
  await expect(plan({ quantization_config: compressed({}) }, checkpoint)).rejects.toThrow(
    'q_proj.weight_packed and its scales do not fit each other',
  );
});

test('floats of four bits become sums of two integers, and other matrices stay as they are', async () => {
  const { spec, reasons, packedWeights } = await planPacked('gpt-oss-mxfp4');
  expect(spec.dtype).toBe('q4');
  expect(reasons.at(-1)).toMatch('the matrices of mxfp4 as sums of two 4-bit integers');
  // Of three experts two matrices each.
  expect(packedWeights!.recipe.parts.filter(({ packing }) => packing)).toHaveLength(6);
});

test('floats of four bits whose scales are of another shape are refused', async () => {
  const change = (settings: object) => ({ ...settings, quantization_config: { quant_method: 'mxfp4' } });
  await expect(planPacked('gpt-oss-mxfp4', { change })).resolves.toBeDefined();
  const checkpoint = renamed('q_proj_blocks');
  await expect(plan({ quantization_config: { quant_method: 'mxfp4' } }, checkpoint)).rejects.toThrow(
    'q_proj_blocks and its scales do not fit each other',
  );
});

test.each([
  ['gpt-oss', /router/, /gate_up_proj|down_proj/],
  ['mixtral', /gate\.weight/, /experts/],
])(
  'of a mixture experts are packed, and what chooses among them is not: %s',
  async (name, router, experts) => {
    const { packedWeights } = await planPacked(name, { dtype: 'q4' });
    const parts = (pattern: RegExp) =>
      packedWeights!.recipe.parts.filter(({ tensor }) => pattern.test(tensor.name));
    expect(parts(router).length).toBeGreaterThan(0);
    expect(parts(router).every(({ packing }) => packing === undefined)).toBe(true);
    const matrices = parts(experts).filter(({ tensor }) => tensor.shape.length === 2);
    expect(matrices.length).toBeGreaterThan(0);
    expect(matrices.map(({ tensor, packing }) => packing && tensor.name)).not.toContain(undefined);
  },
);

test('packed matrices are read by products alone', async () => {
  const { packedWeights } = await planPacked('llama-gptq');
  const { name, ...tensor } = packedWeights!.recipe.parts.find((part) => part.tensor.blocks)!.tensor;
  const g = createGraphWriter(createWeights(new Map([[name, tensor]])), packedStorage('made', 4));
  const [rows, columns] = tensor.shape as [number, number];
  const packedAs = (use: Pick<MatrixUse, 'kind' | 'transposed'>) =>
    g.packed(name, [rows, columns], { ...use, isTable: false });
  expect(packedAs({ kind: 'matrix', transposed: false })).toMatchObject({ bits: 4, block: 32 });
  expect(packedAs({ kind: 'matrix', transposed: true })).toMatchObject({ bits: 4, transposed: false });
  expect(packedAs({ kind: 'table', transposed: false })).toBeUndefined();
  expect(() => g.weight(name, tensor.shape)).toThrow('is packed, and this network reads it whole');
});

test('the repository that they were made of is named where a tag tells it', async () => {
  const settings = { quantization_config: { ...GPTQ, bits: 2 } };
  const tags = ['base_model:org/plain', 'base_model:quantized:org/plain'];
  await expect(plan(settings, renamed('q_proj.qweight'), tags)).rejects.toThrow(
    'build org/plain with --dtype q4 or q8',
  );
});

test('plain weights beside such a configuration are served', async () => {
  const { spec } = await plan({ quantization_config: { quant_method: 'bitsandbytes' } }, weights);
  expect(spec.written).toHaveLength(1);
});
