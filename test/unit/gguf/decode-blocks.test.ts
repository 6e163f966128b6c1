import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blockForm, decodeBlocks, floatsOfBlocks, packIntegers } from '../../../runtime/gguf/index.js';

/** Blocks, and what gguf-py makes of them (scripts/fixtures/gguf_blocks.py). */
const BLOCKS = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/gguf/blocks.json'), 'utf8'),
) as Record<string, { blocks: string; floats: string }>;

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));

describe.each(Object.entries(BLOCKS))('blocks of %s', (type, { blocks, floats }) => {
  const expected = new Float32Array(bytesOf(floats).buffer);

  it('are the numbers of the reference', () => {
    const found = floatsOfBlocks(type, bytesOf(blocks));
    expect(found).toHaveLength(expected.length);
    const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    found.forEach((value, i) => expect(Math.abs(value - expected[i]!)).toBeLessThanOrEqual(2e-7 * largest));
  });

  it('fit the integers that products read', () => {
    const { integers, scales } = decodeBlocks(type, bytesOf(blocks));
    const { bits, group } = blockForm(type)!;
    expect(scales).toHaveLength(integers.length / group);
    for (const value of integers) expect(value >= -(2 ** (bits - 1)) && value < 2 ** (bits - 1)).toBe(true);
    const packed = packIntegers(integers, bits);
    const read =
      bits === 8
        ? [...packed].map((byte) => byte - 128)
        : [...packed].flatMap((pair) => [(pair & 15) - 8, (pair >> 4) - 8]);
    expect(read).toEqual([...integers]);
  });
});

it.each(['IQ2_XXS', 'TQ2_0', 'F32', 'constructor'])('%s has no form', (type) => {
  expect(blockForm(type)).toBeUndefined();
});
