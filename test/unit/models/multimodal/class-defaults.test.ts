import { expect, it } from '@jest/globals';
import { interleavedAxes } from '../../../../runtime/models/multimodal/qwen3-vl/interleaved-axes.js';
import { familyOf } from '../../../../runtime/models/registry.js';

it.each(['qwen2_vl', 'qwen2_5_vl'])(
  '%s: a text_config that says no head_dim, as version 5 saves it, is read',
  (type) => {
    const read = familyOf(type)!.config.safeParse({
      model_type: type,
      text_config: { rope_scaling: { mrope_section: [16, 24, 24] } },
    });
    const places = read.success ? [] : read.error.issues.map(({ path }) => path.join('.'));
    expect(places).not.toContain('text_config.head_dim');
  },
);

it('Qwen3-VL parts frequencies as its class does where rope says no sections', () => {
  const usual = interleavedAxes({ mrope_section: [24, 20, 20] }, 64, [1, 1, 1]);
  expect(interleavedAxes(undefined, 64, [24, 20, 20])).toEqual(usual);
  expect(usual.slice(0, 4)).toEqual([0, 1, 2, 0]);
  expect(() => interleavedAxes({ mrope_section: [24, 20] }, 64, [24, 20, 20])).toThrow('mrope_section');
});
