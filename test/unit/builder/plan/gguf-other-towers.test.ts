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
  type Change,
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

describe('a hostile mmproj file of another projector', () => {
  const changed = async ({ text, tower }: typeof QWEN3, change: Change) => {
    const parts = await readGgufParts(join(ZOO, tower));
    change(parts);
    return { 'm.gguf': read(text), 'mmproj-m.gguf': rewritten(parts) };
  };

  it.each(HOSTILE_OTHERS)('is refused by name: %s', async (_, model, change, said) => {
    const refused = await plan(await changed(model, change), { task: IMAGES }).catch(
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
      const files = await changed(model, lacking(name));
      await expect(plan(files, { task: IMAGES })).rejects.toBeInstanceOf(Refusal);
    }
  });
});
