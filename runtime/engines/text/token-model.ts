import { RunError } from '../../core/errors.js';
import { library } from './library.js';
import type { TokenizerJson } from './tokenizer-json.js';

/** The vocabulary, and how a word is cut into its tokens. */
export interface TokenModel {
  /** Ids of one word. */
  tokenize(word: string): number[];
  /** Id to token, without the added ones. */
  tokens: ReadonlyMap<number, string>;
  ids: ReadonlyMap<string, number>;
}

type ModelJson = TokenizerJson['model'];

/** Cuts one word into tokens, which need not be in the vocabulary. */
type Cut = (word: string) => string[];

/** @throws RunError `not_ready` for a model that we can't compute */
export function createTokenModel(json: ModelJson): TokenModel {
  const rows: [string, number][] = Array.isArray(json.vocab)
    ? json.vocab.map(([token], id) => [token, id])
    : Object.entries(json.vocab);
  const ids = new Map(rows);
  const kind = kindOf(json);
  const cut = CUTTERS[kind]?.(json);
  if (!cut) throw new RunError('not_ready', `tokenizer.json: model ${kind} is not supported`);
  const unknown = unknownId(json, ids);
  const fallback = json['byte_fallback'] === true;
  const idsOf = (token: string): number[] => {
    const id = ids.get(token);
    if (id !== undefined) return [id];
    const bytes = fallback ? byteIds(token, ids) : undefined;
    return bytes ?? (unknown === undefined ? [] : [unknown]);
  };
  return {
    ids,
    tokens: new Map(rows.map(([token, id]) => [id, token])),
    tokenize: (word) => cut(word).flatMap(idsOf),
  };
}

/** Old files don't name the kind. */
function kindOf(json: ModelJson): string {
  if (json.type !== undefined) return json.type;
  if (Array.isArray(json.vocab)) return 'Unigram';
  if ('merges' in json) return 'BPE';
  return 'continuing_subword_prefix' in json ? 'WordPiece' : 'WordLevel';
}

const CUTTERS: Record<string, (json: ModelJson) => Cut> = {
  BPE(json) {
    if (json['continuing_subword_prefix']) {
      throw new RunError('not_ready', 'tokenizer.json: BPE with continuing_subword_prefix is not supported');
    }
    const model = new library.BPE(json);
    // One word at a time: unknown tokens are fused within a word only.
    return (word) => model([word]);
  },
  WordPiece(json) {
    const model = new library.WordPiece(json);
    return (word) => model([word]);
  },
  Unigram(json) {
    const model = new library.Unigram(json, '');
    return (word) => model([word]);
  },
  WordLevel: () => (word) => [word],
};

function unknownId(json: ModelJson, ids: ReadonlyMap<string, number>): number | undefined {
  const id = json['unk_id'];
  return typeof id === 'number' ? id : ids.get(String(json['unk_token']));
}

function byteIds(token: string, ids: ReadonlyMap<string, number>): number[] | undefined {
  const found = Array.from(new TextEncoder().encode(token), (byte) =>
    ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`),
  );
  return found.every((id) => id !== undefined) ? found : undefined;
}
