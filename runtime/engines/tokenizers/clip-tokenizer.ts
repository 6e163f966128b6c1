import { type Json, readJson, readOptionalJson, readOptionalText } from '../repository/model-folder.js';
import { createTokenizer, loadTokenizer, type TextTokenizer } from './tokenizer.js';
import { type AddedToken, specialTokensOf, type TokenizerJson, tokenText } from './tokenizer-json.js';

/** What CLIP's class takes for granted. */
const DEFAULTS = { bos_token: '<|startoftext|>', eos_token: '<|endoftext|>', unk_token: '<|endoftext|>' };

/** CLIP's own vocabulary: 49152 entries, of which 256 bytes stand twice and two tokens are special. */
const MOST_MERGES = 49152 - 256 - 2;

/**
 * CLIP's tokenizer from a folder: from tokenizer.json, or, as most repositories of diffusion models have it, from
 * vocab.json and merges.txt, as transformers converts these (CLIPConverter).
 * @throws RunError `not_ready` without either
 */
export async function loadClipTokenizer(dir: string): Promise<TextTokenizer> {
  if ((await readOptionalText(dir, 'tokenizer.json')) !== undefined) return loadTokenizer(dir);
  const [vocab, merges, config, specialTokens] = await Promise.all([
    readJson<Record<string, number>>(dir, 'vocab.json'),
    readOptionalText(dir, 'merges.txt'),
    readOptionalJson(dir, 'tokenizer_config.json'),
    readOptionalJson(dir, 'special_tokens_map.json'),
  ]);
  const settings = { ...DEFAULTS, ...specialTokens, ...config };
  return createTokenizer({ json: clipTokenizerJson(vocab, merges ?? '', settings), config: settings });
}

/** tokenizer.json as transformers would write it. */
export function clipTokenizerJson(
  vocab: Record<string, number>,
  merges: string,
  config: Json,
): TokenizerJson {
  const [bos, eos, unknown] = ['bos_token', 'eos_token', 'unk_token'].map((name) => tokenText(config[name]));
  const lines = merges
    .trim()
    .split('\n')
    .slice(1, MOST_MERGES + 1);
  return {
    added_tokens: addedTokens(vocab, config),
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'NFC' },
        { type: 'Replace', pattern: { Regex: String.raw`\s+` }, content: ' ' },
        { type: 'Lowercase' },
      ],
    },
    pre_tokenizer: { type: 'Sequence', pretokenizers: [WORDS, BYTES] },
    post_processor: {
      type: 'RobertaProcessing',
      sep: [eos, vocab[eos!]],
      cls: [bos, vocab[bos!]],
      trim_offsets: false,
      add_prefix_space: false,
    },
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      unk_token: unknown,
      end_of_word_suffix: '</w>',
      vocab,
      merges: lines.map((line) => line.trim().split(/\s+/)),
    },
  };
}

const WORDS = {
  type: 'Split',
  pattern: { Regex: String.raw`'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+` },
  behavior: 'Removed',
  invert: true,
};

const BYTES = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };

/** The special tokens, and those that the configuration lists with their ids. */
function addedTokens(vocab: Record<string, number>, config: Json): AddedToken[] {
  const { named, further } = specialTokensOf(config);
  const listed = Object.entries(
    (config['added_tokens_decoder'] ?? {}) as Record<string, Partial<AddedToken>>,
  );
  const plain = { single_word: false, lstrip: false, rstrip: false, normalized: true, special: true };
  const tokens = new Map<string, AddedToken>();
  for (const content of [...Object.values(named), ...further]) {
    const id = vocab[content];
    if (id !== undefined) tokens.set(content, { ...plain, content, id });
  }
  for (const [id, token] of listed) {
    const content = tokenText(token);
    if (content !== '') tokens.set(content, { ...plain, ...token, content, id: Number(id) });
  }
  return [...tokens.values()];
}
