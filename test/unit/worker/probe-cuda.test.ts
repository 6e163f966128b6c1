import { join } from 'node:path';
import { probeGpuInChild } from '../../../runtime/worker/probe-cuda.js';
import { folderWith } from '../store/folders.js';

const probe = (script: string) =>
  probeGpuInChild(join(folderWith({ 'entry.mjs': script }), 'entry.mjs'), process.env, 'llama')();

test('a trial that computes finds no problem', async () => {
  expect(await probe('process.send({}, () => process.exit(0));')).toBeUndefined();
});

test('what the trial says is the reason', async () => {
  expect(await probe("process.send({ problem: 'no GPU' }, () => process.exit(0));")).toBe('no GPU');
});

test('a library that aborts the process is a reason, too', async () => {
  expect(await probe('process.abort();')).toMatch(/ended with SIGABRT: its driver may be too old/);
  expect(await probe('process.exit(3);')).toMatch(/ended with exit status 3/);
});
