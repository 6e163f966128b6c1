import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../builder/cli.js';
import { readBuilderConfig } from '../../builder/config.js';
import type { ModelSpec } from '../../runtime/core/spec.js';
import { parseSpec } from '../../runtime/store/spec-file.js';
import { fakeDocker } from '../fakes/docker.js';
import { type Hub, startHub } from '../fakes/hub.js';
import { sink } from '../unit/builder/support.js';
import { serveInline } from './load.js';

const ADAPTER = path.resolve('test/fixtures/adapters/llama');
const BASE = path.resolve('test/fixtures/zoo-weights/text-generation/llama-bf16-tied/repo');

let hub: Hub;
beforeAll(async () => {
  hub = await startHub({
    models: {
      'zoo/adapter': { dir: ADAPTER },
      'zoo/base': { dir: BASE, pipeline_tag: 'text-generation', tags: ['license:mit'] },
    },
  });
});
afterAll(() => hub.close());

const newFolder = () => mkdtempSync(path.join(tmpdir(), 'adapter-'));

/** Runs `builder` with a cache of its own. */
async function builder(...args: string[]) {
  const [out, err] = [sink(), sink()];
  const config = readBuilderConfig({ HF_ENDPOINT: hub.url });
  const deps = { config, docker: fakeDocker(), packageRoot: path.resolve('.'), version: '1' };
  const code = await runCli([...args, '--cache', newFolder()], {
    ...deps,
    stdout: out.stream,
    stderr: err.stream,
  });
  return { code, stdout: out.text(), stderr: err.text() };
}

interface Fetched {
  folder: string;
  spec: ModelSpec;
}

async function fetched(...args: string[]): Promise<Fetched> {
  const { code, stdout, stderr } = await builder('fetch', ...args, '--to', newFolder(), '--json');
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { folder, spec } = JSON.parse(stdout) as { folder: string; spec: string };
  return { folder, spec: parseSpec(readFileSync(spec, 'utf8')) };
}

async function expectAnswers({ folder, spec }: Fetched): Promise<void> {
  const cases = JSON.parse(readFileSync(path.join(ADAPTER, 'cases.json'), 'utf8')) as {
    text: string;
    answer: string;
  }[];
  const model = await serveInline(spec, folder);
  try {
    for (const { text, answer } of cases) {
      const { body } = await model.run({ text, params: { max_new_tokens: 16, do_sample: false } });
      expect(body).toMatchObject({ error: null, output: answer });
    }
  } finally {
    model.stop();
  }
}

test('an adapter is merged as peft merges it; the model says which commits it is made of', async () => {
  const found = await fetched('zoo/adapter');
  const { spec } = found;
  expect(spec).toMatchObject({ id: 'zoo/adapter', commit: hub.commitOf('zoo/adapter'), dtype: 'bf16' });
  expect(spec.base).toMatchObject({ id: 'zoo/base', revision: 'main', commit: hub.commitOf('zoo/base') });
  expect(spec.license).toBe('mit');
  expect(spec.files.map(({ path: name }) => name)).toEqual([
    'config.json',
    'generation_config.json',
    expect.stringMatching(/^slipway-merged-[0-9a-f]{12}\.bin$/),
    'special_tokens_map.json',
    'tokenizer.json',
    'tokenizer_config.json',
  ]);
  await expectAnswers(found);
  // The same bytes in another cache, where the adapter lies in a folder and its base on the hub.
  const again = await fetched('zoo/adapter', '--from', ADAPTER);
  const made = ({ files }: ModelSpec) => files.find(({ path: name }) => name.startsWith('slipway-'));
  expect(made(again.spec)).toEqual(made(spec));
  await expectAnswers(again);
});

test('the plan names the base and moves no weights; an image of it has to be baked', async () => {
  const { stdout, code } = await builder('plan', 'zoo/adapter');
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^base +zoo/base at ${hub.commitOf('zoo/base')} \\(main\\)$`, 'm'));
  expect(stdout).toMatch(/the adapter \(LoRA\) is merged into 12 matrices of zoo\/base$/m);
  const built = await builder('build', 'zoo/adapter');
  expect(built.code).toBe(2);
  expect(built.stderr).toMatch(/packed or merged here.*--bake/);
});

test('merged weights are packed, too', async () => {
  const { folder, spec } = await fetched('zoo/adapter', '--dtype', 'q8');
  expect(spec).toMatchObject({ dtype: 'q8' });
  expect(spec.likeness).toBeUndefined();
  const model = await serveInline(spec, folder);
  const { body } = await model.run({ text: 'Jack', params: { max_new_tokens: 2 } });
  expect(body).toMatchObject({ error: null });
  model.stop();
});

test('an export of its base is not what an adapter is served from', async () => {
  const { code, stderr } = await builder('plan', 'zoo/adapter', '--weights', 'onnx');
  expect(code).toBe(3);
  expect(stderr).toMatch(/is an adapter of zoo\/base: asked for the ONNX export; .*leave out --weights onnx/);
});
