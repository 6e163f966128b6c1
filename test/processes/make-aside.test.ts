import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeAside, type MakeJob } from '../../builder/pack/make-aside.js';
import { buildPackedFile } from '../../builder/pack/build-packed-file.js';
import { writeOwnGraphs } from '../../builder/plan/own-graphs.js';
import { startProcess } from '../../builder/own-process.js';
import { folderSource } from '../../runtime/store/folder.js';
import { graphModel } from '../fakes/drawn-weights.js';
import { ROOT } from '../fakes/server.js';

/** Writing weights in a process of its own, as `builder build` and `builder serve` do. */

const PLACE = { packageRoot: ROOT, env: {} };
let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'aside-'))));
afterEach(() => rm(folder, { recursive: true }));

/** Of a small classifier with eight bits. */
async function packingJob(): Promise<MakeJob> {
  const from = graphModel('llama-classifier');
  const source = folderSource(from);
  const info = await source.info('zoo/m');
  const head = 'sequence-classification';
  const found = await writeOwnGraphs({ source, info, head, modelType: 'llama', bits: 8 });
  if (!('graphs' in found)) throw new Error(found.problem);
  return { target: path.join(folder, 'made'), from, recipe: found.packedWeights!.recipe };
}

/** That takes seconds: eight gigabytes of a file without blocks, copied. */
async function longJob(): Promise<MakeJob> {
  const length = 2 ** 33;
  const checkpoint = await open(path.join(folder, 'weights.safetensors'), 'w');
  await checkpoint.truncate(length);
  await checkpoint.close();
  const tensor = {
    name: 'x',
    file: 'weights.safetensors',
    offset: 0,
    length,
    type: 'F32',
    shape: [length / 4],
  };
  const recipe = { file: 'made', size: length, parts: [{ tensor, offset: 0 }] };
  return { target: path.join(folder, 'made'), from: folder, recipe };
}

/** Process id of the one that writes for this process. */
const writer = (): number =>
  Number(execFileSync('pgrep', ['-P', String(process.pid), '-f', 'make-weights'], { encoding: 'utf8' }));

async function whenThere(file: string): Promise<void> {
  while (
    await access(file).then(
      () => false,
      () => true,
    )
  )
    await new Promise((resolve) => setTimeout(resolve, 10));
}

test('it writes the same bytes, and tells how far it is', async () => {
  const job = await packingJob();
  const steps: number[] = [];
  const aside = await makeAside(job, PLACE, (done) => steps.push(done));
  const here = path.join(folder, 'here');
  expect(aside).toBe(await buildPackedFile(here, job));
  expect(await readFile(job.target)).toEqual(await readFile(here));
  expect(steps).toEqual(job.recipe.parts.map(({ offset }) => offset));
});

test('an error of the file system keeps its code and its place', async () => {
  const target = path.join(folder, 'missing', 'made');
  const making = makeAside({ ...(await packingJob()), target }, PLACE, undefined);
  await expect(making).rejects.toMatchObject({ code: 'ENOENT', path: target });
});

test('a process that is killed is named', async () => {
  const job = await longJob();
  const making = makeAside(job, PLACE, undefined);
  const outcome = making.catch((error: unknown) => error);
  await whenThere(job.target);
  process.kill(writer(), 'SIGKILL');
  const told = /was ended by SIGKILL; see that the machine has memory left/;
  expect(await outcome).toMatchObject({ exit: 'failure', message: expect.stringMatching(told) });
});

test('it ends when the one who asked for it does', async () => {
  const job = await longJob();
  const child = startProcess({ ...PLACE, script: 'make-weights.js' });
  child.stdin.write(`${JSON.stringify(job)}\n`);
  await whenThere(job.target);
  child.stdin.destroy();
  expect(await once(child, 'close')).toEqual([1, null]);
});
