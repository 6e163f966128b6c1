import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ggufFiles } from '../../../../builder/plan/gguf/list-files.js';
import { planModel, Refusal } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { hubSource } from '../../../../runtime/store/hub.js';
import { type Hub, startHub } from '../../../fakes/hub.js';
import { drawnCheckpoint } from '../../../helpers/gguf/checkpoint.js';
import { ggufOfModel, type ModelToWrite } from '../../../helpers/gguf/from-model.js';
import { writeGguf } from '../../../helpers/gguf/write-gguf.js';
import { folderWith } from '../../store/folders.js';

/** A folder with files of bytes. */
function folderOf(files: Record<string, Buffer | string>): string {
  const dir = folderWith({});
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return dir;
}

let hub: Hub;
const repositories: Record<string, string> = {};

beforeAll(async () => {
  const model = await drawnCheckpoint('llama');
  const gguf = (more: Partial<ModelToWrite> = {}) => ggufOfModel({ ...model, ...more });
  const template = { 'tokenizer.chat_template': '{{ messages[0].content }}', 'general.license': 'mit' };
  const several = {
    'README.md': '# A model',
    'x-F16.gguf': gguf({ type: 'F16', metadata: template }),
    'x-Q8_0.gguf': gguf({ type: 'Q8_0', metadata: template }),
    'Q4_0/x-Q4_0.gguf': gguf({ type: 'Q4_0', metadata: template }),
    'x-IQ2_XXS.gguf': 'not looked at',
    'mmproj-x-F16.gguf': 'a tower',
    'x-imatrix.gguf': 'figures',
  };
  Object.assign(repositories, {
    'o/several': folderOf(several),
    'o/beside': folderOf({ ...several, 'model.safetensors': 'x' }),
    'o/mamba': folderOf({ 'm.gguf': gguf({ metadata: { 'general.architecture': 'mamba' } }) }),
    'o/words': folderOf({ 'm.gguf': gguf({ metadata: { 'tokenizer.ggml.pre': 'viking' } }) }),
    'o/kind': folderOf({ 'm.gguf': gguf({ metadata: { 'tokenizer.ggml.model': 'rwkv' } }) }),
    'o/tower': folderOf({ 'm.gguf': writeGguf({ metadata: { 'general.architecture': 'clip' } }) }),
    'o/ternary': folderOf({
      'm.gguf': gguf({
        tensors: new Map([...model.tensors].filter(([name]) => name !== 'model.embed_tokens.weight')),
      }),
    }),
    'o/lost': folderOf({ 'm.gguf': gguf().subarray(0, 30_000) }),
    'o/split': folderOf({ 'm-00001-of-00002.gguf': gguf() }),
  });
  const models = Object.entries(repositories).map(([id, dir]) => [id, { dir, tags: ['gguf'] }]);
  hub = await startHub({ models: Object.fromEntries(models) });
});
afterAll(() => hub.close());

const plan = (id: string, file?: string, engine: 'own' | undefined = 'own') =>
  planModel({ source: hubSource({ endpoint: hub.url }), id, file, engine });

describe('a repository with files of GGUF alone', () => {
  it('is planned with the most exact that has eight bits at most', async () => {
    const { spec, reasons, packedWeights, gguf } = await plan('o/several', undefined, undefined);
    expect(spec).toMatchObject({
      ...{
        id: 'o/several',
        task: 'chat',
        engine: 'generation',
        dtype: 'q8',
        modelType: 'llama',
        license: 'mit',
      },
      architecture: 'LlamaForCausalLM',
    });
    expect(gguf!.chosen.path).toBe('x-Q8_0.gguf');
    expect(reasons).toContain('file x-Q8_0.gguf: the most exact that fits and has 8 bits at most');
    expect(packedWeights!.sources.map(({ path }) => path)).toEqual(['x-Q8_0.gguf']);
    // All of them are made here: the hub has none.
    const made = new Set([packedWeights!.recipe.file, ...packedWeights!.made!.map(({ path }) => path)]);
    expect(spec.files.filter(({ path }) => !made.has(path))).toEqual([]);
    expect(spec.files.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'config.json',
        'tokenizer.json',
        'tokenizer_config.json',
        packedWeights!.recipe.file,
      ]),
    );
  });

  it.each([
    ['Q4_0', 'q4', 'Q4_0/x-Q4_0.gguf'],
    ['x-F16.gguf', 'fp16', 'x-F16.gguf'],
  ])('is planned with the file that is asked for: %s', async (file, dtype, path) => {
    const { spec, gguf } = await plan('o/several', file);
    expect(spec.dtype).toBe(dtype);
    expect(gguf).toMatchObject({ chosen: { path }, reason: 'asked for' });
  });

  it('lists its files in plain words, with what they take', async () => {
    const { gguf } = await plan('o/several');
    const listed = ggufFiles(
      gguf!,
      { peakBytes: 1e6, limitBytes: 2e6, isMade: true },
      { bytes: 1.99e6, name: 'it' },
    );
    const byPath = Object.fromEntries(listed.map((file) => [file.path, file]));
    expect(byPath['x-Q8_0.gguf']).toMatchObject({
      ...{ label: 'Q8_0', words: '8 bits: next to no loss', chosen: true, fits: false },
      memory: { usualBytes: 1e6, longestBytes: 2e6 },
    });
    expect(byPath['Q4_0/x-Q4_0.gguf']!.memory!.usualBytes).toBeLessThan(1e6);
    expect(byPath['x-F16.gguf']!.memory!.longestBytes).toBeGreaterThan(2e6);
    expect(byPath['mmproj-x-F16.gguf']).toMatchObject({
      memory: null,
      words: expect.stringContaining('mmproj'),
    });
  });

  it.each([
    ['o/mamba', 'is of the architecture mamba, which no graph can be written for'],
    ['o/words', 'cuts words by viking (tokenizer.ggml.pre), which is not known'],
    ['o/kind', 'has a tokenizer of the kind rwkv'],
    ['o/tower', 'is no model'],
    ['o/ternary', 'has no tensor token_embd.weight'],
    ['o/lost', 'is cut off'],
    ['o/split', 'lacks its part m-00002-of-00002.gguf'],
  ])('is refused by name where it can’t be served: %s', async (id, said) => {
    const refused = await plan(id).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect((refused as Error).message).toContain(said);
  });

  it('is refused where the file is not there, or is no model', async () => {
    await expect(plan('o/several', 'Q5_K_M')).rejects.toThrow('o/several has no GGUF file Q5_K_M');
    await expect(plan('o/several', 'mmproj-x-F16.gguf')).rejects.toThrow('is no model but a tower');
  });
});

test('other weights beside files of GGUF count, where none of those is asked for', async () => {
  await expect(plan('o/beside')).rejects.toThrow('has no config.json');
  expect((await plan('o/beside', 'Q8_0')).gguf!.chosen.path).toBe('x-Q8_0.gguf');
});

test('the tokens that end a turn are known by their texts where a model holds conversations', async () => {
  const model = await drawnCheckpoint('llama');
  const tokens = Array.from({ length: Number(model.config['vocab_size']) }, (_, i) => `t${i}`);
  Object.assign(tokens, { 7: '<end_of_turn>', 9: '<|im_end|>', 11: '<EOT>' });
  const kinds = tokens.map((_, i) => (i === 11 ? 1 : i === 9 ? 4 : 3));
  const metadata = {
    'tokenizer.ggml.tokens': { type: 'list', of: 'string', value: tokens },
    'tokenizer.ggml.token_type': { type: 'list', of: 'i32', value: kinds },
  } as const;
  const endsOf = async (more: Record<string, string>) => {
    const { packedWeights } = await planModel({
      source: folderSource(
        folderOf({ 'm.gguf': ggufOfModel({ ...model, metadata: { ...metadata, ...more } }) }),
      ),
      ...{ id: 'o/x', engine: 'own' as const },
    });
    const { content } = packedWeights!.made!.find(({ path }) => path === 'generation_config.json')!;
    return (JSON.parse(content.toString()) as { eos_token_id: unknown }).eos_token_id;
  };
  expect(await endsOf({})).toBe(2);
  expect(await endsOf({ 'tokenizer.chat_template': '{{ messages[0].content }}' })).toEqual([2, 7, 9]);
});
