import { createAriaFamily } from '../../../../../../runtime/engines/generation/prompts/media/aria.js';
import type { FamilyFiles } from '../../../../../../runtime/engines/generation/prompts/media/family.js';

const files = (changes: Partial<Record<keyof FamilyFiles, object>> = {}) =>
  ({
    config: { image_token_index: 9, vision_config: { patch_size: 14 }, ...changes.config },
    processing: {},
    processor: { ...changes.processor },
    tokenizer: {
      config: { image_token: '<|img|>', ...changes.tokenizer },
      idOf: (text: string) => ({ '<|img|>': 9, '<other>': 10 })[text],
      tokenOf: (id: number) => (id === 9 ? '<|img|>' : undefined),
    },
  }) as unknown as FamilyFiles;

test('an image has as many tokens as its square has queries', () => {
  const family = createAriaFamily(files());
  const layout = family.layout({ width: 640, height: 480 });
  expect(layout).toEqual({ count: 256, patches: 4900 });
  expect(family.expand(layout)).toBe('<|img|>'.repeat(256));
});

test('it says what of its square it covers', () => {
  const [run] = createAriaFamily(files()).prepare({
    ...{ data: new Uint8Array(4 * 2 * 3), width: 4, height: 2, channels: 3 },
  });
  const { pixel_values, pixel_mask } = run!();
  expect(pixel_values!.dims).toEqual([1, 3, 980, 980]);
  expect(pixel_mask).toMatchObject({ type: 'bool', dims: [1, 980, 980] });
  const mask = pixel_mask!.data as Uint8Array;
  expect([mask[0], mask[489 * 980 + 979], mask[490 * 980]]).toEqual([1, 1, 0]);
});

test.each([
  ['size_conversion', { processor: { size_conversion: { 490: 128, 980: 64 } } }],
  ['size_conversion', { config: { vision_config: { patch_size: 16 } } }],
  ['image_token', { tokenizer: { image_token: '<other>' } }],
])('files that disagree are refused by name: %s', (name, changes) => {
  expect(() => createAriaFamily(files(changes))).toThrow(name);
});
