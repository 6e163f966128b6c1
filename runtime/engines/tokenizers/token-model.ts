import { RunError } from '../../core/errors.js';
import { tokenizersLibrary } from './library.js';
import { markedPiece } from './marked-pieces.js';
import { createEncoder } from './sentencepiece/encode.js';
import type { SentencePieceModel } from './sentencepiece/model-file.js';
import type { TokenizerJson } from './tokenizer-json.js';
import { createUnigram } from './unigram.js';
import { type CutWord, type EmitToken, withWordCache } from './word-cache.js';

/** The vocabulary, and how a word is cut into its tokens. */
export interface TokenModel {
  readonly tokenize: CutWord;
  /** Id to token, without the added ones. */
  tokens: ReadonlyMap<number, string>;
  ids: ReadonlyMap<string, number>;
}

type ModelJson = TokenizerJson['model'];

interface Vocabulary {
  ids: ReadonlyMap<string, number>;
  /** Takes what is not in the vocabulary: as bytes where they can be, else as the unknown token. */
  unknown(text: string, start: number, take: EmitToken): void;
  unknownId: number | undefined;
}

/** @throws RunError `not_ready` for a model that we can't compute */
export function createTokenModel(json: ModelJson): TokenModel {
  const rows: [string, number][] = Array.isArray(json.vocab)
    ? json.vocab.map(([token], id) => [token, id])
    : Object.entries(json.vocab);
  const ids = new Map(rows);
  const kind = kindOf(json);
  const cutter = CUTTERS[kind];
  if (!cutter) throw new RunError('not_ready', `tokenizer.json: model ${kind} is not supported`);
  const tokenize = withWordCache(cutter(json, vocabularyOf(json, ids)));
  return { ids, tokens: new Map(rows.map(([token, id]) => [id, token])), tokenize };
}

/** Old files don't name the kind. */
function kindOf(json: ModelJson): string {
  if (json.type !== undefined) return json.type;
  if (Array.isArray(json.vocab)) return 'Unigram';
  if ('merges' in json) return 'BPE';
  return 'continuing_subword_prefix' in json ? 'WordPiece' : 'WordLevel';
}

function vocabularyOf(json: ModelJson, ids: ReadonlyMap<string, number>): Vocabulary {
  const given = json['unk_id'];
  const named = json['unk_token'];
  // Vocabularies hold words like "null", too.
  const unknownId =
    typeof given === 'number' ? given : typeof named === 'string' ? ids.get(named) : undefined;
  const fallback = json['byte_fallback'] === true;
  return {
    ids,
    unknownId,
    unknown(text, start, take) {
      const end = start + text.length;
      const bytes = fallback ? byteIds(text, ids) : undefined;
      if (bytes) for (const id of bytes) take(id, start, end);
      else if (unknownId !== undefined) take(unknownId, start, end);
    },
  };
}

type Cutter = (json: ModelJson, vocabulary: Vocabulary) => TokenModel['tokenize'];

const CUTTERS: Record<string, Cutter> = {
  BPE(json, { ids, unknown, unknownId }) {
    if (json['continuing_subword_prefix']) {
      throw new RunError('not_ready', 'tokenizer.json: BPE with continuing_subword_prefix is not supported');
    }
    const model = new tokenizersLibrary.BPE(json);
    const whole = json['ignore_merges'] === true;
    const suffix = String(json['end_of_word_suffix'] ?? '').length;
    const fuses = json['fuse_unk'] === true;
    return (word, take) => {
      const known = whole ? ids.get(word) : undefined;
      if (known !== undefined) return take(known, 0, word.length);
      const pieces = model.bpe(word);
      const runs = fuses && unknownId !== undefined ? fusing(unknownId, take) : { take, end: () => {} };
      let at = 0;
      for (const [i, piece] of pieces.entries()) {
        const end = at + piece.length - (i === pieces.length - 1 ? suffix : 0);
        const id = ids.get(piece);
        if (id === undefined) unknown(word.slice(at, end), at, runs.take);
        else runs.take(id, at, end);
        at = end;
      }
      runs.end();
    };
  },
  MarkedBPE(json, { ids, unknownId }) {
    const model = new tokenizersLibrary.BPE(json);
    return (word, take) => {
      const pieces = model.bpe(word);
      for (const [i, piece] of pieces.entries()) {
        const id = ids.get(markedPiece(piece, i === pieces.length - 1)) ?? unknownId;
        if (id !== undefined) take(id, 0, word.length);
      }
    };
  },
  WordPiece(json, { ids, unknownId }) {
    const model = new tokenizersLibrary.WordPiece(json);
    const prefix = String(json['continuing_subword_prefix'] ?? '##').length;
    return (word, take) => {
      const pieces = model([word]);
      let at = 0;
      for (const [i, piece] of pieces.entries()) {
        // A word that can't be cut is one unknown token.
        const end = pieces.length === 1 ? word.length : at + piece.length - (i > 0 ? prefix : 0);
        const id = ids.get(piece) ?? unknownId;
        if (id !== undefined) take(id, at, end);
        at = end;
      }
    };
  },
  Unigram(json, { ids, unknown, unknownId }) {
    const rows = json.vocab as [string, number][];
    const foreign = new Set(
      rows.flatMap(([token, score]) => (score === json['foreign_score'] ? [token] : [])),
    );
    const cut = createUnigram(
      rows.filter(([token]) => !foreign.has(token)),
      { exact: json['exact_scores'] === true },
    );
    return (word, take) => {
      // Neighbours that are not known are one piece, which may be in the list of ids all the same.
      let [at, open] = [0, 0];
      const close = () => {
        const text = word.slice(open, at);
        const id = ids.get(text);
        if (text !== '' && id !== undefined) take(id, open, at);
        else if (text !== '') unknown(text, open, take);
      };
      for (const piece of cut(word)) {
        const id = ids.get(piece);
        if (id !== undefined && id !== unknownId && !foreign.has(piece)) {
          close();
          take(id, at, at + piece.length);
          open = at + piece.length;
        }
        at += piece.length;
      }
      close();
    };
  },
  /** Cuts the text itself, blanks and all, so tokens don't know their places in it. */
  SentencePiece(json, { ids, unknownId }) {
    const cut = createEncoder(json['trained'] as SentencePieceModel);
    const hasCode = json['language_first'] === true;
    return (text, take) => {
      const [code = ''] = (hasCode && /^>>[^]*?<</.exec(text)) || [];
      if (code !== '') take(ids.get(code) ?? unknownId!, 0, text.length);
      for (const piece of cut(text.slice(code.length))) take(ids.get(piece) ?? unknownId!, 0, text.length);
    };
  },
  WordLevel: (_, { ids, unknownId }) => {
    return (word, take) => {
      const id = ids.get(word) ?? unknownId;
      if (id !== undefined) take(id, 0, word.length);
    };
  },
};

/** Hands neighbouring unknown tokens on as one. */
function fusing(unknownId: number, take: EmitToken): { take: EmitToken; end(): void } {
  let open: [number, number] | undefined;
  const end = () => {
    if (open) take(unknownId, ...open);
    open = undefined;
  };
  return {
    end,
    take(id, start, stop) {
      if (id === unknownId) open = [open?.[0] ?? start, stop];
      else {
        end();
        take(id, start, stop);
      }
    },
  };
}

function byteIds(token: string, ids: ReadonlyMap<string, number>): number[] | undefined {
  const found = Array.from(new TextEncoder().encode(token), (byte) =>
    ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`),
  );
  return found.every((id) => id !== undefined) ? found : undefined;
}
