import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { planModel } from '../../../../builder/plan/index.js';
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
  ['gptq', { quantization_config: { quant_method: 'gptq', bits: 4 } }],
  ['awq', { text_config: {}, quantization_config: { quant_method: 'awq' } }],
  ['an unnamed method', { quantization_config: {} }],
])('weights that are quantised as %s are refused by name', async (method, settings) => {
  await expect(plan(settings, renamed('q_proj.qweight'))).rejects.toThrow(
    new RegExp(
      `quantised as ${method} .*the weights lack .*q_proj.weight.*; build the repository that .* --dtype q4`,
    ),
  );
});

test('the repository that they were made of is named where a tag tells it', async () => {
  const settings = { quantization_config: { quant_method: 'gptq' } };
  const tags = ['base_model:org/plain', 'base_model:quantized:org/plain'];
  await expect(plan(settings, renamed('q_proj.qweight'), tags)).rejects.toThrow(
    'build org/plain with --dtype q4 or q8',
  );
});

test('plain weights beside such a configuration are served', async () => {
  const { spec } = await plan({ quantization_config: { quant_method: 'bitsandbytes' } }, weights);
  expect(spec.written).toHaveLength(1);
});
