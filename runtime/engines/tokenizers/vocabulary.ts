import type { Json } from '../repository/model-folder.js';
import { tokenBytes } from './token-bytes.js';
import type { TokenModel } from './token-model.js';
import { type SPECIAL_TOKENS, specialTexts, type TokenizerJson, tokenText } from './tokenizer-json.js';

/** Tokens by their text and the other way round, added ones included. */
export interface Vocabulary {
  /** Id of a token. */
  idOf(token: string): number | undefined;
  /** Above all ids. */
  readonly idLimit: number;
  /** Text of a token as the vocabulary has it; undefined for an id without one. */
  tokenOf(id: number): string | undefined;
  /** Tokens that look like this. */
  tokensLike(pattern: RegExp): string[];
  /** UTF-8 bytes that a token stands for by itself; part of a character where the vocabulary has such tokens. */
  bytesOf(id: number): number[];
  /** Id of a token that the configuration names, such as `mask_token`. */
  namedId(name: (typeof SPECIAL_TOKENS)[number]): number | undefined;
  /** Ids of the tokens that the configuration names as special (all_special_ids). */
  readonly specialIds: ReadonlySet<number>;
  /** True where tokens that go on with a word are marked (`##`). */
  readonly marksSubwords: boolean;
}

export interface VocabularySettings {
  json: TokenizerJson;
  model: TokenModel;
  /** tokenizer_config.json, with what Python's classes add to it. */
  config: Json;
}

export function createVocabulary({ json, model, config }: VocabularySettings): Vocabulary {
  const added = new Map(json.added_tokens.map(({ content, id }) => [content, id]));
  const contents = new Map(json.added_tokens.map(({ content, id }) => [id, content]));
  const idOf = (token: string) => added.get(token) ?? model.ids.get(token);
  return {
    idOf,
    idLimit: limitOf(contents.keys(), model.tokens.keys()),
    tokenOf: (id) => contents.get(id) ?? model.tokens.get(id),
    tokensLike: (pattern) =>
      [...new Set([...added.keys(), ...model.ids.keys()])].filter((one) => pattern.test(one)),
    bytesOf(id) {
      const content = contents.get(id);
      if (content !== undefined) return [...new TextEncoder().encode(content)];
      return tokenBytes(json.decoder, model.tokens.get(id) ?? '');
    },
    namedId: (name) => idOf(tokenText(config[name])),
    specialIds: specialIdsOf(json, config),
    marksSubwords: marksSubwords(json),
  };
}

function limitOf(...lists: Iterable<number>[]): number {
  let limit = 0;
  for (const ids of lists) for (const id of ids) limit = Math.max(limit, id + 1);
  return limit;
}

function specialIdsOf(json: TokenizerJson, config: Json): Set<number> {
  const special = specialTexts(config);
  return new Set(json.added_tokens.filter(({ content }) => special.has(content)).map(({ id }) => id));
}

function marksSubwords({ model }: TokenizerJson): boolean {
  const prefix = model['continuing_subword_prefix'] ?? (model.type === 'WordPiece' ? '##' : '');
  return prefix !== '';
}
