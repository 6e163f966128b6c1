import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../builder/cli.js';
import { readBuilderConfig } from '../../builder/config.js';
import { parseSpec } from '../../runtime/store/spec-file.js';
import { floatsOf } from '../../runtime/weights/index.js';
import { fakeDocker } from '../fakes/docker.js';
import { readCheckpoint } from '../fakes/gguf/checkpoint.js';
import { type Hub, startHub } from '../fakes/hub.js';
import { ggufNameOf, inPairs } from '../helpers/gguf/from-model.js';
import { quantise } from '../helpers/gguf/quantise.js';
import { type GgufToWrite, type TensorToWrite, writeGguf } from '../helpers/gguf/write-gguf.js';
import { sink } from '../unit/builder/support.js';
import { serveInline } from './load.js';

const ADAPTER = path.resolve('test/fixtures/adapters/llama');
const BASE = path.resolve('test/fixtures/zoo-weights/text-generation/llama-bf16-tied/repo');
const { lora_alpha: ALPHA, ...SETTINGS } = JSON.parse(
  readFileSync(path.join(ADAPTER, 'adapter_config.json'), 'utf8'),
) as { lora_alpha: number; alpha_pattern: Record<string, number>; use_rslora: boolean };
const HEADS = { q: 4, k: 2 } as Record<string, number>;

/** What a module is scaled by beside alpha over its rank, which files of GGUF have alone: it is put into the second factor. */
function shareOf(module: string, rank: number): number {
  const found = Object.entries(SETTINGS.alpha_pattern).find(([name]) => module.endsWith(name));
  return ((found?.[1] ?? ALPHA) / ALPHA) * (SETTINGS.use_rslora ? Math.sqrt(rank) : 1);
}

/** As llama.cpp's converter writes an adapter: rows of the second factor as those of the matrix. */
function tensors(): TensorToWrite[] {
  return [...readCheckpoint(ADAPTER)].map(([name, { type, shape, bytes }]) => {
    const [, module = '', side = ''] = /^base_model\.model\.(.+)\.lora_([AB])\.weight$/.exec(name)!;
    let values = floatsOf(bytes, type);
    const own = ggufNameOf(`${module}.weight`, 'llama');
    const [, part = ''] = /\.attn_([qk])\./.exec(own) ?? [];
    if (side === 'B') values = values.map((value) => value * shareOf(module, shape[1]!));
    if (side === 'B' && part) values = inPairs(values, shape[0]!, HEADS[part]!);
    return { name: `${own}.lora_${side.toLowerCase()}`, shape, type: 'F32', data: quantise(values, 'F32') };
  });
}

const METADATA: GgufToWrite['metadata'] = {
  'general.architecture': 'llama',
  'general.type': 'adapter',
  'adapter.type': 'lora',
  'adapter.lora.alpha': { type: 'f32', value: ALPHA },
  'general.base_model.count': 1,
  'general.base_model.0.repo_url': 'https://models.example/zoo/base',
};

const newFolder = () => mkdtempSync(path.join(tmpdir(), 'adapter-'));

function folderWith(name: string, file: Partial<GgufToWrite> = {}): string {
  const dir = newFolder();
  writeFileSync(path.join(dir, name), writeGguf({ metadata: METADATA, tensors: tensors(), ...file }));
  return dir;
}

let hub: Hub;
beforeAll(async () => {
  hub = await startHub({
    models: {
      'zoo/named': { dir: folderWith('lora-F32.gguf') },
      'zoo/other': { dir: folderWith('mine.gguf') },
      'zoo/base': { dir: BASE, pipeline_tag: 'text-generation' },
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

interface Case {
  text: string;
  answer: string;
}

test.each(['zoo/named', 'zoo/other'])(
  'an adapter in GGUF is merged into its base as peft does it: %s',
  async (id) => {
    const { code, stdout, stderr } = await builder('fetch', id, '--to', newFolder(), '--json');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { folder, spec: at } = JSON.parse(stdout) as { folder: string; spec: string };
    const spec = parseSpec(readFileSync(at, 'utf8'));
    expect(spec).toMatchObject({ id, engine: 'generation', base: { id: 'zoo/base' } });
    const cases = JSON.parse(readFileSync(path.join(ADAPTER, 'cases.json'), 'utf8')) as Case[];
    const model = await serveInline(spec, folder);
    try {
      for (const { text, answer } of cases) {
        const { body } = await model.run({ text, params: { max_new_tokens: 16, do_sample: false } });
        expect(body).toMatchObject({ error: null, output: answer });
      }
    } finally {
      model.stop();
    }
  },
);

const without = (key: string): GgufToWrite['metadata'] =>
  Object.fromEntries(Object.entries(METADATA).filter(([name]) => name !== key));
const first = (change: Partial<TensorToWrite>) =>
  tensors().map((one, i) => (i === 0 ? { ...one, ...change } : one));

const REFUSED: readonly (readonly [what: string, file: Partial<GgufToWrite>, said: string])[] = [
  ['no alpha', { metadata: without('adapter.lora.alpha') }, 'has no number as adapter.lora.alpha'],
  [
    'an alpha of zero',
    { metadata: { ...METADATA, 'adapter.lora.alpha': { type: 'f32', value: 0 } } },
    'has no number as',
  ],
  ['an alpha as text', { metadata: { ...METADATA, 'adapter.lora.alpha': '6' } }, 'has no number as'],
  ['no kind', { metadata: without('adapter.type') }, 'and only lora is merged here'],
  [
    'no base',
    { metadata: without('general.base_model.0.repo_url') },
    'does not name the model that it changes',
  ],
  [
    'a base by number',
    { metadata: { ...METADATA, 'general.base_model.0.repo_url': 3 } },
    'does not name the model',
  ],
  [
    'tokens that begin it',
    { metadata: { ...METADATA, 'adapter.alora.invocation_tokens': 3 } },
    'begins at some tokens',
  ],
  [
    'another architecture',
    { metadata: { ...METADATA, 'general.architecture': 'rwkv7' } },
    'is of the architecture rwkv7',
  ],
  [
    'a tensor that is no factor',
    { tensors: first({ name: 'blk.0.attn_norm.weight' }) },
    'blk.0.attn_norm.weight, which is not',
  ],
  [
    'a table of tokens',
    { tensors: first({ name: 'token_embd.weight.lora_a' }) },
    'token_embd.weight.lora_a, which is not',
  ],
  [
    'a tensor of nothing',
    { tensors: first({ name: 'blk.0.extra.weight.lora_a' }) },
    'has the tensor blk.0.extra.weight',
  ],
  ['one factor alone', { tensors: tensors().slice(1) }, 'that do not fit it'],
  [
    'a layer that is not there',
    { tensors: tensors().map((one) => ({ ...one, name: one.name.replace('blk.1', 'blk.7') })) },
    'lacks',
  ],
  ['nothing', { tensors: [] }, 'changes nothing'],
];

test.each(REFUSED)('an adapter in GGUF with %s is refused by name', async (_, file, said) => {
  const { code, stderr } = await builder('plan', 'o/x', '--from', folderWith('lora.gguf', file));
  expect(code).toBe(3);
  expect(stderr).toContain(said);
});

test('an adapter in GGUF is not computed by llama.cpp', async () => {
  const { code, stderr } = await builder('plan', 'zoo/named', '--engine', 'llama');
  expect(code).toBe(3);
  expect(stderr).toContain('is an adapter, which is merged into graphs of ours; leave out --engine llama');
});
