import { RunError } from '../../../core/errors.js';
import type { LlamaVocabulary, SpecialName } from '../llama.js';
import { type Bound, inBackground, type Pointer } from './bind.js';
import type { Functions } from './functions.js';

const KINDS = ['none', 'spm', 'bpe', 'wpm', 'ugm', 'rwkv', 'plamo2'];
const SPECIAL: readonly SpecialName[] = ['bos', 'eos', 'eot', 'sep', 'pad', 'mask', 'nl'];

/** Bytes of most tokens. */
const PIECE_BYTES = 128;

/** @param prefix `tokenizer.ggml.add_space_prefix` of the file */
export function createNativeVocabulary(
  { functions }: Bound,
  vocab: Pointer,
  prefix: string | undefined,
): LlamaVocabulary {
  const size = functions.llama_vocab_n_tokens(vocab) as number;
  const kind = KINDS[functions.llama_vocab_type(vocab) as number] ?? 'unknown';
  // Of files without a vocabulary nothing may be asked: the process would end.
  const hasTokens = kind !== 'none';
  let room = Buffer.alloc(PIECE_BYTES);
  const piece = (id: number, special: boolean): Uint8Array => {
    if (!hasTokens) return new Uint8Array(0);
    const write = () => functions.llama_token_to_piece(vocab, id, room, room.length, 0, special) as number;
    let length = write();
    if (length < 0) {
      room = Buffer.alloc(-length);
      length = write();
    }
    return Uint8Array.from(room.subarray(0, length));
  };
  const tokenizing = (text: string, special: boolean) => {
    if (!hasTokens)
      throw new RunError('unprocessable', 'this file has no tokenizer: only prompts of tokens can be read');
    const bytes = Buffer.from(text);
    // A token is a byte at least, but for what stands around the text.
    const ids = new Int32Array(bytes.length + 8);
    return { ids, args: [vocab, bytes, bytes.length, ids, ids.length, special, true] };
  };
  return {
    ...{ size, piece },
    kind,
    addsPrefixSpace: prefix === undefined ? kind === 'spm' : prefix === 'true',
    addsBos: functions.llama_vocab_get_add_bos(vocab) as boolean,
    addsEos: functions.llama_vocab_get_add_eos(vocab) as boolean,
    addsSep: functions.llama_vocab_get_add_sep(vocab) as boolean,
    special: specialOf(functions, vocab),
    tokenize(text, special) {
      const { args, ids } = tokenizing(text, special);
      return counted(ids, functions.llama_tokenize(...args) as number);
    },
    async tokenizeAside(text) {
      const { args, ids } = tokenizing(text, false);
      return counted(ids, await inBackground<number>(functions.llama_tokenize, ...args));
    },
    text: (id) => (!hasTokens ? '' : ((functions.llama_vocab_get_text(vocab, id) as string | null) ?? '')),
    attributes: (id) => (!hasTokens ? 0 : (functions.llama_vocab_get_attr(vocab, id) as number)),
    ends: (id) => hasTokens && (functions.llama_vocab_is_eog(vocab, id) as boolean),
  };
}

function counted(ids: Int32Array, count: number): number[] {
  if (count < 0)
    throw new RunError('engine_failed', 'llama.cpp makes more tokens of a text than it has bytes');
  return Array.from(ids.subarray(0, count));
}

function specialOf(functions: Functions, vocab: Pointer): Partial<Record<SpecialName, number>> {
  const found = SPECIAL.map((name) => [name, functions[`llama_vocab_${name}`](vocab) as number] as const);
  return Object.fromEntries(found.filter(([, id]) => id >= 0));
}
