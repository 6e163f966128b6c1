import { createEmu3Family } from '../../../../../../runtime/engines/generation/prompts/media/emu3.js';
import { createApertus15Family } from '../../../../../../runtime/engines/generation/prompts/media/apertus1p5.js';
import { createChameleonFamily } from '../../../../../../runtime/engines/generation/prompts/media/chameleon.js';
import { createDeepseekOcr2Family } from '../../../../../../runtime/engines/generation/prompts/media/deepseek-ocr2.js';
import type { FamilyFiles } from '../../../../../../runtime/engines/generation/prompts/media/family.js';

const TOKENS = {
  ...{ image_token: '<image>', audio_token: '<audio>', boi_token: '<begin>', eoi_token: '<end>' },
  ...{ image_wrapper_token: '<wrap>', eof_token: '<eof>', eol_token: '<eol>', bos_token: '<s>' },
};
const NAMES = Object.values(TOKENS);

const files = (config: object, processing: object, more: object = {}) =>
  ({
    ...{ config: { image_token_id: 0, ...config }, processing, processor: {} },
    tokenizer: {
      config: TOKENS,
      idOf: (text: string) => (NAMES.includes(text) ? NAMES.indexOf(text) : undefined),
      tokenOf: (id: number) => NAMES[id],
    },
    ...more,
  }) as unknown as FamilyFiles;

describe('Emu 3', () => {
  const settings = { min_pixels: 1024, max_pixels: 6400 };
  const family = createEmu3Family(files({}, settings));
  const layout = family.layout({ width: 90, height: 50 });

  test('cells and ends of rows are features', () => {
    expect(layout).toEqual({ count: 6 * 12, patches: 66, parts: { rows: 6, columns: 11 } });
    expect(family.expand(layout)).toBe(`<begin>6*11<wrap>${'<image>'.repeat(72)}<eof><end>`);
  });

  test('a text begins with one token of its own', () => {
    expect(['a', '<s>a'].map((text) => family.begin!(text))).toEqual(['<s>a', '<s>a']);
  });

  test('images of several sizes are refused: Python pads them', () => {
    const other = family.layout({ width: 33, height: 120 });
    expect(() => family.expand(layout, [layout, other])).toThrow('one size');
    expect(family.expand(layout, [layout, layout])).toContain('6*11');
  });

  test.each([{ spatial_factor: 16 }, { spatial_factor: 4 }])('%j is refused by name', (more) => {
    expect(() => createEmu3Family(files({}, { ...settings, ...more }))).toThrow('spatial_factor');
  });
});

describe('Apertus 1.5', () => {
  const settings = { size: { min_pixels: 1024, max_pixels: 6400 }, spatial_factor: 16 };

  test('cells are features, with a token between rows', () => {
    const family = createApertus15Family(files({}, settings));
    const layout = family.layout({ width: 48, height: 32 });
    expect(layout).toEqual({ count: 6, patches: 6, parts: { rows: 2, columns: 3 } });
    const row = '<image>'.repeat(3);
    expect(family.expand(layout)).toBe(`<begin>2*3<wrap>${row}<eol>${row}<end>`);
    expect(family.foreign).toEqual(['<audio>']);
  });

  test('cells that are not those of the model are refused by name', () => {
    const vision = { vision_config: { channel_multiplier: [1, 2] } };
    expect(() => createApertus15Family(files(vision, settings))).toThrow('spatial_factor');
  });
});

describe('Chameleon', () => {
  const settings = { size: { shortest_edge: 32 }, crop_size: { height: 32, width: 32 } };
  const start = {
    config: { ...TOKENS, sep_token: '<sep>' },
    specialCount: () => 1,
    encode: () => ({ ids: [NAMES.indexOf('<s>'), 1] }),
    idOf: (text: string) => (text === '<sep>' ? 99 : NAMES.indexOf(text)),
    tokenOf: (id: number) => NAMES[id],
  };
  const made = (
    processor: object = { image_seq_length: 4 },
    tokenizer: object = {},
    map: object = { '<image>': 0 },
  ) =>
    createChameleonFamily(
      files({ vocabulary_map: map }, settings, { processor, tokenizer: { ...start, ...tokenizer } }),
    );

  test('cells of an image between two tokens; what parts texts stands behind all', () => {
    const family = made();
    const layout = family.layout({ width: 90, height: 50 });
    expect(layout.count).toBe(4);
    expect(family.expand(layout)).toBe(`<begin>${'<image>'.repeat(4)}<end>`);
    expect(family.begin!('a')).toBe('a<sep>');
    expect(family.template).toContain('{{- "<s>" -}}');
    expect(made(undefined, { specialCount: () => 0 }).template).toContain('{{- "" -}}');
  });

  test.each([
    ['image_seq_length', {}, {}, undefined],
    ['vocabulary_map', undefined, {}, { '<image>': 3 }],
    ['start token', undefined, { specialCount: () => 2 }, undefined],
    ['sep_token', undefined, { config: TOKENS }, undefined],
  ])('files that disagree are refused by name: %s', (name, processor, tokenizer, map) => {
    expect(() => made(processor, tokenizer, map)).toThrow(name);
  });
});

describe('DeepSeek-OCR 2', () => {
  test('tiles, the whole image, and what ends it', () => {
    const family = createDeepseekOcr2Family(files({}, {}));
    expect(family.layout({ width: 800, height: 380 }).count).toBe(2 * 144 + 257);
    const small = family.layout({ width: 90, height: 50 });
    expect(small.count).toBe(257);
    expect(family.expand(small)).toBe('<image>'.repeat(257));
    const features = { type: 'float32', data: new Float32Array(2 * 401).fill(1, 0, 288), dims: [401, 2] };
    const arranged = family.arrange!(features, { width: 90, height: 50 });
    expect(arranged.dims).toEqual([257, 2]);
    expect((arranged.data as Float32Array).every((value) => value === 0)).toBe(true);
    expect(family.arrange!(features, { width: 800, height: 380 })).toBe(features);
  });

  test('sizes that are not the model’s are refused by name', () => {
    const processor = { patch_size: 14 };
    expect(() => createDeepseekOcr2Family(files({}, {}, { processor }))).toThrow('patch_size');
  });
});
