import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ModelInfo } from '../../../runtime/core/spec.js';
import type { Progress } from '../../../runtime/store/download.js';
import { hubSource } from '../../../runtime/store/hub.js';
import { MANIFEST_NAME } from '../../../runtime/store/manifest.js';
import { ensureWeights, type WeightsOptions } from '../../../runtime/store/weights.js';
import { type Hub, startHub } from '../../fakes/hub.js';
import { folderWith, modelFiles } from './folders.js';

const GRAPH = 'onnx/model.onnx';
const files = modelFiles();
const graphBytes = Buffer.from(files[GRAPH] as Uint8Array);
const dir = folderWith(files);
let hub: Hub;
let info: ModelInfo;
let root: string;
let lines: string[];

beforeEach(async () => {
  hub = await startHub({ models: { 'org/name': dir } });
  info = await hubSource({ endpoint: hub.url }).info('org/name');
  hub.requests.length = 0;
  root = folderWith();
  lines = [];
});
afterEach(() => hub.close());

function ensure(options: Partial<WeightsOptions> = {}) {
  return ensureWeights({
    spec: info,
    roots: [root],
    downloadRoot: root,
    source: () => hubSource({ endpoint: hub.url, stallMs: 300 }),
    log: (line) => void lines.push(line),
    tuning: { backoffMs: 1 },
    ...options,
  });
}

const target = () => join(root, 'org', 'name', info.commit);
const graphPath = () => join(target(), GRAPH);
const ranges = () =>
  hub.requests.filter(({ path }) => path.includes(GRAPH)).map(({ headers }) => headers.range);
const noSource = () => {
  throw new Error('asked for a source');
};

function expectComplete(folder = target()): void {
  for (const [path, content] of Object.entries(files)) {
    expect(readFileSync(join(folder, path)).equals(Buffer.from(content as string))).toBe(true);
  }
}

describe('download', () => {
  test('all files under their paths, with progress, and nothing left over', async () => {
    const seen: Progress[] = [];
    const result = await ensure({ onProgress: (progress) => void seen.push(progress) });
    expect(result).toEqual({ dir: target(), downloaded: true });
    expectComplete();
    expect(readdirSync(target()).sort()).toEqual([MANIFEST_NAME, 'config.json', 'onnx', 'tokenizer.json']);
    expect(readdirSync(join(target(), 'onnx'))).toEqual(['model.onnx']);
    const last = seen.at(-1)!;
    expect(last.doneBytes).toBe(last.totalBytes);
    expect(last.totalBytes).toBe(info.files.reduce((sum, file) => sum + file.size, 0));
    expect(hub.requests.length).toBe(3);
  });

  test('a second start makes no request and asks for no source', async () => {
    await ensure();
    hub.requests.length = 0;
    lines.length = 0;
    expect(await ensure({ source: noSource })).toEqual({ dir: target(), downloaded: false });
    expect(hub.requests).toEqual([]);
    expect(lines).toEqual([]);
  });

  test('time stamps are whole seconds, so that the manifest outlives an image layer', async () => {
    await ensure();
    const manifest = JSON.parse(readFileSync(join(target(), MANIFEST_NAME), 'utf8'));
    expect(manifest.files[GRAPH].mtimeMs % 1000).toBe(0);
  });

  test('goes on after a broken connection from the byte that it had', async () => {
    hub.fault({ path: GRAPH, dropAfter: 1_000_000 });
    await ensure();
    expectComplete();
    expect(ranges()).toEqual([undefined, expect.stringMatching(/^bytes=\d{6,7}-$/)]);
  });

  test.each([
    ['a body that ends early and politely', { endAfter: 500_000 }],
    ['a stall', { stallAfter: 500_000 }],
    ['a 500', { status: 500, times: 3 }],
    ['a 429', { status: 429, retryAfter: '0' }],
    ['wrong bytes once', { wrongBytes: true }],
  ])('survives %s', async (_name, fault) => {
    hub.fault({ path: GRAPH, ...fault });
    await ensure();
    expectComplete();
  });

  test('survives a connection that breaks more often than it may fail in a row', async () => {
    hub.fault({ path: GRAPH, dropAfter: 300_000, times: 8 });
    await ensure({ tuning: { backoffMs: 1, attempts: 2 } });
    expectComplete();
  });

  test('continues the part that an earlier process left', async () => {
    mkdirSync(join(target(), 'onnx'), { recursive: true });
    writeFileSync(`${graphPath()}.part`, graphBytes.subarray(0, 2_000_000));
    await ensure();
    expectComplete();
    expect(ranges()).toEqual(['bytes=2000000-']);
  });

  test('a whole part needs no request', async () => {
    mkdirSync(join(target(), 'onnx'), { recursive: true });
    writeFileSync(`${graphPath()}.part`, graphBytes);
    await ensure();
    expectComplete();
    expect(ranges()).toEqual([]);
  });

  test.each([
    ['with other bytes', Buffer.alloc(2_000_000, 7)],
    ['that is too long', Buffer.concat([graphBytes, Buffer.from('more')])],
  ])('a part %s is thrown away', async (_name, content) => {
    mkdirSync(join(target(), 'onnx'), { recursive: true });
    writeFileSync(`${graphPath()}.part`, content);
    await ensure();
    expectComplete();
    expect(ranges().at(-1)).toBeUndefined();
  });

  test('starts over when the server ignores the range', async () => {
    mkdirSync(join(target(), 'onnx'), { recursive: true });
    writeFileSync(`${graphPath()}.part`, graphBytes.subarray(0, 1000));
    hub.fault({ path: GRAPH, ignoreRange: true });
    await ensure();
    expectComplete();
  });

  test.each([
    ['flipped bits', { wrongBytes: true, times: 9 }],
    ['more bytes than announced', { extraBytes: 5, times: 9 }],
  ])('%s are never used', async (_name, fault) => {
    hub.fault({ path: GRAPH, ...fault });
    await expect(ensure()).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(GRAPH),
    });
    expect(existsSync(graphPath())).toBe(false);
    expect(ranges().length).toBeLessThanOrEqual(2);
    expect(existsSync(join(target(), '.slipway.lock'))).toBe(false);
    expect(
      await ensure({ source: () => hubSource({ endpoint: hub.url }) }).catch((error) => error.kind),
    ).toBe('corrupt');
  });

  test('a small file is checked as git hashes it', async () => {
    hub.fault({ path: 'tokenizer.json', wrongBytes: true, times: 9 });
    await expect(ensure()).rejects.toMatchObject({ kind: 'corrupt' });
    expect(existsSync(join(target(), 'tokenizer.json'))).toBe(false);
  });

  test('gives up after so many failures without a byte, and the next call goes on', async () => {
    hub.fault({ path: GRAPH, dropAfter: 1_000_000 });
    hub.fault({ path: GRAPH, status: 500, times: 2 });
    await expect(ensure({ tuning: { backoffMs: 1, attempts: 2 } })).rejects.toMatchObject({
      kind: 'network',
    });
    hub.requests.length = 0;
    await ensure();
    expectComplete();
    expect(ranges()).toEqual([expect.stringMatching(/^bytes=\d+-$/)]);
    // Files that were complete are not fetched twice.
    expect(hub.requests.length).toBeLessThanOrEqual(3);
  });

  test('ends at once when told to, and releases the lock', async () => {
    hub.fault({ path: GRAPH, stallAfter: 1000 });
    const controller = new AbortController();
    const source = () => hubSource({ endpoint: hub.url });
    const pending = ensure({ source, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('stopped by the test')), 150);
    await expect(pending).rejects.toThrow('stopped by the test');
    expect(existsSync(join(target(), '.slipway.lock'))).toBe(false);
  });

  test('a file that can never fit is refused before its first byte', async () => {
    const huge = { path: GRAPH, size: 2 ** 52, sha256: 'a'.repeat(64) };
    const spec = { ...info, files: [huge] };
    await expect(ensure({ spec })).rejects.toMatchObject({
      kind: 'no_space',
      message: expect.stringMatching(/MiB are free/),
    });
    expect(hub.requests).toEqual([]);
  });

  test('a place that is no folder is a clear error', async () => {
    const file = join(folderWith({ file: 'x' }), 'file');
    await expect(ensure({ roots: [], downloadRoot: file })).rejects.toThrow(/ENOTDIR/);
  });

  test('two at once download once', async () => {
    const results = await Promise.all([ensure(), ensure()]);
    expect(results.map(({ downloaded }) => downloaded).sort()).toEqual([false, true]);
    expect(ranges().length).toBe(1);
    expect(lines.join()).toContain('another process downloads this model');
  });
});

describe('what is there already', () => {
  test.each([
    ['flat', ''],
    ['by id', 'org/name'],
    ['in the cache of the Python client', 'hub/models--org--name/snapshots/COMMIT'],
  ])('a folder %s is verified once', async (_name, place) => {
    const mounted = folderWith();
    const folder = join(mounted, place.replace('COMMIT', info.commit));
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const roots = [root, mounted];
    expect(await ensure({ roots, source: noSource })).toEqual({ dir: folder, downloaded: false });
    expect(lines).toEqual([expect.stringContaining('verifies the files')]);
    await ensure({ roots, source: noSource });
    expect(lines.length).toBe(1);
  });

  test('links into blobs count as files', async () => {
    const blobs = folderWith();
    const snapshot = join(root, 'hub/models--org--name/snapshots', info.commit);
    for (const [path, content] of Object.entries(files)) {
      const blob = createHash('sha256').update(content).digest('hex');
      writeFileSync(join(blobs, blob), content);
      mkdirSync(join(snapshot, path, '..'), { recursive: true });
      symlinkSync(join(blobs, blob), join(snapshot, path));
    }
    expect(await ensure({ source: noSource })).toEqual({ dir: snapshot, downloaded: false });
  });

  test('a changed file of the same size is found by its time stamp and fetched again', async () => {
    await ensure();
    const other = Buffer.from(graphBytes);
    other[1000]! ^= 255;
    writeFileSync(graphPath(), other);
    hub.requests.length = 0;
    expect((await ensure()).downloaded).toBe(true);
    expectComplete();
    expect(hub.requests.length).toBe(1);
    expect(lines.join()).toMatch(/onnx\/model\.onnx is fetched again: its content differs/);
  });

  test('a touched file is hashed again and kept', async () => {
    await ensure();
    utimesSync(graphPath(), new Date(0), new Date(0));
    lines.length = 0;
    await ensure({ source: noSource });
    expect(lines).toEqual([expect.stringContaining('verifies')]);
  });

  test('a manifest does not vouch for another content', async () => {
    await ensure();
    const spec = {
      ...info,
      files: info.files.map((file) => (file.path === GRAPH ? { ...file, sha256: 'b'.repeat(64) } : file)),
    };
    await expect(ensure({ spec, source: noSource })).rejects.toThrow('asked for a source');
  });

  test('a manifest that is no JSON is as good as none', async () => {
    await ensure();
    writeFileSync(join(target(), MANIFEST_NAME), '{');
    expect((await ensure({ source: noSource })).downloaded).toBe(false);
  });

  test('a mounted folder with wrong content is left alone, and the log says why', async () => {
    const mounted = folderWith(files);
    writeFileSync(join(mounted, GRAPH), Buffer.alloc(graphBytes.length));
    expect(await ensure({ roots: [mounted] })).toEqual({ dir: target(), downloaded: true });
    expect(lines.join('\n')).toContain(`${mounted} is not used: ${GRAPH}: its content differs`);
    expect(readFileSync(join(mounted, GRAPH)).equals(Buffer.alloc(graphBytes.length))).toBe(true);
  });

  test('a mounted folder that lacks a small file is not used, and the log names the file', async () => {
    const mounted = folderWith(files);
    renameSync(join(mounted, 'tokenizer.json'), join(mounted, 'other.json'));
    await ensure({ roots: [mounted] });
    expect(lines.join('\n')).toContain(`${mounted} is not used: tokenizer.json is missing`);
  });

  test('only the missing file is fetched', async () => {
    await ensure();
    renameSync(join(target(), 'tokenizer.json'), join(root, 'away'));
    hub.requests.length = 0;
    const seen: Progress[] = [];
    await ensure({ onProgress: (progress) => void seen.push(progress) });
    expect(hub.requests.map(({ path }) => path.split('/').at(-1))).toEqual(['tokenizer.json']);
    expect(seen.at(-1)).toMatchObject({ file: 'tokenizer.json', fileBytes: 17 });
    expect(seen.at(-1)!.doneBytes).toBe(seen.at(-1)!.totalBytes);
  });
});
