import { decoderIdsOf } from '../../../../../../runtime/engines/encoders/text/encoder/decoder-ids.js';

test('a start token, then the text without its last token', () => {
  expect(decoderIdsOf({ model_type: 'bart', decoder_start_token_id: 2 })([0, 5, 6, 2])).toEqual([2, 0, 5, 6]);
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
  expect(decoderIdsOf({ model_type: 'mbart', pad_token_id: 1 })(ids)).toEqual(expected);
});

test.each([{ model_type: 't5', decoder_start_token_id: 0 }, { model_type: 'bart' }])(
  '%j makes none',
  (config) => {
    expect(() => decoderIdsOf(config)).toThrow(`which a ${config.model_type} makes of no text`);
  },
);
