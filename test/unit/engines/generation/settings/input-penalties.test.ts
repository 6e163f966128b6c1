import {
  refuseInputPenalties,
  withoutInputPenalties,
} from '../../../../../runtime/engines/generation/settings/input-penalties.js';

test('a repository’s penalties of the input are left out', () => {
  const given = { encoder_repetition_penalty: 1.5, encoder_no_repeat_ngram_size: 2, repetition_penalty: 1.1 };
  expect(withoutInputPenalties(given)).toEqual({ repetition_penalty: 1.1 });
});

test('a request that asks for one is refused', () => {
  expect(() => refuseInputPenalties({ encoder_no_repeat_ngram_size: 2 })).toThrow(
    'params.encoder_no_repeat_ngram_size',
  );
  expect(() => refuseInputPenalties({ encoder_repetition_penalty: null })).not.toThrow();
});
