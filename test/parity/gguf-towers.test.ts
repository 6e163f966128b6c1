import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ort from 'onnxruntime-node';
import { buildPackedFile } from '../../builder/pack/build-packed-file.js';
import { chooseFile } from '../../builder/plan/gguf/choose-file.js';
import { openGguf } from '../../builder/plan/gguf/open-gguf.js';
import { chooseTower } from '../../builder/plan/gguf/towers/choose-tower.js';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { openSession } from '../../runtime/engines/sessions/session.js';
import { floatsOfBlocks } from '../../runtime/gguf/index.js';
import { packedStorage } from '../../runtime/models/writer/storage.js';
import { writeGraphs } from '../../runtime/models/write-graphs.js';
import { folderSource } from '../../runtime/store/folder.js';
import { floatsOf } from '../../runtime/weights/index.js';
import { exactProducts, largestDifference } from '../helpers/gguf/exact-products.js';
import { quantise } from '../helpers/gguf/quantise.js';
import { type GgufParts, readGgufParts, rewritten } from '../helpers/gguf/rewrite-gguf.js';
import { FIXTURES } from './zoo.js';

const SIDE = 32;
const PIXELS = Float32Array.from({ length: 3 * SIDE * SIDE }, (_, i) => Math.sin(i / 7));
const repo = join(FIXTURES, 'zoo-gguf/image-text-to-text/gemma3/repo');

/** What the encoder of images gives, over a model and its tower. */
async function featuresOver(text: Buffer, tower: Buffer, { exact = true } = {}): Promise<Float32Array> {
  const dir = await mkdtemp(join(tmpdir(), 'gguf-'));
  await writeFile(join(dir, 'm.gguf'), text);
  await writeFile(join(dir, 'mmproj-m.gguf'), tower);
  const source = folderSource(dir);
  const info = await source.info('org/model');
  const chosen = await chooseFile(source, info);
  const choice = await chooseTower({ source, info, variants: chosen.variants, asked: undefined });
  const opened = await openGguf(source, info, chosen, choice.tower);
  const config = parsePythonJson((await opened.source.readText(opened.info, 'config.json'))!);
  const storage = packedStorage('made.bin', undefined);
  const { graphs } = writeGraphs({
    ...{ config, index: opened.index, head: 'media-chat' },
    storage: exact ? exactProducts(storage) : storage,
  });
  await buildPackedFile(join(dir, 'made.bin'), { from: dir, recipe: storage.recipe() });
  const bytes = graphs['vision_encoder']!;
  const session = await openSession({ bytes, weightsIn: dir }, { device: 'cpu', threads: 1 });
  const pixel_values = new ort.Tensor('float32', PIXELS, [1, 3, SIDE, SIDE]);
  const { image_features } = await session.run({ pixel_values });
  return Float32Array.from(image_features!.data as Float32Array);
}

/** Matrices whose rows are whole blocks, but what converters leave as it is. */
function changed(
  { metadata, tensors }: GgufParts,
  change: (values: Float32Array) => [string, Uint8Array],
): Buffer {
  return rewritten({
    metadata,
    tensors: tensors.map((tensor) => {
      const { name, shape, data } = tensor;
      if (shape.length !== 2 || shape.at(-1)! % 32 !== 0 || /embd|input_projection/.test(name)) return tensor;
      const [type, bytes] = change(floatsOf(Uint8Array.from(data), 'F32'));
      return { name, shape, type, data: bytes };
    }),
  });
}

test.each(['F16', 'BF16', 'Q8_0'])('a tower in %s computes what its numbers in F32 do', async (type) => {
  const [text, tower] = await Promise.all(
    ['gemma3-F32.gguf', 'mmproj-gemma3-F32.gguf'].map((name) => readGgufParts(join(repo, name))),
  );
  const own = (values: Float32Array): [string, Uint8Array] => [type, quantise(values, type)];
  const rounded = (values: Float32Array): [string, Uint8Array] => {
    const blocks = quantise(values, type);
    const numbers = type === 'Q8_0' ? floatsOfBlocks(type, blocks) : floatsOf(blocks, type);
    return ['F32', quantise(numbers, 'F32')];
  };
  const wanted = await featuresOver(rewritten(text!), changed(tower!, rounded));
  expect(wanted.some((value) => Math.abs(value) > 0.01)).toBe(true);
  // A quantised model beside it changes nothing of its tower.
  const found = await featuresOver(changed(text!, own), changed(tower!, own));
  expect(largestDifference(found, wanted)).toBeLessThan(2e-5);
  if (type !== 'Q8_0') return;
  // As products are computed by default, their inputs are rounded to eight bits.
  const usual = await featuresOver(changed(text!, own), changed(tower!, own), { exact: false });
  expect(largestDifference(usual, wanted)).toBeLessThan(0.05);
});
