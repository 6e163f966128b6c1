import { appendFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { keptSource } from '../../../builder/plan/kept-source.js';
import type { ModelInfo } from '../../../runtime/core/spec.js';
import { folderSource } from '../../../runtime/store/folder.js';
import { hubSource } from '../../../runtime/store/hub.js';
import { type ModelSource, rangesOf } from '../../../runtime/store/source.js';
import { readWeightIndex } from '../../../runtime/weights/index.js';
import { type Fault, type Hub, startHub } from '../../fakes/hub.js';
import { FIXTURES } from '../weights/support.js';
import { CONFIG, folderWith, modelFiles } from './folders.js';

const files = modelFiles(3_000_000);
const graph = Buffer.from(files['onnx/model.onnx'] as Uint8Array);
const dir = folderWith(files);
let hub: Hub;

beforeEach(async () => {
  const models = { 'org/name': dir, 'org/torch': join(FIXTURES, 'torch-shards') };
  hub = await startHub({ models, cdn: true });
});
afterEach(() => hub.close());

const sourceOf = () => hubSource({ endpoint: hub.url, backoffMs: 1, stallMs: 500, firstByteMs: 500 });

async function opened(source: ModelSource, id = 'org/name') {
  const info = await source.info(id);
  hub.requests.length = 0;
  return rangesOf(source, info);
}

const PART = [2_900_000, 1000] as const;
const expected = graph.subarray(2_900_000, 2_901_000);
const read = async (source: ModelSource) => (await opened(source)).read('onnx/model.onnx', ...PART);

test('a part of a file, by a request for no more', async () => {
  expect(await read(sourceOf())).toEqual(expected);
  expect(hub.requests.map(({ server, headers }) => [server, headers.range])).toEqual([
    ['hub', 'bytes=2900000-2900999'],
    ['cdn', 'bytes=2900000-2900999'],
  ]);
});

test('the first part, the last one, and a file that is no large one', async () => {
  const ranges = await opened(sourceOf());
  expect(await ranges.read('onnx/model.onnx', 0, 3)).toEqual(graph.subarray(0, 3));
  expect(await ranges.read('onnx/model.onnx', 2_999_999, 1)).toEqual(graph.subarray(-1));
  expect((await ranges.read('config.json', 1, 5)).toString()).toBe(CONFIG.slice(1, 6));
  await expect(ranges.read('none', 0, 1)).rejects.toMatchObject({ kind: 'not_found' });
});

test.each<Partial<Fault>>([
  { dropAfter: 10 },
  { endAfter: 10 },
  { stallAfter: 10 },
  { silent: true },
  { status: 503 },
  { shiftBy: 7 },
])('a part that fails once (%j) is asked for again', async (fault) => {
  hub.fault({ path: 'model.onnx', ...fault });
  expect(await read(sourceOf())).toEqual(expected);
  expect(hub.requests.filter(({ server }) => server === 'cdn').length).toBeGreaterThan(0);
});

test('a server without ranges: parts near the beginning are read, others are not', async () => {
  hub.fault({ path: 'model.onnx', ignoreRange: true, times: 3 });
  const ranges = await opened(sourceOf());
  expect(await ranges.read('onnx/model.onnx', 1000, 10)).toEqual(graph.subarray(1000, 1010));
  await expect(ranges.read('onnx/model.onnx', ...PART)).rejects.toThrow(
    /does not send parts of files; set HF_ENDPOINT/,
  );
});

test('a file that is shorter than listed is corrupt', async () => {
  const ranges = await opened(sourceOf());
  const error: unknown = await ranges.read('onnx/model.onnx', 3_000_000, 10).catch((error: unknown) => error);
  expect(error).toMatchObject({ kind: 'corrupt' });
});

test('a caller who leaves gets no part', async () => {
  hub.fault({ path: 'model.onnx', stallAfter: 10, times: 9 });
  const ranges = await opened(sourceOf());
  const reading = ranges.read('onnx/model.onnx', ...PART, AbortSignal.timeout(50));
  await expect(reading).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('a part of a file of a folder', async () => {
  const own = folderWith({ 'model.safetensors': 'abcdef' });
  const source = folderSource(own);
  const ranges = rangesOf(source, await source.info('local/model'));
  expect((await ranges.read('model.safetensors', 2, 3)).toString()).toBe('cde');
  truncateSync(join(own, 'model.safetensors'), 4);
  await expect(ranges.read('model.safetensors', 2, 3)).rejects.toMatchObject({ kind: 'corrupt' });
  const unsafe = { id: 'a', commit: 'b', files: [{ path: '../x', size: 1 }] };
  await expect(rangesOf(source, unsafe).read('../x', 0, 1)).rejects.toThrow(/unsafe path/);
});

describe('with a cache', () => {
  const kept = (cache: string, offline = false) =>
    keptSource({ hub: () => sourceOf(), cache, offline, note: () => undefined });

  test('parts are kept, and serve without the hub', async () => {
    const cache = folderWith();
    expect(await read(kept(cache))).toEqual(expected);
    expect(hub.requests).toHaveLength(2);
    expect(await read(kept(cache))).toEqual(expected);
    expect(hub.requests).toEqual([]);
    expect(await read(kept(cache, true))).toEqual(expected);
    const ranges = await opened(kept(cache, true));
    await expect(ranges.read('onnx/model.onnx', 0, 5)).rejects.toThrow(/HF_HUB_OFFLINE is set, and a file/);
    expect(hub.requests).toEqual([]);
  });

  test('a kept part of another length is read again', async () => {
    const cache = folderWith();
    const info: ModelInfo = await kept(cache).info('org/name');
    await read(kept(cache));
    const place = `plans/org/name/${info.commit}/.slipway-parts/onnx/model.onnx/2900000-1000`;
    appendFileSync(join(cache, place), 'x');
    expect(await read(kept(cache))).toEqual(expected);
    expect(hub.requests).toHaveLength(2);
  });

  test('the index of weights is read from the hub once', async () => {
    const cache = folderWith();
    let bytes = 0;
    const index = await readWeightIndex(await opened(kept(cache), 'org/torch'), {
      onRead: (n) => (bytes += n),
    });
    expect(index.size).toBe(9);
    expect(bytes).toBeGreaterThan(1000);
    const again = await opened(kept(cache, true), 'org/torch');
    expect(await readWeightIndex(again)).toEqual(index);
    expect(hub.requests).toEqual([]);
  });
});
