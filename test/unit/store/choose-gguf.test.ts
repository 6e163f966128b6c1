import { chooseGguf, ggufVariants, isGgufOnly } from '../../../runtime/store/choose-gguf.js';
import { ggufLabel, labelWords } from '../../../runtime/store/gguf-label.js';

const file = (path: string, size = 100) => ({ path, size });

const FILES = [
  file('README.md', 1),
  file('x-F16.gguf', 1600),
  file('x-Q8_0.gguf', 850),
  file('x-Q6_K.gguf', 656),
  file('x-Q4_K_M.gguf', 480),
  file('x-IQ2_XXS.gguf', 210),
  file('mmproj-x-F16.gguf', 90),
  file('x-draft-Q4_0.gguf', 30),
  file('x-imatrix.gguf', 5),
  file('lora-x-F16.gguf', 7),
  file('BF16/x-BF16-00001-of-00002.gguf', 900),
  file('BF16/x-BF16-00002-of-00002.gguf', 700),
];

const variants = ggufVariants(FILES);
const choose = (options: Partial<Parameters<typeof chooseGguf>[0]> = {}) =>
  chooseGguf({ id: 'o/x', variants, ...options });

describe('ggufVariants', () => {
  it('tells models from what lies beside them', () => {
    const roles = Object.fromEntries(variants.map(({ path, role }) => [path, role]));
    expect(roles).toEqual({
      'BF16/x-BF16-00001-of-00002.gguf': 'model',
      'x-F16.gguf': 'model',
      'x-Q8_0.gguf': 'model',
      'x-Q6_K.gguf': 'model',
      'x-Q4_K_M.gguf': 'model',
      'x-IQ2_XXS.gguf': 'model',
      'mmproj-x-F16.gguf': 'mmproj',
      'x-draft-Q4_0.gguf': 'draft',
      'x-imatrix.gguf': 'imatrix',
      'lora-x-F16.gguf': 'adapter',
    });
  });

  it('puts parts together in their order', () => {
    expect(variants[0]).toMatchObject({ label: 'BF16', size: 1600, missing: [] });
    expect(variants[0]!.files.map(({ size }) => size)).toEqual([900, 700]);
  });

  it('says which parts are missing', () => {
    const [only] = ggufVariants([file('a-00002-of-00003.gguf')]);
    expect(only).toMatchObject({ missing: ['a-00001-of-00003.gguf', 'a-00003-of-00003.gguf'] });
    expect(() => chooseGguf({ id: 'o/x', variants: [only!] })).toThrow(
      'lacks its part a-00001-of-00003.gguf',
    );
  });
});

describe('ggufLabel', () => {
  it.each([
    ['gemma-3-270m-q4_k_m.gguf', 'Q4_K_M'],
    ['x-UD-Q4_K_XL.gguf', 'UD-Q4_K_XL'],
    ['x.IQ3_XXS.gguf', 'IQ3_XXS'],
    ['gpt-oss-20b-MXFP4.gguf', 'MXFP4'],
    ['Q8_0/model-BF16-00001-of-00009.gguf', 'BF16'],
    ['model-fp16.gguf', 'FP16'],
    ['x-TQ1_0.gguf', 'TQ1_0'],
    ['Qwen3-4B.gguf', undefined],
  ])('%s: %s', (path, label) => {
    expect(ggufLabel(path)).toBe(label);
  });

  it.each([
    ['Q4_K_M', '4 bits'],
    ['UD-IQ1_S', '1 bit'],
    ['BF16', 'as trained'],
    [undefined, 'unknown'],
  ])('says %s in plain words', (label, words) => {
    expect(labelWords(label)).toContain(words);
  });
});

describe('chooseGguf', () => {
  it('takes Q4_K_M where nothing is said', () => {
    expect(choose().variant.path).toBe('x-Q4_K_M.gguf');
  });

  it('takes the most exact that fits where that does not, or is not there', () => {
    expect(choose({ variants: variants.filter(({ label }) => label !== 'Q4_K_M') }).variant.label).toBe(
      'Q8_0',
    );
    const without = variants.filter(({ label }) => label !== 'Q4_K_M');
    expect(choose({ variants: without, fits: ({ size }) => size < 700 }).variant.label).toBe('Q6_K');
    expect(choose({ fits: ({ size }) => size < 300 }).variant.label).toBe('IQ2_XXS');
    expect(choose({ fits: () => false })).toMatchObject({
      variant: { label: 'IQ2_XXS' },
      reason: expect.stringContaining('none fits'),
    });
  });

  it('prefers what can be served', () => {
    expect(choose({ serves: ({ label }) => label === 'Q8_0' }).variant.label).toBe('Q8_0');
  });

  it.each([
    ['q6_k', 'x-Q6_K.gguf'],
    ['x-Q8_0.gguf', 'x-Q8_0.gguf'],
    ['x-Q8_0', 'x-Q8_0.gguf'],
    ['BF16/x-BF16-00001-of-00002.gguf', 'BF16/x-BF16-00001-of-00002.gguf'],
    ['x-BF16-00002-of-00002.gguf', 'BF16/x-BF16-00001-of-00002.gguf'],
  ])('takes what is asked for: %s', (wanted, path) => {
    expect(choose({ wanted }).variant.path).toBe(path);
  });

  it('refuses what is not there, is no model, or is not the only one', () => {
    expect(() => choose({ wanted: 'Q5_K_M' })).toThrow('o/x has no GGUF file Q5_K_M');
    expect(() => choose({ wanted: 'mmproj-x-F16.gguf' })).toThrow('is no model but a tower');
    const twice = ggufVariants([file('a-Q8_0.gguf'), file('b-Q8_0.gguf')]);
    expect(() => choose({ variants: twice, wanted: 'Q8_0' })).toThrow('o/x has several files of Q8_0');
    expect(() => choose({ variants: [] })).toThrow('o/x has no model in GGUF');
  });
});

describe('isGgufOnly', () => {
  it('is false where other weights lie beside', () => {
    expect(isGgufOnly(FILES)).toBe(true);
    expect(isGgufOnly([...FILES, file('model.safetensors')])).toBe(false);
    expect(isGgufOnly([file('config.json')])).toBe(false);
  });
});
