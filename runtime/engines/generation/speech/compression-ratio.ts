import { deflatedSize } from './deflate/deflated-size.js';

/**
 * How much shorter tokens become when they are compressed (WhisperGenerationMixin._retrieve_compression_ratio): each is as
 * many bytes as the vocabulary needs, the lowest first.
 */
export function compressionRatio(tokens: readonly number[], vocabularySize: number): number {
  const width = Math.floor(Math.log2(vocabularySize) / 8) + 1;
  const bytes = Uint8Array.from(
    tokens.flatMap((token) => Array.from({ length: width }, (_, i) => (token / 2 ** (8 * i)) & 0xff)),
  );
  return bytes.length / deflatedSize(bytes);
}
