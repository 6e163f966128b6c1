import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../../../builder/cli.js';
import { readBuilderConfig } from '../../../../builder/config.js';
import { BuilderError } from '../../../../builder/exit.js';
import { fakeDocker } from '../../../fakes/docker.js';
import { sink } from '../support.js';

const home = mkdtempSync(path.join(tmpdir(), 'slipway-names-'));
for (const name of ['org/name/commit', 'other/model', 'no id/at all'])
  mkdirSync(path.join(home, 'slipway/models', name), { recursive: true });

async function names(kinds: string[], docker = fakeDocker()) {
  const [out, err] = [sink(), sink()];
  const config = readBuilderConfig({ XDG_CACHE_HOME: home });
  const deps = { config, docker, packageRoot: '.', version: '1', stdout: out.stream, stderr: err.stream };
  const code = await runCli(['names', ...kinds], deps);
  return { code, names: out.text().split('\n').filter(Boolean) };
}

const engine = (): ReturnType<typeof fakeDocker> => {
  const docker = fakeDocker();
  const references = ['slipway/org_name:latest', 'slipway/org_name:v1'];
  docker.listImages = async () => [{ id: 'sha256:1', labels: {}, references, size: 1, created: 0 }] as never;
  docker.made.list = async () => [{ name: 'slipway-org-name-1', image: 'slipway/org_name:latest' }] as never;
  return docker;
};

test('models of the cache', async () => {
  expect(await names(['models'])).toEqual({ code: 0, names: ['org/name', 'other/model'] });
});

test('images and containers of the engine, each once', async () => {
  expect((await names(['images'], engine())).names).toEqual(['slipway/org_name', 'slipway/org_name:v1']);
  expect((await names(['images', 'containers'], engine())).names).toEqual([
    'slipway-org-name-1',
    'slipway/org_name',
    'slipway/org_name:v1',
  ]);
});

test('an engine that is not there has no names, and is no failure', async () => {
  const docker = { ...fakeDocker(), listImages: () => Promise.reject(new BuilderError('docker', 'none')) };
  expect(await names(['models', 'images'], docker)).toEqual({ code: 0, names: ['org/name', 'other/model'] });
});
