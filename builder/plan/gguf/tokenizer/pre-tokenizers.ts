import { CONTRACTIONS, tiktokenPieces } from '../../../../runtime/core/byte-pair-pieces.js';
import type { Json } from '../facts.js';

/** How a text is cut before its pairs of bytes are merged, as tokenizer.json has it. */
export interface PreTokenizer {
  normalizer: Json | null;
  pre: Json;
  /** Words of the vocabulary stay whole, whatever the merges say. */
  ignoreMerges: boolean;
  /** A text begins with the token of beginnings where the metadata don't say. */
  addBos: boolean;
}

const bytes = (useRegex: boolean): Json => ({
  ...{ type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: useRegex },
});

const sequence = (...pretokenizers: Json[]): Json => ({ type: 'Sequence', pretokenizers });

const split = (Regex: string): Json => ({
  type: 'Split',
  pattern: { Regex },
  behavior: 'Isolated',
  invert: false,
});

const usual = { normalizer: null, ignoreMerges: false, addBos: false } as const;

const by = (...patterns: string[]): PreTokenizer => ({
  ...usual,
  pre: sequence(...patterns.map(split), bytes(false)),
});

const MARKED = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const SMALL = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
/** Words by capital and small letters. */
const byCase = (ending: string, digits: string, slash: string): string =>
  String.raw`[^\r\n\p{L}\p{N}]?${MARKED}*${SMALL}+${ending}|[^\r\n\p{L}\p{N}]?${MARKED}+${SMALL}*${ending}|${digits}| ?[^\s\p{L}\p{N}]+[\r\n${slash}]*|\s*[\r\n]+|\s+(?!\S)|\s+`;

/** Seed's: breaks of lines stand for themselves. */
const SEED = String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+`;

const gpt2: PreTokenizer = { ...usual, pre: bytes(true) };
const digits: PreTokenizer = {
  ...usual,
  pre: sequence({ type: 'Digits', individual_digits: true }, bytes(true)),
};
const llama3: PreTokenizer = {
  ...by(tiktokenPieces({ digits: String.raw`\p{N}{1,3}` })),
  ignoreMerges: true,
  addBos: true,
};
const qwen2: PreTokenizer = {
  ...by(tiktokenPieces({ digits: String.raw`\p{N}` })),
  normalizer: { type: 'NFC' },
};
const tiktoken100: PreTokenizer = by(tiktokenPieces({ digits: String.raw`\p{N}{1,3}` }));

/** By `tokenizer.ggml.pre`: those whose tokenizer.json is known. */
export const PRE_TOKENIZERS: Readonly<Record<string, PreTokenizer>> = {
  ...{ 'gpt-2': gpt2, 'phi-2': gpt2, olmo: gpt2 },
  ...{ 'llama-bpe': llama3, llama3, 'llama-v3': llama3, lfm2: llama3 },
  ...{ qwen2, 'deepseek-r1-qwen': { ...qwen2, normalizer: null } },
  ...{ starcoder: digits, refact: digits, smollm: digits },
  'command-r': { ...digits, normalizer: { type: 'NFC' }, addBos: true },
  ...{ 'smaug-bpe': tiktoken100, 'chatglm-bpe': tiktoken100, glm4: { ...tiktoken100, ignoreMerges: true } },
  'seed-coder': by(SEED),
  ...{ dbrx: tiktoken100, 'gpt-4o': by(byCase(`${CONTRACTIONS}?`, String.raw`\p{N}{1,3}`, '/')) },
  tekken: { ...by(byCase('', String.raw`\p{N}`, '/')), ignoreMerges: true, addBos: true },
};
