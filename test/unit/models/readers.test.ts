import { PROMPTS } from '../../../runtime/engines/generation/prompts/media/families.js';
import { readersOf } from '../../../runtime/models/readers.js';
import { PROMPT_KINDS } from '../../../runtime/core/readers.js';
import { modelReaders } from '../../../runtime/store/readers-file.js';
import { FAMILIES } from '../../../runtime/models/registry.js';
import { EXPORTED } from '../../../runtime/models/exported.js';

test.each([
  ['a type of a family', { model_type: 'dinov2' }, { processor: 'Bit' }],
  ['a type of exports', { model_type: 'hiera' }, { processor: 'Bit' }],
  ['an unknown type', { model_type: 'toString' }, {}],
  ['no type', {}, {}],
  ['RoBERTa', { model_type: 'camembert' }, { positions: 'after-padding' }],
  ['T5', { model_type: 'mt5' }, { positions: 'distance' }],
  ['LongT5, which only exports are served of', { model_type: 'longt5' }, { positions: 'distance' }],
  ['DeBERTa', { model_type: 'deberta-v2' }, {}],
  [
    'DeBERTa without a table for positions',
    { model_type: 'deberta-v2', position_biased_input: false },
    { positions: 'distance' },
  ],
  [
    'a decoder inside',
    { model_type: 'vision-encoder-decoder', decoder: { model_type: 'gpt2' } },
    { positions: 'learned' },
  ],
  ['SmolVLM', { model_type: 'smolvlm' }, { prompts: { image: 'smolvlm', video: 'smolvlm' } }],
  ['Qwen2-VL', { model_type: 'qwen2_vl' }, { prompts: { image: 'qwen2-vl', video: 'qwen2-vl' } }],
  ['Qwen2.5-VL', { model_type: 'qwen2_5_vl' }, { prompts: { image: 'qwen2-vl', video: 'qwen2-5-vl' } }],
  ['LLaVA', { model_type: 'llava' }, { prompts: { image: 'llava' } }],
  [
    'LLaVA over SigLIP',
    { model_type: 'llava', vision_config: { model_type: 'siglip_vision_model' } },
    { prompts: { image: 'llava-siglip' } },
  ],
  [
    'Pixtral',
    { model_type: 'llava', vision_config: { model_type: 'pixtral' } },
    { prompts: { image: 'pixtral' } },
  ],
  [
    'a language model inside',
    { model_type: 'llava', text_config: { model_type: 'phi3' } },
    { rope: 'recomputed', prompts: { image: 'llava' } },
  ],
])('%s', (_, config, readers) => {
  expect(readersOf(config)).toEqual(readers);
});

const types = [...FAMILIES.flatMap(({ modelTypes }) => modelTypes), ...Object.keys(EXPORTED)];

test('what families say can be written into model.json, and read again', () => {
  for (const model_type of types) {
    const readers = readersOf({ model_type });
    expect(modelReaders.parse(JSON.parse(JSON.stringify(readers)))).toEqual(readers);
  }
});

test('a name that this version does not know is refused', () => {
  expect(modelReaders.safeParse({ audio: 'unknown' }).success).toBe(false);
  expect(modelReaders.safeParse({ unknown: 'x' }).success).toBe(false);
});

test('no type has both a family and a row of exports', () => {
  expect(new Set(types).size).toBe(types.length);
});

test('the server has every prompt that a family names, and no other', () => {
  for (const kind of PROMPT_KINDS) {
    const configs = types.map((model_type) => ({ model_type }));
    // Their names depend on the encoder of images, or belong to a reader of its own (florence-chat.ts).
    const visions = ['pixtral', 'siglip_vision_model'].map((model_type) => ({
      model_type: 'llava',
      vision_config: { model_type },
    }));
    const named = [...configs, ...visions].map((config) => readersOf(config).prompts?.[kind]);
    const names = new Set(named.filter((name) => name !== undefined && name !== 'florence2'));
    expect(names).toEqual(new Set(Object.keys(PROMPTS[kind])));
  }
});
