import { type Json, readJson, readOptionalJson } from '../model-folder.js';
import { cleanUp } from './clean-up.js';
import { BYTE_TOKEN, createDecoder } from './decoders.js';
import { BARE, layoutsOf, specialCount } from './layout.js';
import { asPythonLoads, type TokenizerFiles } from './python-loading.js';
import {
  type Encoded,
  type RowOptions,
  rowOf,
  type Texts,
  type TracedRow,
  tracedRows,
  type WindowOptions,
} from './rows.js';
import { createTokenize, type Tokenize, type Tokens } from './tokenize.js';
import { tokenBytes } from './token-bytes.js';
import { createTokenModel, type TokenModel } from './token-model.js';
import { trimsOf } from './trim-offsets.js';
import { type Component, SPECIAL_TOKENS, type TokenizerJson, tokenText } from './tokenizer-json.js';

export type { Encoded, RowOptions, TracedRow } from './rows.js';
export type { Tokens } from './tokenize.js';

export interface EncodeOptions extends RowOptions {
  /** A second text, after the first one. */
  pair?: string | undefined;
  /** False: the text as it stands (a rendered chat template holds its own special tokens). */
  specialTokens?: boolean | undefined;
}

export interface DecodeOptions {
  /** Joins punctuation to the word before it; default: `clean_up_tokenization_spaces` of the repository. */
  cleanUp?: boolean | undefined;
  /** Default true. */
  skipSpecialTokens?: boolean | undefined;
}

export interface TextTokenizer {
  /** Tokenises as Python's fast tokenizers do: cut texts keep their special tokens. */
  encode(text: string, options?: EncodeOptions): Encoded;
  /** First half of `encode`: tokens of one text, for those that use them in many rows. */
  tokenize: Tokenize;
  /**
   * Second half of `encode`: one or two texts as a row.
   * @throws RunError 422 when the text that may be cut is too short for that
   */
  row(texts: Texts<Tokens>, options?: RowOptions): Encoded;
  /**
   * Rows that know where their tokens come from: one, or one for each window over the text that doesn't fit.
   * @param texts tokens with their traces
   * @throws RunError 422 as `row`, and when windows share too much to go on
   */
  tracedRows(texts: Texts<Tokens>, options?: WindowOptions): Iterable<TracedRow>;
  /** How many special tokens stand around one text or two. */
  specialCount(texts: 1 | 2): number;
  /** Text of the ids. */
  decode(ids: readonly number[], options?: DecodeOptions): string;
  /**
   * How many tokens at the end are bytes of a run that is still open: what they stand for is certain only when the run
   * ends. 0 for tokenizers without byte tokens.
   */
  openBytes(ids: readonly number[]): number;
  /** Text of tokens as they are written in the vocabulary (convert_tokens_to_string). */
  join(tokens: string[]): string;
  /** True where tokens that go on with a word are marked (`##`). */
  readonly marksSubwords: boolean;
  /** Id of a token of the vocabulary, added ones included. */
  idOf(token: string): number | undefined;
  /** Text of a token as the vocabulary has it; undefined for an id without one. */
  tokenOf(id: number): string | undefined;
  /** Tokens of the vocabulary that look like this. */
  tokensLike(pattern: RegExp): string[];
  /** UTF-8 bytes that a token stands for by itself; part of a character where the vocabulary has such tokens. */
  bytesOf(id: number): number[];
  /** Id of a token that the configuration names, such as `mask_token`. */
  namedId(name: (typeof SPECIAL_TOKENS)[number]): number | undefined;
  /** Which side Python pads on, which also decides which text of a pair comes first in question answering. */
  readonly paddingSide: 'left' | 'right';
  /** Ids of the tokens that the configuration names as special (all_special_ids). */
  readonly specialIds: ReadonlySet<number>;
  /** `model_max_length`, where the repository sets a real one. */
  readonly modelMaxLength: number | undefined;
  /** tokenizer_config.json, with what Python's classes add to it. */
  readonly config: Json;
}

/** Python writes "no limit" as 1e30. */
const NO_LIMIT = 1e20;

/** Reads the tokenizer files of a model folder. `lowerCase` puts lower-casing before its normalizer. */
export async function loadTokenizer(
  dir: string,
  { lowerCase = false }: { lowerCase?: boolean } = {},
): Promise<TextTokenizer> {
  const [json, config, specialTokens, model] = await Promise.all([
    readJson(dir, 'tokenizer.json'),
    readOptionalJson(dir, 'tokenizer_config.json'),
    readOptionalJson(dir, 'special_tokens_map.json'),
    readOptionalJson(dir, 'config.json'),
  ]);
  return createTokenizer({
    json: json as unknown as TokenizerJson,
    config: config ?? {},
    ...{ specialTokens, model, lowerCase },
  });
}

/** As sentence-transformers' do_lower_case does to a tokenizer that doesn't lower-case already. */
function lowerCased(json: TokenizerJson): TokenizerJson {
  const { normalizer } = json;
  const steps = normalizer?.type === 'Sequence' ? (normalizer['normalizers'] as Component[]) : [normalizer];
  const given = steps.filter((step) => step !== null);
  if (given.some((step) => step.type === 'Lowercase')) return json;
  return { ...json, normalizer: { type: 'Sequence', normalizers: [{ type: 'Lowercase' }, ...given] } };
}

/** @throws RunError `not_ready` for a component of tokenizer.json that we can't compute */
export function createTokenizer(files: TokenizerFiles): TextTokenizer {
  const { json: loaded, config } = asPythonLoads(files);
  const json = files.lowerCase ? lowerCased(loaded) : loaded;
  const model = createTokenModel(json.model);
  const tokenize = createTokenize({ json, model, splitSpecial: config['split_special_tokens'] === true });
  const layouts = layoutsOf(json.post_processor);
  const trims = trimsOf(json.post_processor);
  const left = cutsLeft(files);
  const row = (texts: Texts<Tokens>, { single, pair } = layouts, options: RowOptions = {}) =>
    rowOf(texts, { ...options, layout: texts.length === 1 ? single : pair, left });
  const limit = config['model_max_length'] ?? config['max_len'];
  const join = createDecoder(json.decoder);
  const decode = createDecode(json, model);
  const isByte = byteTest(json, model);
  const added = new Map(json.added_tokens.map(({ content, id }) => [content, id]));
  const contents = new Map(json.added_tokens.map(({ content, id }) => [id, content]));
  const idOf = (token: string) => added.get(token) ?? model.ids.get(token);
  const special = new Set(json.added_tokens.filter((token) => token.special).map(({ id }) => id));
  const cleansUp = config['clean_up_tokenization_spaces'] === true;
  return {
    config,
    specialIds: specialIdsOf(json, config),
    modelMaxLength: typeof limit === 'number' && limit > 0 && limit < NO_LIMIT ? limit : undefined,
    encode(text, { pair, specialTokens = true, ...options } = {}) {
      // What is cut on the right need not be computed.
      const enough = left || pair !== undefined ? undefined : options.maxLength;
      const first = tokenize(text, { enough });
      const texts: Texts<Tokens> = pair === undefined ? [first] : [first, tokenize(pair)];
      return row(texts, specialTokens ? layouts : BARE, options);
    },
    join: (tokens) => join(tokens).join(''),
    marksSubwords: marksSubwords(json),
    idOf,
    tokensLike: (pattern) =>
      [...new Set([...added.keys(), ...model.ids.keys()])].filter((one) => pattern.test(one)),
    tokenOf: (id) => contents.get(id) ?? model.tokens.get(id),
    bytesOf(id) {
      const content = contents.get(id);
      if (content !== undefined) return [...new TextEncoder().encode(content)];
      return tokenBytes(json.decoder, model.tokens.get(id) ?? '');
    },
    namedId: (name) => idOf(tokenText(config[name])),
    paddingSide: paddingSideOf(files, config),
    tokenize,
    row: (texts, options) => row(texts, layouts, options),
    tracedRows(texts, options = {}) {
      const layout = texts.length === 1 ? layouts.single : layouts.pair;
      return tracedRows(texts, { ...options, layout, left, trims });
    },
    specialCount: (texts) => specialCount(texts === 1 ? layouts.single : layouts.pair),
    decode(ids, options = {}) {
      const text = decode(ids, options.skipSpecialTokens ?? true);
      return (options.cleanUp ?? cleansUp) ? cleanUp(text) : text;
    },
    openBytes(ids) {
      // Special tokens leave no text, so a run goes on across them.
      const run = ids.slice(ids.findLastIndex((id) => !isByte(id) && !special.has(id)) + 1);
      return run.some(isByte) ? run.length : 0;
    },
  };
}

function createDecode(
  json: TokenizerJson,
  { tokens }: TokenModel,
): (ids: readonly number[], skipSpecial: boolean) => string {
  const added = new Map(json.added_tokens.map((token) => [token.id, token]));
  const decode = createDecoder(json.decoder);
  return (ids, skipSpecial) => {
    const kept: string[] = [];
    for (const id of ids) {
      const token = added.get(id);
      const content = token?.content ?? tokens.get(id);
      if (content !== undefined && !(skipSpecial && token?.special)) kept.push(content);
    }
    return decode(kept).join('');
  };
}

/** Whether a token is a byte for the decoder `ByteFallback`. */
function byteTest(json: TokenizerJson, { tokens }: TokenModel): (id: number) => boolean {
  if (!JSON.stringify(json.decoder ?? null).includes('"ByteFallback"')) return () => false;
  return (id) => BYTE_TOKEN.test(tokens.get(id) ?? '');
}

function specialIdsOf(json: TokenizerJson, config: Json): Set<number> {
  const extra = (config['additional_special_tokens'] ?? []) as unknown[];
  const named = new Set([...SPECIAL_TOKENS.map((name) => config[name]), ...extra].map(tokenText));
  return new Set(json.added_tokens.filter(({ content }) => named.has(content)).map(({ id }) => id));
}

function cutsLeft({ config, json }: TokenizerFiles): boolean {
  const truncation = (json as unknown as Json)['truncation'] as { direction?: string } | null | undefined;
  return String(config['truncation_side'] ?? truncation?.direction).toLowerCase() === 'left';
}

/** The class's own side comes last. */
function paddingSideOf({ config, json }: TokenizerFiles, merged: Json): 'left' | 'right' {
  const padding = (json as unknown as Json)['padding'] as { direction?: string } | null | undefined;
  const side = config['padding_side'] ?? padding?.direction ?? merged['padding_side'];
  return String(side).toLowerCase() === 'left' ? 'left' : 'right';
}

function marksSubwords({ model }: TokenizerJson): boolean {
  const prefix = model['continuing_subword_prefix'] ?? (model.type === 'WordPiece' ? '##' : '');
  return prefix !== '';
}
