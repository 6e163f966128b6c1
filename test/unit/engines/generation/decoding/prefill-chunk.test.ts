import { prefillChunkOf } from '../../../../../runtime/engines/generation/decoding/prefill-chunk.js';

test.each([
  ['small vocabularies are fed in the largest chunks', { vocab_size: 512 }, 256],
  ['scores of a chunk stay within 64 MiB', { vocab_size: 2 ** 17 }, 128],
  ['a chunk is never tiny', { vocab_size: 2 ** 24 }, 16],
  ['a vocabulary of 2^15 is taken where none is written', {}, 256],
  ['the vocabulary of the text model counts', { text_config: { vocab_size: 2 ** 18 } }, 64],
])('%s', (_, config, chunk) => {
  expect(prefillChunkOf(config)).toBe(chunk);
});
