import { requireRead, UnreadFieldsError, versionNote } from '../../../../builder/plan/config/require-read.js';

const LLAMA = { model_type: 'llama', hidden_size: 48, transformers_version: '4.57.6' };

const refusal = (config: Record<string, unknown>): UnreadFieldsError => {
  try {
    requireRead('config.json', config);
  } catch (error) {
    if (error instanceof UnreadFieldsError) return error;
  }
  throw new Error('is not refused');
};

describe('fields of config.json that nothing reads', () => {
  test('are refused by name where they say something else than the library takes', () => {
    const { message, remedy } = refusal({ ...LLAMA, model_type: 'gpt_oss', swiglu_limit: 5 });
    expect(message).toBe(
      'config.json: swiglu_limit is 5, which is not supported (7 is what transformers takes by default)',
    );
    expect(remedy).toBe('if it changes no answer of yours: --ignore-config swiglu_limit');
  });

  test('are named with their part', () => {
    const text_config = { model_type: 'deepseek_v2', norm_topk_prob: true };
    expect(refusal({ model_type: 'llava', text_config }).message).toContain(
      'text_config.norm_topk_prob is true',
    );
  });

  test('of the base class, too', () => {
    expect(refusal({ model_type: 'vit', is_decoder: true }).message).toContain('is_decoder is true');
    expect(refusal({ model_type: 'bert', pruned_heads: { 0: [1] } }).message).toContain('pruned_heads');
  });

  test('are taken where they are inert, as the library has them, or no field of the class', () => {
    const config = { ...LLAMA, attention_dropout: 0.3, pretraining_tp: 2, is_decoder: false, of_a_tool: 'x' };
    expect(requireRead('config.json', config)).toEqual([]);
    expect(requireRead('config.json', { model_type: 'gpt_oss', swiglu_limit: 7 })).toEqual([]);
  });

  test('are ignored where the operator says so, which is told', () => {
    const config = { model_type: 'gpt_oss', swiglu_limit: 5 };
    expect(requireRead('config.json', config, ['swiglu_limit', 'other'])).toEqual(['swiglu_limit']);
  });

  test('another name of a field that the file leaves out is refused, beside the same value it is not', () => {
    expect(refusal({ model_type: 'distilbert', hidden_size: 32 }).message).toContain(
      'hidden_size is another name of a field that the file leaves out',
    );
    expect(requireRead('config.json', { model_type: 'distilbert', dim: 32, hidden_size: 32 })).toEqual([]);
  });

  test('a part of rope_parameters that no graph computes is named', () => {
    expect(
      refusal({ model_type: 'gemma3_text', rope_local_scaling: { rope_type: 'yarn' } }).message,
    ).toContain('rope_parameters.sliding_attention');
  });
});

test('a newer version than answers were compared with is told', () => {
  const note = (transformers_version: unknown) => versionNote({ transformers_version });
  expect(note('5.25.0')).toContain('transformers 5.25.0 wrote config.json');
  expect(note('10.0.0.dev0')).toContain('10.0.0.dev0');
  for (const version of ['5.24.0', '5.3.0', '4.57.6', undefined, 'nonsense', 7])
    expect(note(version)).toBeUndefined();
});
