import * as tokenizers from '@huggingface/tokenizers';

/** Cuts words into tokens; tokens need not be in the vocabulary. */
type LibraryModel = (words: string[]) => string[];
type LibraryDecoder = { decode_chain(tokens: string[]): string[] };

/**
 * The parts of @huggingface/tokenizers that compute as the Rust library does. The package exports them, but its
 * declarations don't resolve under Node's module rules.
 */
interface Library {
  /** `bpe` gives the stretches that a word falls into, known or not. */
  BPE: new (config: unknown) => { bpe(word: string): readonly string[] };
  WordPiece: new (config: unknown) => LibraryModel;
  /** Both translate a pattern of the Oniguruma kind to JavaScript's; that is what we use them for. */
  ReplaceNormalizer: new (config: unknown) => { pattern: RegExp | null };
  SplitPreTokenizer: new (config: unknown) => { pattern: RegExp | null };
  ReplaceDecoder: new (config: unknown) => LibraryDecoder;
  StripDecoder: new (config: unknown) => LibraryDecoder;
  CTCDecoder: new (config: unknown) => LibraryDecoder;
}

export const tokenizersLibrary = tokenizers as unknown as Library;
