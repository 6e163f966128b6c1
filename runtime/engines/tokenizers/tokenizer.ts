import { checkTokenizerJson } from './check-json.js';
import { type Json, readOptionalJson } from '../repository/model-folder.js';
import { readOptionalModelConfig } from '../repository/model-config.js';
import { createDetokenizer, type Detokenizer } from './detokenize.js';
import {
  NO_SPECIAL_TOKENS,
  inOneSegment,
  type EncodingTemplates,
  encodingTemplates,
  specialCount,
} from './encoding-template.js';
import { applyPythonLoading } from './python-loading.js';
import { tokenizerFromVocabulary } from './from-vocabulary.js';
import type { TokenizerFiles } from './tokenizer-json.js';
import {
  type Encoding,
  type EncodingOptions,
  createEncoding,
  type TextOrPair,
  type OffsetEncoding,
  createOffsetEncodings,
  type WindowOptions,
} from './encoding.js';
import { createTokenize, type Tokenize, type TokenizedText } from './tokenize.js';
import { createTokenModel } from './token-model.js';
import { trimsOf } from './trim-offsets.js';
import { createVocabulary, type Vocabulary } from './vocabulary.js';

export type { Encoding, EncodingOptions, OffsetEncoding } from './encoding.js';
export type { TokenizedText } from './tokenize.js';

export interface EncodeTextOptions extends EncodingOptions {
  /** A second text, after the first one. */
  pair?: string | undefined;
  /** False: the text as it stands (a rendered chat template holds its own special tokens). */
  specialTokens?: boolean | undefined;
}

export interface TextTokenizer extends Vocabulary, Detokenizer {
  /** Tokenises as Python's fast tokenizers do: cut texts keep their special tokens. */
  encode(text: string, options?: EncodeTextOptions): Encoding;
  /** First half of `encode`: tokens of one text, for those that use them in many rows. */
  tokenize: Tokenize;
  /**
   * Second half of `encode`: one or two texts as a row.
   * @throws RunError 422 when the text that may be cut is too short for that
   */
  row(texts: TextOrPair<TokenizedText>, options?: EncodingOptions): Encoding;
  /**
   * Rows that know where their tokens come from: one, or one for each window over the text that doesn't fit.
   * @param texts tokens with their traces
   * @throws RunError 422 as `row`, and when windows share too much to go on
   */
  tracedRows(texts: TextOrPair<TokenizedText>, options?: WindowOptions): Iterable<OffsetEncoding>;
  /** How many special tokens stand around one text or two. */
  specialCount(texts: 1 | 2): number;
  /** Which side Python pads on, which also decides which text of a pair comes first in question answering. */
  readonly paddingSide: 'left' | 'right';
  /** `model_max_length`, where the repository sets a real one. */
  readonly modelMaxLength: number | undefined;
  /** tokenizer_config.json, with what Python's classes add to it. */
  readonly config: Json;
}

/** Python writes "no limit" as 1e30. */
const NO_LIMIT = 1e20;

export interface LoadTokenizerOptions {
  /** Put lower-casing before its normalizer. */
  lowerCase?: boolean;
}

/** Reads the tokenizer files of a model folder. */
export async function loadTokenizer(
  dir: string,
  { lowerCase = false }: LoadTokenizerOptions = {},
): Promise<TextTokenizer> {
  const [json, config, specialTokens, model] = await Promise.all([
    readOptionalJson(dir, 'tokenizer.json'),
    readOptionalJson(dir, 'tokenizer_config.json'),
    readOptionalJson(dir, 'special_tokens_map.json'),
    readOptionalModelConfig(dir),
  ]);
  const settings = { config: config ?? {}, specialTokens, model };
  const made = json ? { json: checkTokenizerJson(json) } : await tokenizerFromVocabulary(dir, settings);
  return createTokenizer({ ...settings, ...made, lowerCase });
}

/** @throws RunError `not_ready` for a component of tokenizer.json that we can't compute */
export function createTokenizer(files: TokenizerFiles): TextTokenizer {
  const { json, config } = applyPythonLoading(files);
  const model = createTokenModel(json.model);
  const tokenize = createTokenize({ json, model, splitSpecial: config['split_special_tokens'] === true });
  const layouts = segmented(encodingTemplates(json.post_processor), config);
  const trims = trimsOf(json.post_processor);
  const left = cutsLeft(files);
  const row = (texts: TextOrPair<TokenizedText>, { single, pair } = layouts, options: EncodingOptions = {}) =>
    createEncoding(texts, { ...options, layout: texts.length === 1 ? single : pair, left });
  const limit = config['model_max_length'] ?? config['max_len'];
  return {
    ...createVocabulary({ json, model, config }),
    ...createDetokenizer(json, model, config),
    config,
    modelMaxLength: typeof limit === 'number' && limit > 0 && limit < NO_LIMIT ? limit : undefined,
    encode(text, { pair, specialTokens = true, ...options } = {}) {
      // What is cut on the right need not be computed.
      const { maxLength } = options;
      const isCut = !left && pair === undefined && options.truncation !== 'do_not_truncate';
      const enough = isCut ? maxLength : undefined;
      const first = tokenize(text, { enough });
      const texts: TextOrPair<TokenizedText> = pair === undefined ? [first] : [first, tokenize(pair)];
      return row(texts, specialTokens ? layouts : NO_SPECIAL_TOKENS, options);
    },
    paddingSide: paddingSideOf(files, config),
    tokenize,
    row: (texts, options) => row(texts, layouts, options),
    tracedRows(texts, options = {}) {
      const layout = texts.length === 1 ? layouts.single : layouts.pair;
      return createOffsetEncodings(texts, { ...options, layout, left, trims });
    },
    specialCount: (texts) => specialCount(texts === 1 ? layouts.single : layouts.pair),
  };
}

/** `model_input_names` says whether the model gets segment numbers. */
function segmented(layouts: EncodingTemplates, config: Json): EncodingTemplates {
  const names = config['model_input_names'];
  return Array.isArray(names) && !names.includes('token_type_ids') ? inOneSegment(layouts) : layouts;
}

function cutsLeft({ config, json }: TokenizerFiles): boolean {
  return String(config['truncation_side'] ?? json.truncation?.direction).toLowerCase() === 'left';
}

/** The class's own side comes last. */
function paddingSideOf({ config, json }: TokenizerFiles, merged: Json): 'left' | 'right' {
  const side = config['padding_side'] ?? json.padding?.direction ?? merged['padding_side'];
  return String(side).toLowerCase() === 'left' ? 'left' : 'right';
}
