import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readSentenceModules } from '../../../../../../runtime/engines/encoders/text/embedder/sentence-modules.js';
import { erf } from '../../../../../../runtime/engines/encoders/text/embedder/vector-layers.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sentence-'));
});
afterEach(() => rm(dir, { recursive: true }));

type Tensors = Record<string, { dtype: string; data: Buffer }>;

/** A safetensors file of tensors one after another. */
function safetensors(tensors: Tensors): Buffer {
  let at = 0;
  const header = Object.fromEntries(
    Object.entries(tensors).map(([name, { dtype, data }]) => {
      const shape = [data.length / (dtype === 'F32' ? 4 : dtype === 'F64' ? 8 : 2)];
      const entry = { dtype, shape, data_offsets: [at, (at += data.length)] };
      return [name, entry];
    }),
  );
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...Object.values(tensors).map(({ data }) => data)]);
}

const f32 = (...values: number[]) => ({ dtype: 'F32', data: Buffer.from(Float32Array.from(values).buffer) });

async function modules(files: Record<string, object | Buffer>) {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), Buffer.isBuffer(content) ? content : JSON.stringify(content));
  }
  return readSentenceModules(dir);
}

const list = (...rows: [type: string, path: string][]) =>
  rows.map(([type, path]) => ({ type: `sentence_transformers.models.${type}`, path }));

test('a repository without modules has no pooling of its own, nor settings', async () => {
  const found = await modules({ 'sentence_bert_config.json': { max_seq_length: 7 } });
  expect(found).toMatchObject({ pooling: undefined, maxSeqLength: undefined, steps: [] });
});

test('prompts count only beside modules; two are always known', async () => {
  const settings = { prompts: { query: 'q: ', none: null }, default_prompt_name: 'query', truncate_dim: 3 };
  const alone = await modules({ 'config_sentence_transformers.json': settings });
  const known = { query: '', document: '' };
  expect(alone).toMatchObject({ prompts: known, defaultPrompt: undefined, truncateDim: undefined });
  const beside = await modules({ 'modules.json': [] });
  expect(beside.prompts).toEqual({ query: 'q: ', document: '', none: null });
  expect(beside).toMatchObject({ defaultPrompt: 'query', truncateDim: 3 });
});

test.each<[config: object, expected: string[]]>([
  [{ pooling_mode_mean_tokens: true, pooling_mode_cls_token: true }, ['cls', 'mean']],
  [{ pooling_mode: ['lasttoken', 'cls'] }, ['lasttoken', 'cls']],
  [{ pooling_mode: 'max' }, ['max']],
  [{}, ['mean']],
])('pooling %j', async (config, expected) => {
  const found = await modules({
    'modules.json': list(['Pooling', '1_Pooling']),
    '1_Pooling/config.json': config,
  });
  expect(found.pooling).toEqual(expected);
});

test('a pooling module without its settings is no mean', async () => {
  const listed = { 'modules.json': list(['Pooling', '1_Pooling']) };
  await expect(modules(listed)).rejects.toThrow('the model has no 1_Pooling/config.json');
});

test('lengths, case, prompts and dimensions are read', async () => {
  const found = await modules({
    'modules.json': list(['Transformer', '']),
    'sentence_roberta_config.json': { max_seq_length: 7, do_lower_case: true },
    'config_sentence_transformers.json': { prompts: { q: 'Q: ' }, default_prompt_name: 'q', truncate_dim: 3 },
  });
  expect(found).toMatchObject({ maxSeqLength: 7, lowerCase: true, defaultPrompt: 'q', truncateDim: 3 });
});

describe('steps after pooling', () => {
  const run = async (files: Record<string, object | Buffer>, ...vector: number[]) => {
    const { steps } = await modules(files);
    return Array.from(steps.reduce<Float32Array>((value, step) => step(value), Float32Array.from(vector)));
  };
  const dense = (config: object, tensors: Tensors) => ({
    'modules.json': list(['Dense', '2_Dense']),
    '2_Dense/config.json': config,
    '2_Dense/model.safetensors': safetensors(tensors),
  });
  const weight = f32(1, 2, -3, 0.5, 0, 1);

  test.each([
    ['torch.nn.modules.linear.Identity', (x: number) => x],
    ['torch.nn.modules.activation.Tanh', Math.tanh],
    ['torch.nn.modules.activation.ReLU', (x: number) => Math.max(0, x)],
    // Not PyTorch's own: sentence-transformers falls back to its default.
    ['my.module.Identity', Math.tanh],
  ])('Dense with %s', async (activation_function, f) => {
    const files = dense({ activation_function }, { 'linear.weight': weight, 'linear.bias': f32(0.5, 0, -1) });
    const expected = [5.5, -2, 1].map((sum) => expect.closeTo(f(sum), 5));
    expect(await run(files, 1, 2)).toEqual(expected);
  });

  // What PyTorch makes of these four.
  test.each([
    ['SELU', [-1.725899, -0.691758, 0.52535, 4.202804]],
    ['CELU', [-0.981684, -0.393469, 0.5, 4]],
    ['LogSigmoid', [-4.01815, -0.974077, -0.474077, -0.01815]],
    ['Softsign', [-0.8, -0.333333, 0.333333, 0.8]],
    ['Tanhshrink', [-3.000671, -0.037883, 0.037883, 3.000671]],
    ['Hardtanh', [-1, -0.5, 0.5, 1]],
    ['Hardsigmoid', [0, 0.416667, 0.583333, 1]],
    ['Hardswish', [0, -0.208333, 0.291667, 4]],
  ])('Dense with %s', async (name, expected) => {
    const files = dense(
      { activation_function: `torch.nn.${name}` },
      { 'linear.weight': f32(-4, -0.5, 0.5, 4) },
    );
    expect(await run(files, 1)).toEqual(expected.map((value) => expect.closeTo(value, 5)));
  });

  test('half-precision weights', async () => {
    const half = { dtype: 'F16', data: Buffer.from(Uint16Array.of(0x3c00, 0xc000).buffer) };
    const brain = { dtype: 'BF16', data: Buffer.from(Uint16Array.of(0x3f80).buffer) };
    const config = { activation_function: 'torch.nn.Identity' };
    expect(await run(dense(config, { 'linear.weight': half, 'linear.bias': brain }), 3, 1)).toEqual([2]);
  });

  test('weights that torch saved', async () => {
    const bin = join(import.meta.dirname, '../../../../../fixtures/weights/torch-dense/pytorch_model.bin');
    const files = dense({ activation_function: 'torch.nn.Identity' }, {});
    const { '2_Dense/model.safetensors': _, ...others } = files;
    const saved = { ...others, '2_Dense/pytorch_model.bin': await readFile(bin) };
    expect(await run(saved, 1, 2)).toEqual([5.5, -2, 1]);
  });

  test('LayerNorm', async () => {
    const files = {
      'modules.json': list(['LayerNorm', '3_LayerNorm']),
      '3_LayerNorm/model.safetensors': safetensors({ 'norm.weight': f32(2, 1), 'norm.bias': f32(0, 5) }),
    };
    expect(await run(files, -3, 3)).toEqual([expect.closeTo(-2, 4), expect.closeTo(6, 4)]);
  });

  test.each<[what: string, files: Record<string, object>, message: RegExp]>([
    ['an unknown module', { 'modules.json': list(['CNN', '2_CNN']) }, /module CNN is not supported/],
    [
      'weights that are missing',
      { 'modules.json': list(['Dense', '2_Dense']), '2_Dense/config.json': {} },
      /2_Dense holds neither model.safetensors nor pytorch_model.bin/,
    ],
    [
      'damaged weights',
      { ...dense({}, {}), '2_Dense/model.safetensors': Buffer.from('{"linear.weight":1}') },
      /has a header of \d+ bytes, beyond 100000000; the file is damaged/,
    ],
    [
      'an unknown activation',
      dense({ activation_function: 'torch.nn.RReLU' }, { 'linear.weight': weight }),
      /RReLU is not supported/,
    ],
    [
      'a layer over tokens',
      dense({ module_input_name: 'token_embeddings' }, { 'linear.weight': weight }),
      /over token_embeddings is not supported/,
    ],
  ])('%s is refused', async (_, files, message) => {
    await expect(modules(files)).rejects.toThrow(message);
  });
});

test('erf to single precision', () => {
  const known: [number, number][] = [
    [0, 0],
    [0.5, 0.5204998778130465],
    [1, 0.8427007929497149],
    [2.4, 0.9993114861033549],
    [2.6, 0.9997639655834707],
    [-4, -0.9999999845827421],
    [9, 1],
  ];
  for (const [x, value] of known) expect(erf(x)).toBeCloseTo(value, 8);
});
