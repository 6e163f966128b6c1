import { mkdir, mkdtemp, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tarStream } from '../../../../builder/images/tar.js';
import { weightEntries } from '../../../../builder/images/weights.js';
import { checkFolder } from '../../../../runtime/store/candidate.js';
import { membersOf } from '../../../fakes/docker.js';
import { sampleSpec } from '../fixtures.js';

const temporary = () => mkdtemp(path.join(tmpdir(), 'slipway-weights-'));

async function modelFolder(): Promise<string> {
  const dir = await temporary();
  await mkdir(path.join(dir, 'onnx'));
  await writeFile(path.join(dir, 'config.json'), '{}');
  await writeFile(path.join(dir, 'onnx/model.onnx'), 'abc');
  await writeFile(path.join(dir, 'unrelated.bin'), 'not of the spec');
  return dir;
}

test('packs the files of the spec and no other, below id and commit', async () => {
  const spec = sampleSpec();
  const members = await membersOf(tarStream(weightEntries(spec, await modelFolder())));
  const base = `weights/server/model/Org/Model-Name/${spec.commit}`;
  expect([...members.keys()].filter((name) => !name.endsWith('/'))).toEqual([
    `${base}/.slipway.json`,
    `${base}/config.json`,
    `${base}/onnx/model.onnx`,
  ]);
  expect(members.get('weights/server/model/')!.mode).toBe(0o1777);
});

test('the server takes the packed files for verified: it hashes none of them', async () => {
  const spec = sampleSpec();
  const members = await membersOf(tarStream(weightEntries(spec, await modelFolder())));
  const root = await temporary();
  for (const [name, { text, mtime, type }] of members) {
    if (type !== 'file') continue;
    const target = path.join(root, name);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
    await utimes(target, mtime, mtime);
  }
  const lines: string[] = [];
  const dir = path.join(root, 'weights/server/model', spec.id, spec.commit);
  const log = (line: string) => void lines.push(line);
  expect(await checkFolder(dir, { files: spec.files, log })).toMatchObject({ complete: true });
  expect(lines).toEqual([]);

  await utimes(path.join(dir, 'config.json'), 1, 1);
  await checkFolder(dir, { files: spec.files, log });
  expect(lines).toEqual([expect.stringContaining('verifies')]);
});
