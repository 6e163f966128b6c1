import { decoderIdsOf } from '../../../../../../runtime/engines/encoders/text/encoder/decoder-ids.js';

test('a start token, then the text without its last token', () => {
  expect(decoderIdsOf({ decoder_start_token_id: 2 }, 'shifted')([0, 5, 6, 2])).toEqual([2, 0, 5, 6]);
});

test.each<[ids: number[], expected: number[]]>([
  [
    [5, 6, 2, 9],
    [9, 5, 6, 2],
  ],
  // Counted, not looked for.
  [
    [5, 1, 2, 9],
    [2, 5, 1, 2],
  ],
])('the last token by the number of those that are no padding: %j', (ids, expected) => {
  expect(decoderIdsOf({ pad_token_id: 1 }, 'rotated')(ids)).toEqual(expected);
});

test.each([
  ['no way of its own', { decoder_start_token_id: 0 }, undefined],
  ['no start token', {}, 'shifted'],
] as const)('a model with %s makes none', (_, config, input) => {
  expect(() => decoderIdsOf(config, input)).toThrow('which this model makes of no text');
});
