import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../../../runtime/store/download.js';
import { hubSource } from '../../../runtime/store/hub.js';
import { MANIFEST_NAME } from '../../../runtime/store/manifest.js';
import { folderWith } from './folders.js';
import { GRAPH, noSource, useWorkbench } from './workbench.js';

const bench = useWorkbench();

describe('download', () => {
  test('all files under their paths, with progress, and nothing left over', async () => {
    const seen: Progress[] = [];
    const result = await bench.ensure({ onProgress: (progress) => void seen.push(progress) });
    expect(result).toMatchObject({ dir: bench.target(), downloaded: true });
    bench.expectComplete();
    expect(readdirSync(bench.target()).sort()).toEqual([
      MANIFEST_NAME,
      'config.json',
      'onnx',
      'tokenizer.json',
    ]);
    expect(readdirSync(join(bench.target(), 'onnx'))).toEqual(['model.onnx']);
    const last = seen.at(-1)!;
    expect(last.doneBytes).toBe(last.totalBytes);
    expect(last.totalBytes).toBe(bench.info.files.reduce((sum, file) => sum + file.size, 0));
    expect(bench.hub.requests.length).toBe(3);
  });

  test('a second start makes no request and asks for no source', async () => {
    await bench.ensure();
    bench.hub.requests.length = 0;
    bench.lines.length = 0;
    expect(await bench.ensure({ source: noSource })).toMatchObject({
      dir: bench.target(),
      downloaded: false,
    });
    expect(bench.hub.requests).toEqual([]);
    expect(bench.lines).toEqual([]);
  });

  test('time stamps are whole seconds, so that the manifest outlives an image layer', async () => {
    await bench.ensure();
    const manifest = JSON.parse(readFileSync(join(bench.target(), MANIFEST_NAME), 'utf8'));
    expect(manifest.files[GRAPH].mtimeMs % 1000).toBe(0);
  });

  test('goes on after a broken connection from the byte that it had', async () => {
    bench.hub.fault({ path: GRAPH, dropAfter: 1_000_000 });
    await bench.ensure();
    bench.expectComplete();
    expect(bench.ranges()).toEqual([undefined, expect.stringMatching(/^bytes=\d{6,7}-$/)]);
  });

  test.each([
    ['a body that ends early and politely', { endAfter: 500_000 }],
    ['a stall', { stallAfter: 500_000 }],
    ['a 500', { status: 500, times: 3 }],
    ['a 429', { status: 429, retryAfter: '0' }],
    ['wrong bytes once', { wrongBytes: true }],
  ])('survives %s', async (_name, fault) => {
    bench.hub.fault({ path: GRAPH, ...fault });
    await bench.ensure();
    bench.expectComplete();
  });

  test('survives a connection that breaks more often than it may fail in a row', async () => {
    bench.hub.fault({ path: GRAPH, dropAfter: 300_000, times: 8 });
    await bench.ensure({ tuning: { backoffMs: 1, attempts: 2 } });
    bench.expectComplete();
  });

  test('continues the part that an earlier process left', async () => {
    mkdirSync(join(bench.target(), 'onnx'), { recursive: true });
    writeFileSync(`${bench.graphPath()}.part`, bench.graphBytes.subarray(0, 2_000_000));
    await bench.ensure();
    bench.expectComplete();
    expect(bench.ranges()).toEqual(['bytes=2000000-']);
  });

  test('a whole part needs no request', async () => {
    mkdirSync(join(bench.target(), 'onnx'), { recursive: true });
    writeFileSync(`${bench.graphPath()}.part`, bench.graphBytes);
    await bench.ensure();
    bench.expectComplete();
    expect(bench.ranges()).toEqual([]);
  });

  test.each([
    ['with other bytes', Buffer.alloc(2_000_000, 7)],
    ['that is too long', Buffer.concat([bench.graphBytes, Buffer.from('more')])],
  ])('a part %s is thrown away', async (_name, content) => {
    mkdirSync(join(bench.target(), 'onnx'), { recursive: true });
    writeFileSync(`${bench.graphPath()}.part`, content);
    await bench.ensure();
    bench.expectComplete();
    expect(bench.ranges().at(-1)).toBeUndefined();
  });

  test('starts over when the server ignores the range', async () => {
    mkdirSync(join(bench.target(), 'onnx'), { recursive: true });
    writeFileSync(`${bench.graphPath()}.part`, bench.graphBytes.subarray(0, 1000));
    bench.hub.fault({ path: GRAPH, ignoreRange: true, times: 9 });
    await bench.ensure();
    bench.expectComplete();
  });

  test.each([
    ['flipped bits', { wrongBytes: true, times: 9 }],
    ['more bytes than announced', { extraBytes: 5, times: 9 }],
  ])('%s are never used', async (_name, fault) => {
    bench.hub.fault({ path: GRAPH, ...fault });
    await expect(bench.ensure()).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(GRAPH),
    });
    expect(existsSync(bench.graphPath())).toBe(false);
    expect(bench.ranges().length).toBeLessThanOrEqual(2);
    expect(existsSync(join(bench.target(), '.slipway.lock'))).toBe(false);
    expect(
      await bench
        .ensure({ source: () => hubSource({ endpoint: bench.hub.url }) })
        .catch((error) => error.kind),
    ).toBe('corrupt');
  });

  test('a small file is checked as git hashes it', async () => {
    bench.hub.fault({ path: 'tokenizer.json', wrongBytes: true, times: 9 });
    await expect(bench.ensure()).rejects.toMatchObject({ kind: 'corrupt' });
    expect(existsSync(join(bench.target(), 'tokenizer.json'))).toBe(false);
  });

  test('gives up after so many failures without a byte, and the next call goes on', async () => {
    bench.hub.fault({ path: GRAPH, dropAfter: 1_000_000 });
    bench.hub.fault({ path: GRAPH, status: 500, times: 2 });
    await expect(bench.ensure({ tuning: { backoffMs: 1, attempts: 2 } })).rejects.toMatchObject({
      kind: 'network',
    });
    bench.hub.requests.length = 0;
    await bench.ensure();
    bench.expectComplete();
    expect(bench.ranges()).toEqual([expect.stringMatching(/^bytes=\d+-$/)]);
    // Files that were complete are not fetched twice.
    expect(bench.hub.requests.length).toBeLessThanOrEqual(3);
  });

  test('a file that fails for good stops the others', async () => {
    bench.hub.fault({ path: 'tokenizer.json', status: 404 });
    bench.hub.fault({ path: GRAPH, stallAfter: 1000 });
    const patient = () => hubSource({ endpoint: bench.hub.url });
    await expect(bench.ensure({ source: patient })).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('ends at once when told to, and releases the lock', async () => {
    bench.hub.fault({ path: GRAPH, stallAfter: 1000 });
    const controller = new AbortController();
    const source = () => hubSource({ endpoint: bench.hub.url });
    const pending = bench.ensure({ source, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('stopped by the test')), 150);
    await expect(pending).rejects.toThrow('stopped by the test');
    expect(existsSync(join(bench.target(), '.slipway.lock'))).toBe(false);
  });

  test('a file that can never fit is refused before its first byte', async () => {
    const huge = { path: GRAPH, size: 2 ** 52, sha256: 'a'.repeat(64) };
    const spec = { ...bench.info, files: [huge] };
    await expect(bench.ensure({ spec })).rejects.toMatchObject({
      kind: 'no_space',
      message: expect.stringMatching(/MiB are free/),
    });
    expect(bench.hub.requests).toEqual([]);
  });

  test('a place that is no folder is a clear error', async () => {
    const file = join(folderWith({ file: 'x' }), 'file');
    await expect(bench.ensure({ roots: [], downloadRoot: file })).rejects.toMatchObject({
      kind: 'storage',
      message: expect.stringMatching(/a file lies where a folder belongs; move away/),
    });
  });

  test('two at once download once', async () => {
    const results = await Promise.all([bench.ensure(), bench.ensure()]);
    expect(results.filter(({ downloaded }) => downloaded).length).toBe(1);
    expect(bench.ranges().length).toBe(1);
    expect(bench.lines.join()).toContain('another process downloads this model');
  });
});
