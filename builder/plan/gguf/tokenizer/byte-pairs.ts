import { printable } from '../../../../runtime/core/printable.js';
import { type GgufFacts, type Json, LLAMA_REMEDY } from '../facts.js';
import { PRE_TOKENIZERS } from './pre-tokenizers.js';
import { type GgufVocabulary, KIND } from './vocabulary.js';

/**
 * tokenizer.json of a vocabulary of merged pairs of bytes.
 * @throws WeightsError for one that cuts words in a way that is not known by name
 */
export function bytePairs(facts: GgufFacts, vocabulary: GgufVocabulary): Json {
  const { tokens, merges } = vocabulary;
  const name = vocabulary.text('pre') ?? 'default';
  if (!Object.hasOwn(PRE_TOKENIZERS, name))
    throw facts.refuse(
      `cuts words by ${printable(name)} (tokenizer.ggml.pre), which is not known; known: ${Object.keys(PRE_TOKENIZERS).join(', ')}`,
      LLAMA_REMEDY,
    );
  const { normalizer, pre, ignoreMerges, addBos } = PRE_TOKENIZERS[name]!;
  const usual = { ...BYTE_LEVEL, trim_offsets: false };
  return {
    ...{ version: '1.0', truncation: null, padding: null },
    added_tokens: addedTokens(vocabulary),
    ...{ normalizer, pre_tokenizer: pre },
    post_processor: frame(vocabulary, addBos) ?? usual,
    decoder: BYTE_LEVEL,
    model: {
      ...{ type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null },
      ...{ end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, ignore_merges: ignoreMerges },
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: merges.map((merge) => pairOf(facts, merge)),
    },
  };
}

const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true };

/** Neither part is empty; bytes that are blanks have other characters. */
function pairOf(facts: GgufFacts, merge: unknown): [string, string] {
  const at = typeof merge === 'string' ? merge.indexOf(' ', 1) : -1;
  if (typeof merge !== 'string' || at < 0) throw facts.refuse('has a merge that is no pair');
  return [merge.slice(0, at), merge.slice(at + 1)];
}

/** Tokens that are found in a text before it is cut. */
export function addedTokens({ tokens, kinds }: GgufVocabulary): Json[] {
  const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  return tokens.flatMap((content, id) =>
    kinds[id] === KIND.control || kinds[id] === KIND.user
      ? [{ id, content, ...plain, special: kinds[id] === KIND.control }]
      : [],
  );
}

/** What stands around a text; undefined where nothing does. */
export function frame(vocabulary: GgufVocabulary, addBos: boolean, addEos = false): Json | undefined {
  const ends = (flag: string, otherwise: boolean, names: string[]) => {
    const id = names.map((name) => vocabulary.special(name)).find((one) => one !== undefined);
    return (vocabulary.flag(flag) ?? otherwise) && id !== undefined ? [id] : [];
  };
  const before = ends('add_bos_token', addBos, ['bos', 'cls']);
  const behind = ends('add_eos_token', addEos, ['eos', 'seperator']);
  if (before.length + behind.length === 0) return undefined;
  const special = (type: number) => (id: number) => ({
    SpecialToken: { id: vocabulary.tokens[id], type_id: type },
  });
  const sequence = (id: string, type: number) => ({ Sequence: { id, type_id: type } });
  const around = (id: string, type: number) => [
    ...before.map(special(type)),
    sequence(id, type),
    ...behind.map(special(type)),
  ];
  return {
    type: 'TemplateProcessing',
    single: around('A', 0),
    pair: [...around('A', 0), ...around('B', 1)],
    special_tokens: Object.fromEntries(
      [...before, ...behind].map((id) => {
        const token = vocabulary.tokens[id]!;
        return [token, { id: token, ids: [id], tokens: [token] }];
      }),
    ),
  };
}
