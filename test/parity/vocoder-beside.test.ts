import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../builder/cli.js';
import { readBuilderConfig } from '../../builder/config.js';
import { parseSpec } from '../../runtime/store/spec-file.js';
import { fakeDocker } from '../fakes/docker.js';
import { type Hub, startHub } from '../fakes/hub.js';
import { sink } from '../unit/builder/support.js';
import { serveInline } from './load.js';
import { difference } from './difference.js';
import { modelAt } from './zoo.js';

const SPEAKER = 'zoo/speaker';
const VOCODER = 'microsoft/speecht5_hifigan';

const newFolder = () => mkdtempSync(path.join(tmpdir(), 'vocoder-'));

let hub: Hub;
const alone = newFolder();
const fixture = modelAt({
  ...{ task: 'text-to-speech', name: 'speecht5-weights', root: 'zoo-v5', dir: '' },
});

beforeAll(async () => {
  const { repo } = await fixture;
  cpSync(repo, alone, { recursive: true });
  rmSync(path.join(alone, 'vocoder'), { recursive: true });
  hub = await startHub({
    models: {
      [SPEAKER]: { dir: alone, pipeline_tag: 'text-to-speech' },
      [VOCODER]: { dir: path.join(repo, 'vocoder') },
    },
  });
});
afterAll(() => hub.close());

async function builder(...args: string[]) {
  const [out, err] = [sink(), sink()];
  const config = readBuilderConfig({ HF_ENDPOINT: hub.url });
  const deps = { config, docker: fakeDocker(), packageRoot: path.resolve('.'), version: '1' };
  const streams = { stdout: out.stream, stderr: err.stream };
  const code = await runCli([...args, '--cache', newFolder()], { ...deps, ...streams });
  return { code, stdout: out.text(), stderr: err.text() };
}

test.each([
  ['on the hub', []],
  ['in a folder', ['--from', alone]],
])('SpeechT5 %s without a vocoder speaks with the one that Python takes', async (_, more) => {
  const { code, stdout, stderr } = await builder('fetch', SPEAKER, ...more, '--to', newFolder(), '--json');
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const found = JSON.parse(stdout) as { folder: string; spec: string };
  const spec = parseSpec(readFileSync(found.spec, 'utf8'));
  expect(spec.base).toEqual({
    ...{ id: VOCODER, revision: 'main', commit: hub.commitOf(VOCODER), folder: 'vocoder' },
    files: ['vocoder/config.json', 'vocoder/model.safetensors'],
  });
  expect(spec.files.map(({ path: name }) => name)).toEqual(expect.arrayContaining(spec.base!.files));
  const { cases } = await fixture;
  const spoken = cases.filter(({ expect_error }) => !expect_error);
  const model = await serveInline(spec, found.folder);
  try {
    for (const { request, expect: wanted, compare } of spoken) {
      const { body } = await model.run(request);
      expect(body.error).toBeNull();
      expect(await difference(body.output, wanted, compare)).toBeNull();
    }
  } finally {
    model.stop();
  }
});
