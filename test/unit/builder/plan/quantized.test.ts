import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFile } from '../../../../builder/pack/make-file.js';
import { planModel } from '../../../../builder/plan/index.js';
import { createGraphWriter } from '../../../../runtime/graphs/graph-writer.js';
import { type MatrixUse, packedStorage } from '../../../../runtime/graphs/storage.js';
import { createWeights } from '../../../../runtime/graphs/weights.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { folderWith } from '../../store/folders.js';

const LLAMA = join(import.meta.dirname, '../../../fixtures/graph-models/llama-classifier');
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
  ['compressed-tensors', { text_config: {}, quantization_config: { quant_method: 'compressed-tensors' } }],
  ['an unnamed method', { quantization_config: {} }],
])('weights that are quantised as %s are refused by name', async (method, settings) => {
  await expect(plan(settings, renamed('q_proj.qweight'))).rejects.toThrow(
    new RegExp(
      `quantised as ${method} .*the weights lack .*q_proj.weight.*; build the repository that .* --dtype q4`,
    ),
  );
});

const GPTQ = { quant_method: 'gptq', bits: 4, group_size: 128, desc_act: false };

test.each([
  ['bits is 8', { ...GPTQ, bits: 8 }],
  ['bits is missing', { ...GPTQ, bits: undefined }],
  ['group_size is -2', { ...GPTQ, group_size: -2 }],
  ['desc_act is true', { ...GPTQ, desc_act: true }],
  ['checkpoint_format is "marlin"', { ...GPTQ, checkpoint_format: 'marlin' }],
  ['is_marlin_format is true', { ...GPTQ, is_marlin_format: true }],
  ['dynamic is {"lm_head":{"bits":8}}', { ...GPTQ, dynamic: { lm_head: { bits: 8 } } }],
  ['version is "gemv"', { quant_method: 'awq', bits: 4, group_size: 128, version: 'gemv' }],
  ['q_proj.qweight and its qzeros and scales do not fit', GPTQ],
])('four bits that products do not read are refused: %s', async (detail, settings) => {
  const checkpoint = renamed('q_proj.qweight');
  await expect(plan({ quantization_config: settings }, checkpoint)).rejects.toThrow(detail);
});

const packed = (name: string) => join(import.meta.dirname, '../../../fixtures/graph-models', name);

async function planPacked(name: string, change: (config: object) => object = (same) => same) {
  const read = async (file: string) => readFile(join(packed(name), file));
  const settings = JSON.parse(String(await read('config.json'))) as object;
  const folder = folderWith({
    'config.json': JSON.stringify(change(settings)),
    'tokenizer.json': '{}',
    'model.safetensors': await read('model.safetensors'),
  });
  const request = { source: folderSource(folder), id: 'org/m', task: 'text-generation' } as const;
  return { folder, ...(await planModel(request)) };
}

test.each([
  ['gptq', 'llama-gptq'],
  ['gptq', 'llama-gptq-v2'],
  ['awq', 'qwen2-awq'],
])('four bits of %s are repacked as they are: %s', async (method, name) => {
  const { spec, reasons, toMake, parameters } = await planPacked(name);
  expect(spec.dtype).toBe('q4');
  expect(reasons.at(-1)).toMatch(`the 4-bit matrices of ${method} as they are`);
  expect(toMake!.plain).toBeUndefined();
  expect(toMake!.recipe.parts.filter(({ tensor }) => tensor.blocks)).toHaveLength(7);
  // Matrices count as what they were.
  expect(parameters).toBeGreaterThan(36_000);
});

test('columns that are grouped in another order than config.json says are an error', async () => {
  const { folder, toMake } = await planPacked('llama-gptq');
  const parts = toMake!.recipe.parts.map((part) => {
    const { tensor } = part;
    const { blocks } = tensor;
    // Other integers in place of the groups.
    const groupOf = blocks && { ...tensor, length: blocks.groupOf!.length };
    return blocks ? { ...part, tensor: { ...tensor, blocks: { ...blocks, groupOf } } } : part;
  });
  const making = makeFile(join(folder, 'made'), { from: folder, recipe: { ...toMake!.recipe, parts } });
  await expect(making).rejects.toThrow('desc_act');
});

test('packed matrices are read by products alone', async () => {
  const { toMake } = await planPacked('llama-gptq');
  const { name, ...tensor } = toMake!.recipe.parts.find((part) => part.tensor.blocks)!.tensor;
  const g = createGraphWriter(createWeights(new Map([[name, tensor]])), packedStorage('made', 4));
  const [rows, columns] = tensor.shape as [number, number];
  const packedAs = (use: Pick<MatrixUse, 'kind' | 'transposed'>) =>
    g.packed(name, use.transposed ? [columns, rows] : [rows, columns], { ...use, isTable: false });
  expect(packedAs({ kind: 'matrix', transposed: false })).toMatchObject({ bits: 4, block: 32 });
  expect(packedAs({ kind: 'matrix', transposed: true })).toBeUndefined();
  expect(packedAs({ kind: 'table', transposed: false })).toBeUndefined();
  expect(() => g.weight(name, tensor.shape)).toThrow('is packed, and this network reads it whole');
});

test('the repository that they were made of is named where a tag tells it', async () => {
  const settings = { quantization_config: { ...GPTQ, desc_act: true } };
  const tags = ['base_model:org/plain', 'base_model:quantized:org/plain'];
  await expect(plan(settings, renamed('q_proj.qweight'), tags)).rejects.toThrow(
    'build org/plain with --dtype q4 or q8',
  );
});

test('plain weights beside such a configuration are served', async () => {
  const { spec } = await plan({ quantization_config: { quant_method: 'bitsandbytes' } }, weights);
  expect(spec.written).toHaveLength(1);
});
