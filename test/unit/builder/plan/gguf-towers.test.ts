import { join } from 'node:path';
import { Refusal } from '../../../../builder/plan/index.js';
import { StoreError } from '../../../../runtime/store/errors.js';
import { readGgufParts, type GgufParts, rewritten } from '../../../helpers/gguf/rewrite-gguf.js';
import {
  ZOO,
  GEMMA,
  IDEFICS,
  QWEN,
  QWEN3,
  MISTRAL,
  PIXTRAL,
  type Files,
  read,
  plan,
  IMAGES,
  type Change,
  set,
  float,
  floats,
  without,
  shaped,
} from './gguf-tower-support.js';

describe('a model with an mmproj file', () => {
  const both = { 'm.gguf': read(GEMMA.text), 'mmproj-m-F16.gguf': read(GEMMA.tower) };

  it('reads images by graphs over both files', async () => {
    const { spec, packedWeights, gguf, reasons } = await plan(both);
    expect(spec).toMatchObject({ task: IMAGES, engine: 'generation', modelType: 'gemma3' });
    expect(packedWeights!.sources.map(({ path }) => path)).toEqual(['m.gguf', 'mmproj-m-F16.gguf']);
    expect(gguf!.tower!.variant.path).toBe('mmproj-m-F16.gguf');
    expect(reasons).toContain('file mmproj-m-F16.gguf: the only one that is there');
  });

  it.each([
    ['--task chat', { task: 'chat' }, 'generation'],
    ['--engine llama', { engine: 'llama' }, 'llama'],
  ] as const)('holds conversations without images with %s', async (_, options, engine) => {
    const { spec, gguf } = await plan(both, options);
    expect(spec).toMatchObject({ task: 'chat', engine });
    expect(spec.files.map(({ path }) => path)).not.toContain('preprocessor_config.json');
    expect(gguf!.tower).toBeUndefined();
  });

  it('is refused by name where llama.cpp is to read images', async () => {
    await expect(plan(both, { task: IMAGES, engine: 'llama' })).rejects.toThrow(
      'mmproj-m-F16.gguf is read beside graphs of ours alone; leave out --engine llama',
    );
  });

  describe('of several', () => {
    const towers = { 'mmproj-a-F32.gguf': read(GEMMA.tower), 'mmproj-b-F16.gguf': read(GEMMA.tower) };
    const several = { 'm.gguf': read(GEMMA.text), ...towers };

    it.each([
      ['F32', 'mmproj-a-F32.gguf'],
      ['mmproj-a-f32', 'mmproj-a-F32.gguf'],
      ['mmproj-b-F16.gguf', 'mmproj-b-F16.gguf'],
    ])('--mmproj %s takes %s', async (mmproj, path) => {
      const { gguf, reasons } = await plan(several, { mmproj });
      expect(gguf!.tower!.variant.path).toBe(path);
      expect(reasons).toContain(`file ${path}: asked for`);
    });

    it.each([
      [{ mmproj: 'Q8_0' }, 'no mmproj file is called Q8_0; give one of these with --mmproj: '],
      [{ mmproj: 'm.gguf' }, 'no mmproj file is called m.gguf'],
      [{ mmproj: 'F16', task: 'chat' }, '--task chat reads no mmproj file; leave out --mmproj'],
      [{ mmproj: 'F16', engine: 'llama' }, 'is read beside graphs of ours alone; leave out --engine llama'],
    ] as const)('what is not there, or not read, is refused: %j', async (options, said) => {
      await expect(plan(several, options)).rejects.toThrow(said);
    });
  });

  it('is refused by name where images are asked for and there is none', async () => {
    await expect(plan({ 'm.gguf': read(GEMMA.text) }, { task: IMAGES })).rejects.toThrow(
      'o/x has no mmproj file, so it reads no images; use --task chat',
    );
  });

  it('takes the tower of 16 bits, bfloat16 behind it', async () => {
    const towers = ['F32', 'BF16', 'Q8_0', 'F16'].map((label) => [`mmproj-${label}.gguf`, read(GEMMA.tower)]);
    const chosen = async (names: string[]) => {
      const listed = Object.fromEntries(towers.filter(([name]) => names.includes(String(name))));
      const { gguf } = await plan({ 'm.gguf': read(GEMMA.text), ...(listed as Files) });
      return gguf!.tower!.variant.path;
    };
    const [f32, bf16, q8, f16] = towers.map(([name]) => String(name)) as [string, string, string, string];
    expect(await chosen([f32, bf16, q8, f16])).toBe(f16);
    expect(await chosen([f32, bf16, q8])).toBe(bf16);
    expect(await chosen([f32, q8])).toBe(f32);
  });

  it('may have the products of its layers by each other’s names, as older files do', async () => {
    const { metadata, tensors } = await readGgufParts(join(ZOO, GEMMA.tower));
    const other = { up: 'down', down: 'up' } as Record<string, string>;
    const swapped = tensors.map((tensor) => ({
      ...tensor,
      name: tensor.name.replace(/ffn_(up|down)/, (_, name: string) => `ffn_${other[name]}`),
    }));
    const written = async (own: typeof tensors) => {
      const tower = rewritten({ metadata, tensors: own });
      return (await plan({ 'm.gguf': read(GEMMA.text), 'mmproj-m.gguf': tower })).spec.written;
    };
    // The same numbers from the same places.
    expect(await written(swapped)).toEqual(await written(tensors));
  });
});

const HOSTILE: readonly [what: string, change: Change, said: string][] = [
  ['no size', set('clip.vision.image_size', 0), 'has 0 as clip.vision.image_size'],
  ['patches without a size', set('clip.vision.patch_size', 0), 'has 0 as clip.vision.patch_size'],
  ['no layers', set('clip.vision.block_count', 0), 'has 0 as clip.vision.block_count'],
  ['absurd layers', set('clip.vision.block_count', 4_000_000_000), 'as clip.vision.block_count'],
  ['fewer layers than tensors', set('clip.vision.block_count', 1), 'has v.blk.1.'],
  ['more layers than tensors', set('clip.vision.block_count', 3), 'layers.2.'],
  ['an absurd width', set('clip.vision.embedding_length', 2 ** 31), 'as clip.vision.embedding_length'],
  ['another width', set('clip.vision.embedding_length', 64), 'but config.json makes it [64,'],
  [
    'a width as text',
    set('clip.vision.embedding_length', '32'),
    'has no number as clip.vision.embedding_length',
  ],
  ['half a width', set('clip.vision.embedding_length', float(32.5)), 'has no whole number as'],
  ['a width that is none', set('clip.vision.embedding_length', float(NaN)), 'has no number as'],
  ['no width', without('clip.vision.embedding_length'), 'has no clip.vision.embedding_length'],
  ['layers as wide inside', shaped('v.blk.0.ffn_up.weight', [32, 32]), 'which product is first'],
  ['another inner width', set('clip.vision.feed_forward_length', 64), 'but config.json makes it [64,'],
  ['seven heads', set('clip.vision.attention.head_count', 7), 'head'],
  ['no heads', set('clip.vision.attention.head_count', 0), 'has 0 as clip.vision.attention.head_count'],
  ['an epsilon of zero', set('clip.vision.attention.layer_norm_epsilon', float(0)), 'has 0 as'],
  [
    'an endless epsilon',
    set('clip.vision.attention.layer_norm_epsilon', float(Infinity)),
    'has no number as',
  ],
  ['another model’s features', set('clip.vision.projection_dim', 48), 'they are of two models'],
  ['features by 3', set('clip.vision.projector.scale_factor', 3), 'can’t be joined by 3'.replace('’', "'")],
  [
    'features by 0',
    set('clip.vision.projector.scale_factor', 0),
    'has 0 as clip.vision.projector.scale_factor',
  ],
  ['features by 64', set('clip.vision.projector.scale_factor', 64), "can't be joined by 64"],
  [
    'two colours',
    set('clip.vision.image_mean', floats(0.5, 0.5)),
    'has no three numbers as clip.vision.image_mean',
  ],
  ['a colour that is none', set('clip.vision.image_mean', floats(0.5, NaN, 0.5)), 'has no three numbers as'],
  ['colours as text', set('clip.vision.image_std', 'grey'), 'has no three numbers as clip.vision.image_std'],
  ['colours without spread', set('clip.vision.image_std', floats(0.5, 0, 0.5)), 'as clip.vision.image_std'],
  ['no colours', without('clip.vision.image_std'), 'has no three numbers as clip.vision.image_std'],
  ['no projector', without('clip.projector_type'), 'does not name its projector'],
  ['a projector by number', set('clip.projector_type', 3), 'does not name its projector'],
  ['another projector', set('clip.projector_type', 'ldpv2'), 'has the projector ldpv2, which no graph'],
  ['a name of every object', set('clip.projector_type', 'constructor'), 'has the projector constructor'],
  ['another family’s projector', set('clip.projector_type', 'idefics3'), 'is a tower of llama, and'],
  ['no images', set('clip.has_vision_encoder', false), 'has no encoder of images'],
  ['images as text', set('clip.has_vision_encoder', 'yes'), 'has no encoder of images'],
  ['audio, too', set('clip.has_audio_encoder', true), 'has clip.has_audio_encoder, which nothing reads'],
  ['another activation', set('clip.use_gelu', false), 'does not compute by clip.use_gelu'],
  ['two activations', set('clip.use_silu', true), 'has clip.use_silu, which nothing reads'],
  ['a setting to come', set('clip.vision.turned', true), 'has clip.vision.turned, which nothing reads'],
  ['no tower', set('general.architecture', 'llama'), 'is no tower but a model'],
  ['a model by type', set('general.type', 'model'), 'is no tower but a model'],
  ['a tensor of another shape', shaped('v.post_ln.weight', [31]), 'is [31], but'],
  ['a table of other places', shaped('v.position_embd.weight', [9, 32]), 'is [9, 32], but'],
  [
    'a tensor that nothing reads',
    ({ tensors }) =>
      void tensors.push({ name: 'v.extra.weight', shape: [1], type: 'F32', data: Buffer.alloc(4) }),
    'has the tensor v.extra.weight',
  ],
];

describe('a hostile mmproj file', () => {
  const text = read(GEMMA.text);
  let tower: GgufParts;
  beforeAll(async () => {
    tower = await readGgufParts(join(ZOO, GEMMA.tower));
  });
  const changed = (change: Change) => {
    const parts = { metadata: { ...tower.metadata }, tensors: tower.tensors.map((one) => ({ ...one })) };
    change(parts);
    return { 'm.gguf': text, 'mmproj-m.gguf': rewritten(parts) };
  };

  it.each(HOSTILE)(
    'is refused by name where images are asked for, else texts are served: %s',
    async (_, change, said) => {
      const files = changed(change);
      const refused = await plan(files, { task: IMAGES }).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(Refusal);
      expect((refused as Error).message).toContain(said);
      const { spec, reasons } = await plan(files);
      expect(spec.task).toBe('chat');
      expect(reasons.join('\n')).toContain(said);
    },
  );

  it('is refused without any one of its tensors', async () => {
    for (const { name } of tower.tensors) {
      const lacking = changed((parts) => (parts.tensors = parts.tensors.filter((one) => one.name !== name)));
      await expect(plan(lacking, { task: IMAGES })).rejects.toBeInstanceOf(Refusal);
    }
  });

  it('is planned or refused by name with bytes changed', async () => {
    const whole = rewritten(tower);
    let state = 7;
    const below = (count: number) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % count;
    let refusals = 0;
    for (let round = 0; round < 120; round++) {
      const damaged = Buffer.from(whole);
      for (let i = 0; i <= below(4); i++) damaged[below(4000)] = below(256);
      const found = await plan({ 'm.gguf': text, 'mmproj-m.gguf': damaged }, { task: IMAGES }).catch(
        (error: unknown) => error,
      );
      if (!(found instanceof Error)) continue;
      refusals++;
      expect(found instanceof Refusal || found instanceof StoreError).toBe(true);
    }
    expect(refusals).toBeGreaterThan(30);
  });
});

/** The content of a file that is made of metadata. */
async function made(files: Files, name: string): Promise<Record<string, unknown>> {
  const { packedWeights } = await plan(files, { task: IMAGES });
  const { content } = packedWeights!.made!.find(({ path }) => path === name)!;
  return JSON.parse(content.toString()) as Record<string, unknown>;
}

async function withoutToken(token: string, model = GEMMA): Promise<Files> {
  const parts = await readGgufParts(join(ZOO, model.text));
  const tokens = parts.metadata['tokenizer.ggml.tokens'] as unknown as { value: string[] };
  tokens.value = tokens.value.map((one) => (one === token ? '<unused>' : one));
  return { 'm.gguf': rewritten(parts), 'mmproj-m.gguf': read(model.tower) };
}

test.each([
  ['<start_of_image>', GEMMA],
  ['<end_of_image>', GEMMA],
  ['<image>', IDEFICS],
  ['<fake_token_around_image>', IDEFICS],
  ['<global-img>', IDEFICS],
  ['<|image_pad|>', QWEN],
  ['<|image_pad|>', QWEN3],
  ['[IMG]', PIXTRAL],
  ['[IMG_BREAK]', MISTRAL],
  ['[IMG_END]', MISTRAL],
])('a model whose vocabulary lacks %s is refused by name', async (token, model) => {
  const files = await withoutToken(token, model);
  await expect(plan(files, { task: IMAGES })).rejects.toThrow(`has no token ${token}`);
});

test('the token that stands for features is put behind a vocabulary that lacks it', async () => {
  expect(await made(await withoutToken('<image_soft_token>'), 'config.json')).toMatchObject({
    image_token_index: 305,
  });
});

test('images of Idefics3 are four squares long where the file does not say', async () => {
  const parts = await readGgufParts(join(ZOO, IDEFICS.tower));
  const edge = async () =>
    made({ 'm.gguf': read(IDEFICS.text), 'mmproj-m.gguf': rewritten(parts) }, 'preprocessor_config.json');
  expect(await edge()).toMatchObject({ size: { longest_edge: 96 }, max_image_size: { longest_edge: 32 } });
  delete parts.metadata['clip.vision.preproc_image_size'];
  expect(await edge()).toMatchObject({ size: { longest_edge: 128 }, max_image_size: { longest_edge: 32 } });
});

const moved =
  (name: string): Change =>
  ({ tensors }) => {
    const at = tensors.findIndex((tensor) => tensor.name === name);
    tensors.push(...tensors.splice(at, 1));
  };

const HOSTILE_PATCHES: readonly [what: string, change: Change, said: string][] = [
  ['no windows', without('clip.vision.n_wa_pattern'), 'has no clip.vision.n_wa_pattern'],
  ['windows of none', set('clip.vision.n_wa_pattern', 0), 'has 0 as clip.vision.n_wa_pattern'],
  ['another epsilon', set('clip.vision.attention.layer_norm_epsilon', float(1e-5)), 'not 0.000001'],
  ['no pixels', set('clip.vision.image_max_pixels', 0), 'has 0 as clip.vision.image_max_pixels'],
  ['fewer pixels than the least', set('clip.vision.image_max_pixels', 300), 'more than the most (300)'],
  ['cells of none', set('clip.vision.spatial_merge_size', 0), 'has 0 as clip.vision.spatial_merge_size'],
  ['GELU, too', set('clip.use_gelu', true), 'has clip.use_gelu, which nothing reads'],
  ['keys elsewhere', moved('v.blk.0.attn_k.weight'), 'not one behind the other'],
  ['a frame elsewhere', moved('v.patch_embd.weight'), 'not one behind the other'],
  ['keys of another shape', shaped('v.blk.1.attn_k.weight', [31, 32]), 'not one behind the other'],
];

describe('a hostile mmproj file of patches', () => {
  const text = read(QWEN.text);
  let tower: GgufParts;
  beforeAll(async () => {
    tower = await readGgufParts(join(ZOO, QWEN.tower));
  });
  const changed = (change: Change) => {
    const parts = { metadata: { ...tower.metadata }, tensors: tower.tensors.map((one) => ({ ...one })) };
    change(parts);
    return { 'm.gguf': text, 'mmproj-m.gguf': rewritten(parts) };
  };

  it.each(HOSTILE_PATCHES)('is refused by name: %s', async (_, change, said) => {
    await expect(plan(changed(change), { task: IMAGES })).rejects.toThrow(said);
  });

  it('is refused without any one of its tensors', async () => {
    for (const { name } of tower.tensors) {
      const lacking = changed((parts) => (parts.tensors = parts.tensors.filter((one) => one.name !== name)));
      await expect(plan(lacking, { task: IMAGES })).rejects.toBeInstanceOf(Refusal);
    }
  });

  it('is refused beside a model that does not part its frequencies in three', async () => {
    const parts = await readGgufParts(join(ZOO, QWEN.text));
    delete parts.metadata['qwen2vl.rope.dimension_sections'];
    const files = { 'm.gguf': rewritten(parts), 'mmproj-m.gguf': read(QWEN.tower) };
    await expect(plan(files, { task: IMAGES })).rejects.toThrow('has no three counts as');
  });

  it('leaves a model of texts alone without it', async () => {
    const { spec } = await plan({ 'm.gguf': text });
    expect(spec).toMatchObject({ task: 'chat', engine: 'generation', modelType: 'qwen2' });
  });
});
