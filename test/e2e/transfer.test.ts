import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { changedServer } from './support/changed-server.js';
import { describeWithTwoEngines } from './support/engine.js';
import { makeLargeModel } from './support/large-model.js';
import { builder, docker } from './support/process.js';
import { type SecondEngine, startSecondEngine } from './support/second-engine.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

const WEIGHTS_BYTES = 300_000_000;

describeWithTwoEngines('a sealed model of 300 MB goes to another site', () => {
  let workshop: Workshop;
  let far: SecondEngine;
  /** Two versions that differ in the server only. */
  let [older, newer]: string[] = [];
  /** Bytes of the layers in the delta. */
  let carried: number;
  const at = (name: string) => path.join(workshop.folder, name);
  const onFar = (...args: string[]) => builder(args, { env: { DOCKER_HOST: far.host } });

  beforeAll(async () => {
    workshop = await openWorkshop();
    const id = await makeLargeModel(at('model'), WEIGHTS_BYTES);
    const from = ['snapshot', id, '--from', at('model')];
    const flags = ['--namespace', workshop.namespace, '--cache', at('cache'), '--out', at('images')];
    const sealed = succeeded(await builder([...from, ...flags]));
    [older, newer] = [sealed.replace(':sealed', ':older'), sealed];
    await docker('tag', sealed, older);
    succeeded(await (await changedServer(workshop.folder))([...from, ...flags]));
    far = await startSecondEngine();
  });
  afterAll(async () => {
    await far?.close();
    await workshop.close();
  });

  test('a full export has a checksum that sha256sum accepts', async () => {
    const file = at('full.tar.gz');
    const { code, stdout } = await builder(['export', older!, '-o', file, '--json']);
    expect(code).toBe(0);
    const { bytes } = JSON.parse(stdout) as { bytes: number };
    expect(bytes).toBeGreaterThan(WEIGHTS_BYTES);
    expect(spawnSync('sha256sum', ['--check', 'full.tar.gz.sha256'], { cwd: workshop.folder }).status).toBe(
      0,
    );
  });

  test('a delta after a change of the server has at most 10 MB', async () => {
    const flags = ['--base', at('full.tar.gz'), '-o', at('delta.tar.gz'), '--json'];
    const { code, stdout, stderr } = await builder(['export', newer!, ...flags]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { bytes, layers } = JSON.parse(stdout) as { bytes: number; layers: { size: number }[] };
    expect(bytes).toBeLessThanOrEqual(10_000_000);
    carried = layers.reduce((sum, { size }) => sum + size, 0);
  });

  test('where the base is not, nothing is loaded and the message names it', async () => {
    const { code, stderr } = await onFar('load', at('delta.tar.gz'));
    expect(code).toBe(1);
    expect(stderr).toContain(`load the base ${older} (sha256:`);
    expect(await far.docker('images', '--quiet')).toBe('');
  });

  test.each([
    ['a flipped byte', (bytes: Buffer) => ((bytes[bytes.length >> 1]! ^= 1), bytes)],
    ['a missing end', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
  ])('%s is refused before anything is loaded, with and without the checksum', async (_, change) => {
    const file = at('broken.tar.gz');
    await writeFile(file, change(await readFile(at('delta.tar.gz'))));
    await copyFile(at('delta.tar.gz.sha256'), `${file}.sha256`);
    for (const flags of [[], ['--no-checksum']]) {
      const { code, stderr } = await onFar('load', file, ...flags);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/copy it again/) });
    }
    expect(await far.docker('images', '--quiet')).toBe('');
  });

  test('a tarball is proven on the far side before it is loaded, and leaves nothing there', async () => {
    const { code, stdout, stderr } = await onFar('verify', at('full.tar.gz'), '--json', '--exact');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ passed: true, exact: true });
    expect(await far.docker('images', '--all', '--quiet')).toBe('');
    expect(await far.docker('ps', '--all', '--quiet')).toBe('');
  });

  test('the full export loads with docker load, the delta on top of it, and both answer to the byte', async () => {
    await far.docker('load', '--input', at('full.tar.gz'));
    expect(succeeded(await onFar('load', at('delta.tar.gz')))).toBe(newer);
    for (const image of [older!, newer!]) {
      const format = '{{.Id}}';
      expect(await far.docker('inspect', '--format', format, image)).toBe(
        await docker('inspect', '--format', format, image),
      );
    }
    const { code, stdout } = await onFar('verify', newer!, '--exact', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ passed: true, exact: true });
    expect(code).toBe(0);
  });

  test('an export that is killed leaves nothing under its name, and the next one cleans up', async () => {
    const file = at('killed.tar.gz');
    const child = spawn(process.execPath, ['dist/builder/main.js', 'export', older!, '-o', file, '--quiet']);
    const exited = once(child, 'exit');
    while (!(await partOf(file))) await delay(50);
    child.kill('SIGKILL');
    await exited;
    expect((await readdir(workshop.folder)).filter((name) => name.startsWith('killed'))).toEqual([
      expect.stringMatching(/\.part$/),
    ]);
    await docker('import', at('delta.tar.gz'), `${workshop.namespace}/small`);
    succeeded(await builder(['export', `${workshop.namespace}/small`, '-o', file]));
    expect((await readdir(workshop.folder)).filter((name) => name.startsWith('killed')).sort()).toEqual([
      'killed.tar.gz',
      'killed.tar.gz.sha256',
    ]);
  });

  test('a full disk is told, before or while it fills, and nothing is left on it', async () => {
    const disk = at('disk');
    await mkdir(disk);
    // Room for the layers, but not for the rest of the file.
    const size = (Math.ceil(carried / 4096) + 1) * 4096;
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk]).status).toBe(0);
    try {
      const early = await builder(['export', older!, '-o', path.join(disk, 'x.tar.gz')]);
      expect(early).toMatchObject({ code: 1, stderr: expect.stringMatching(/free and the export may take/) });
      const base = ['--base', at('full.tar.gz')];
      const late = await builder(['export', newer!, ...base, '-o', path.join(disk, 'x.tar')]);
      expect(late).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/is full; nothing was left there/),
      });
      expect(await readdir(disk)).toEqual([]);
    } finally {
      spawnSync('umount', [disk]);
    }
  });
});

async function partOf(file: string): Promise<boolean> {
  const names = await readdir(path.dirname(file));
  const part = names.find((name) => name.startsWith(path.basename(file)) && name.endsWith('.part'));
  return part !== undefined && (await stat(path.join(path.dirname(file), part))).size > 1e6;
}

function succeeded({
  code,
  stdout,
  stderr,
}: {
  code: number | null;
  stdout: string;
  stderr: string;
}): string {
  if (code !== 0) throw new Error(`ended with ${code}:\n${stderr}`);
  return stdout.trim();
}
