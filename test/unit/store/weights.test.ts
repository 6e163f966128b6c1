import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../../../runtime/store/download.js';
import { MANIFEST_NAME } from '../../../runtime/store/manifest.js';
import { folderWith } from './folders.js';
import { GRAPH, noSource, useWorkbench } from './workbench.js';

const bench = useWorkbench();

describe('what is there already', () => {
  test.each([
    ['flat', ''],
    ['by id', 'org/name'],
    ['in the cache of the Python client', 'hub/models--org--name/snapshots/COMMIT'],
  ])('a folder %s is verified once', async (_name, place) => {
    const mounted = folderWith();
    const folder = join(mounted, place.replace('COMMIT', bench.info.commit));
    for (const [path, content] of Object.entries(bench.files)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const roots = [bench.root, mounted];
    expect(await bench.ensure({ roots, source: noSource })).toMatchObject({ dir: folder, downloaded: false });
    expect(bench.lines).toEqual([expect.stringContaining('verifies the files')]);
    await bench.ensure({ roots, source: noSource });
    expect(bench.lines.length).toBe(1);
  });

  test('links into blobs count as files', async () => {
    const blobs = folderWith();
    const snapshot = join(bench.root, 'hub/models--org--name/snapshots', bench.info.commit);
    for (const [path, content] of Object.entries(bench.files)) {
      const blob = createHash('sha256').update(content).digest('hex');
      writeFileSync(join(blobs, blob), content);
      mkdirSync(join(snapshot, path, '..'), { recursive: true });
      symlinkSync(join(blobs, blob), join(snapshot, path));
    }
    expect(await bench.ensure({ source: noSource })).toMatchObject({ dir: snapshot, downloaded: false });
  });

  test('a changed file of the same size is found by its time stamp and fetched again', async () => {
    await bench.ensure();
    const other = Buffer.from(bench.graphBytes);
    other[1000]! ^= 255;
    writeFileSync(bench.graphPath(), other);
    bench.hub.requests.length = 0;
    expect((await bench.ensure()).downloaded).toBe(true);
    bench.expectComplete();
    expect(bench.hub.requests.length).toBe(1);
    expect(bench.lines.join()).toMatch(/onnx\/model\.onnx is fetched again: its content differs/);
  });

  test('a touched file is hashed again and kept', async () => {
    await bench.ensure();
    utimesSync(bench.graphPath(), new Date(0), new Date(0));
    bench.lines.length = 0;
    await bench.ensure({ source: noSource });
    expect(bench.lines).toEqual([expect.stringContaining('verifies')]);
  });

  test('a manifest does not vouch for another content', async () => {
    await bench.ensure();
    const spec = {
      ...bench.info,
      files: bench.info.files.map((file) =>
        file.path === GRAPH ? { ...file, sha256: 'b'.repeat(64) } : file,
      ),
    };
    await expect(bench.ensure({ spec, source: noSource })).rejects.toThrow('asked for a source');
  });

  test('a manifest that is no JSON is as good as none', async () => {
    await bench.ensure();
    writeFileSync(join(bench.target(), MANIFEST_NAME), '{');
    expect((await bench.ensure({ source: noSource })).downloaded).toBe(false);
  });

  test('a mounted folder with wrong content is left alone, and the log says why', async () => {
    const mounted = folderWith(bench.files);
    writeFileSync(join(mounted, GRAPH), Buffer.alloc(bench.graphBytes.length));
    expect(await bench.ensure({ roots: [mounted] })).toMatchObject({ dir: bench.target(), downloaded: true });
    expect(bench.lines.join('\n')).toContain(`${mounted} is not used: ${GRAPH}: its content differs`);
    expect(readFileSync(join(mounted, GRAPH)).equals(Buffer.alloc(bench.graphBytes.length))).toBe(true);
  });

  test('a mounted folder that lacks a small file is not used, and the log names the file', async () => {
    const mounted = folderWith(bench.files);
    renameSync(join(mounted, 'tokenizer.json'), join(mounted, 'other.json'));
    await bench.ensure({ roots: [mounted] });
    expect(bench.lines.join('\n')).toContain(`${mounted} is not used: tokenizer.json is missing`);
  });

  test('only the missing file is fetched', async () => {
    await bench.ensure();
    renameSync(join(bench.target(), 'tokenizer.json'), join(bench.root, 'away'));
    bench.hub.requests.length = 0;
    const seen: Progress[] = [];
    await bench.ensure({ onProgress: (progress) => void seen.push(progress) });
    expect(bench.hub.requests.map(({ path }) => path.split('/').at(-1))).toEqual(['tokenizer.json']);
    expect(seen.at(-1)).toMatchObject({ file: 'tokenizer.json', fileBytes: 17 });
    expect(seen.at(-1)!.doneBytes).toBe(seen.at(-1)!.totalBytes);
  });
});
