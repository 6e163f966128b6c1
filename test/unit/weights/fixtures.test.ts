import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  readWeightIndex,
  weightFilesOf,
  type WeightIndex,
  weightTypeOf,
} from '../../../runtime/weights/index.js';
import { type Files, FIXTURES, pickle, pickledTensor, readFiles, sourceOf, text, zip } from './support.js';

/** Made by scripts/fixtures/weight_files.py with torch and safetensors. */
const FOLDERS = readdirSync(FIXTURES);
const REFUSED = FOLDERS.filter((name) => name.startsWith('refused-'));
const READ = FOLDERS.filter((name) => !REFUSED.includes(name));
const NAMES: Record<string, object> = { pipeline: { folder: 'unet', stem: 'diffusion_pytorch_model' } };

const expectedOf = (files: Files) =>
  JSON.parse(files['expected.json']!.toString()) as Record<string, unknown>;

/** Type, shape and bytes of every tensor, as the fixtures have them. */
function contentOf(index: WeightIndex, files: Files) {
  const tensors = [...index].map(([name, { file, offset, length, type, shape }]) => {
    return [name, { type, shape, data: files[file]!.subarray(offset, offset + length).toString('hex') }];
  });
  return Object.fromEntries(tensors) as Record<string, unknown>;
}

test.each(READ)('the tensors of %s lie where torch finds them', async (name) => {
  const files = readFiles(join(FIXTURES, name));
  const index = await readWeightIndex(sourceOf(files).source, NAMES[name]);
  expect(contentOf(index, files)).toEqual(expectedOf(files));
});

test.each(REFUSED)('%s', async (name) => {
  const files = readFiles(join(FIXTURES, name));
  const error: unknown = await readWeightIndex(sourceOf(files).source).catch((error: unknown) => error);
  expect(error).toMatchObject({ name: 'WeightsError', code: expectedOf(files)['code'] });
  expect((error as Error).message).toMatch(/; (take|fetch) /);
});

test('refusals name the tensor, the class, the opcode and the way out', async () => {
  const messageOf = async (name: string) =>
    readWeightIndex(sourceOf(readFiles(join(FIXTURES, name))).source).catch((error: Error) => error.message);
  expect(await messageOf('refused-transposed')).toMatch(
    /^pytorch_model\.bin has "turned" as a view that is not contiguous \(strides 1, 4\).*spaces\/safetensors\/convert/,
  );
  expect(await messageOf('refused-module')).toMatch(
    /names "torch\.nn\.modules\.linear\.Linear", which is not executed/,
  );
  expect(await messageOf('refused-float')).toMatch(/the pickle opcode BINFLOAT/);
  expect(await messageOf('refused-checkpoint')).toMatch(/"state_dict" is a dict, not a tensor/);
});

test('reads indexes and headers, and no weights', async () => {
  const files = readFiles(join(FIXTURES, 'shards'));
  const { source, reads } = sourceOf(files);
  let bytes = 0;
  const index = await readWeightIndex(source, { onRead: (count) => (bytes += count) });
  expect(bytes).toBe(reads.reduce((sum, { length }) => sum + length, 0));
  expect(new Set([...index.values()].map(({ file }) => file))).toEqual(
    new Set(['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors']),
  );
});

test('the files of a checkpoint: safetensors before .bin, one file before shards, an index that names them', async () => {
  const pathsOf = async (files: Files, name = {}) =>
    (await weightFilesOf(sourceOf(files).source, name)).map(({ path }) => path);
  const shards = readFiles(join(FIXTURES, 'shards'));
  const single = readFiles(join(FIXTURES, 'types'));
  const torch = readFiles(join(FIXTURES, 'torch-state'));
  expect(await pathsOf({ ...torch, ...shards, ...single })).toEqual(['model.safetensors']);
  expect(await pathsOf({ ...torch, ...shards })).toEqual([
    'model-00001-of-00002.safetensors',
    'model-00002-of-00002.safetensors',
  ]);
  expect(await pathsOf(torch)).toEqual(['pytorch_model.bin']);
  expect(await pathsOf(readFiles(join(FIXTURES, 'pipeline')), NAMES['pipeline'])).toEqual([
    'unet/diffusion_pytorch_model.safetensors',
  ]);
});

test('a repository without weights is told so', async () => {
  const { source } = sourceOf({ 'config.json': Buffer.from('{}'), 'onnx/model.onnx': Buffer.alloc(4) });
  await expect(readWeightIndex(source)).rejects.toMatchObject({
    code: 'no-weights',
    message: expect.stringMatching(/holds neither model\.safetensors nor pytorch_model\.bin/) as string,
  });
});

test('types that graphs can use, and others by their name', async () => {
  const index = await readWeightIndex(sourceOf(readFiles(join(FIXTURES, 'types'))).source);
  expect(weightTypeOf('scalar.half', index.get('scalar.half')!)).toBe('F16');
  expect(() => weightTypeOf('as.F8_E4M3', index.get('as.F8_E4M3')!)).toThrow(
    'model.safetensors has "as.F8_E4M3" as F8_E4M3, which can\'t be used in place; take a repository with the weights as F32, F16 or BF16',
  );
});

test('never more than eight parts at a time', async () => {
  // Of other lengths than announced, which is seen after all headers are read.
  const keys = Array.from({ length: 20 }, (_, i) => `${i}`);
  const data = keys.map((key) => ({ name: `a/data/${key}`, data: Buffer.alloc(8192) }));
  const items = keys.map((key) => text(key) + pickledTensor({ key }));
  const state = pickle(`\x80\x02}(${items.join('')}u.`);
  const shard = zip([{ name: 'a/data.pkl', data: state }, ...data]);
  const names = Array.from({ length: 30 }, (_, i) => `${i}.bin`);
  const copies = Object.fromEntries(names.map((name) => [name, shard]));
  const map = Object.fromEntries(names.map((name) => [name, name]));
  const index = Buffer.from(JSON.stringify({ weight_map: map }));
  const { source } = sourceOf({ ...copies, 'pytorch_model.bin.index.json': index });
  let [now, most] = [0, 0];
  const read = source.read;
  source.read = async (...part) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now--;
    return read(...part);
  };
  await expect(readWeightIndex(source)).rejects.toMatchObject({ code: 'storage' });
  expect(most).toBe(8);
});
