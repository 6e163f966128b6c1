import { join } from 'node:path';
import { Refusal } from '../../../../builder/plan/index.js';
import { readGgufParts, rewritten, type Value } from '../../../helpers/gguf/rewrite-gguf.js';
import {
  ZOO,
  QWEN3,
  MISTRAL,
  PIXTRAL,
  read,
  plan,
  IMAGES,
  SOUNDS,
  VOXTRAL,
  QWEN_AUDIO,
  type Change,
  type Files,
  set,
  float,
  floats,
  without,
  shaped,
  lacking,
  added,
} from './gguf-tower-support.js';

const flags = (...value: boolean[]): Value => ({ type: 'list', of: 'bool', value });
const DEEP = 'clip.vision.is_deepstack_layers';

const HOSTILE_OTHERS: readonly (readonly [
  what: string,
  model: typeof QWEN3,
  change: Change,
  said: string,
])[] = [
  ['deep layers by their number', QWEN3, set(DEEP, 2), 'has no word for each layer as'],
  ['words for other layers', QWEN3, set(DEEP, flags(true, false)), 'has no word for each layer as'],
  ['words as numbers', QWEN3, set(DEEP, floats(1, 0, 1)), 'has no word for each layer as'],
  ['fewer deep layers', QWEN3, set(DEEP, flags(true, false, false)), 'has the tensor v.deepstack.2.'],
  ['other deep layers', QWEN3, set(DEEP, flags(true, true, true)), 'visual.deepstack_merger_list.'],
  ['no word of deep layers', QWEN3, without(DEEP), 'has the tensor v.deepstack.'],
  ['another activation', QWEN3, set('clip.use_gelu', false), 'does not compute by clip.use_gelu'],
  ['another table', QWEN3, shaped('v.position_embd.weight', [5, 8]), 'make no square'],
  ['two activations', PIXTRAL, set('clip.use_silu', true), 'nor by clip.use_silu alone'],
  ['no activation', PIXTRAL, without('clip.use_gelu'), 'does not compute by clip.use_gelu alone'],
  ['another epsilon', PIXTRAL, set('clip.vision.attention.layer_norm_epsilon', float(1e-6)), 'not 0.00001'],
  [
    'squares without a merger',
    PIXTRAL,
    set('clip.vision.spatial_merge_size', 2),
    'no mm.patch_merger.weight',
  ],
  ['a theta of zero', PIXTRAL, set('clip.rope.freq_base', float(0)), 'has 0 as clip.rope.freq_base'],
  ['a theta as text', PIXTRAL, set('clip.rope.freq_base', '1'), 'has no number as clip.rope.freq_base'],
  ['half of its biases', PIXTRAL, lacking('mm.1.bias'), 'linear_2.bias, which its graphs do not read'],
  ['another end of lines', PIXTRAL, shaped('v.token_embd.img_break', [3]), 'img_break of the sizes [3]'],
  ['biases of queries', PIXTRAL, added('v.blk.0.attn_q.bias', [16]), 'q_proj.bias, which its graphs do not'],
  ['no squares', MISTRAL, without('clip.vision.spatial_merge_size'), 'has no clip.vision.spatial_merge_size'],
  ['other squares', MISTRAL, set('clip.vision.spatial_merge_size', 3), 'patch_merger'],
  ['seven heads', MISTRAL, set('clip.vision.attention.head_count', 7), 'head'],
];

async function changedTower({ text, tower }: typeof QWEN3, change: Change): Promise<Files> {
  const parts = await readGgufParts(join(ZOO, tower));
  change(parts);
  return { 'm.gguf': read(text), 'mmproj-m.gguf': rewritten(parts) };
}

describe('a hostile mmproj file of another projector', () => {
  it.each(HOSTILE_OTHERS)('is refused by name: %s', async (_, model, change, said) => {
    const refused = await plan(await changedTower(model, change), { task: IMAGES }).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(Refusal);
    expect((refused as Error).message).toContain(said);
  });

  it.each([
    ['qwen3vl_merger', QWEN3],
    ['pixtral with squares', MISTRAL],
    ['pixtral', PIXTRAL],
  ] as const)('is refused without any one of its tensors: %s', async (_, model) => {
    const { tensors } = await readGgufParts(join(ZOO, model.tower));
    for (const { name } of tensors.filter((one) => one.name !== 'v.token_embd.img_break')) {
      const files = await changedTower(model, lacking(name));
      await expect(plan(files, { task: IMAGES })).rejects.toBeInstanceOf(Refusal);
    }
  });
});

const HOSTILE_SOUNDS: readonly (readonly [
  what: string,
  model: typeof VOXTRAL,
  change: Change,
  said: string,
])[] = [
  [
    'no stack',
    VOXTRAL,
    without('clip.audio.projector.stack_factor'),
    'has no clip.audio.projector.stack_factor',
  ],
  ['another stack', VOXTRAL, set('clip.audio.projector.stack_factor', 4), 'joins 4 steps of 32 numbers'],
  ['half a second', VOXTRAL, shaped('a.position_embd.weight', [25, 32]), 'steps, which are no whole seconds'],
  ['no positions', VOXTRAL, lacking('a.position_embd.weight'), 'has no tensor a.position_embd.weight'],
  ['another epsilon', VOXTRAL, set('clip.audio.attention.layer_norm_epsilon', float(1e-6)), 'not 0.00001'],
  ['no filters', VOXTRAL, set('clip.audio.num_mel_bins', 0), 'has 0 as clip.audio.num_mel_bins'],
  ['other filters', VOXTRAL, set('clip.audio.num_mel_bins', 80), 'conv1'],
  ['a bias of two axes', VOXTRAL, shaped('a.conv1d.1.bias', [16, 2]), 'conv1.bias'],
  ['fewer layers', QWEN_AUDIO, set('clip.audio.block_count', 1), 'has a.blk.1.'],
  [
    'an absurd width',
    QWEN_AUDIO,
    set('clip.audio.embedding_length', 2 ** 31),
    'as clip.audio.embedding_length',
  ],
  ['a stack', QWEN_AUDIO, set('clip.audio.projector.stack_factor', 2), 'which nothing reads'],
  ['quick GELU', QWEN_AUDIO, set('clip.use_gelu', true), 'has clip.use_gelu, which nothing reads'],
  ['images, too', QWEN_AUDIO, set('clip.has_vision_encoder', true), 'qwen2a for vision'],
  ['no audio', QWEN_AUDIO, set('clip.has_audio_encoder', false), 'has no encoder of images or audio'],
  [
    'a projector of images',
    QWEN_AUDIO,
    set('clip.projector_type', 'gemma3'),
    'the projector gemma3 for audio',
  ],
  [
    'Ultravox',
    QWEN_AUDIO,
    set('clip.projector_type', 'ultravox'),
    'has the projector ultravox, which no graph',
  ],
];

describe('a hostile mmproj file of audio', () => {
  it.each(HOSTILE_SOUNDS)('is refused by name: %s', async (_, model, change, said) => {
    const files = await changedTower(model, change);
    const refused = await plan(files, { task: SOUNDS }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect((refused as Error).message).toContain(said);
    // Without the task conversations of texts are served where there is a template.
    if (model === VOXTRAL) expect((await plan(files)).spec).toMatchObject({ task: 'chat' });
  });

  it.each([VOXTRAL, QWEN_AUDIO])('is refused without any one of its tensors: %j', async (model) => {
    const { tensors } = await readGgufParts(join(ZOO, model.tower));
    for (const { name } of tensors) {
      const files = await changedTower(model, lacking(name));
      await expect(plan(files, { task: SOUNDS })).rejects.toBeInstanceOf(Refusal);
    }
  });
});

test('a tower of audio reads no images, and is found without a task', async () => {
  const both = { 'm.gguf': read(VOXTRAL.text), 'mmproj-m.gguf': read(VOXTRAL.tower) };
  await expect(plan(both, { task: IMAGES })).rejects.toThrow('mmproj-m.gguf reads audio, no images');
  const alone = { 'm.gguf': read(VOXTRAL.text) };
  await expect(plan(alone, { task: SOUNDS })).rejects.toThrow('has no mmproj file, so it reads no audio');
  expect((await plan(both)).spec).toMatchObject({ task: SOUNDS, modelType: 'voxtral' });
});
