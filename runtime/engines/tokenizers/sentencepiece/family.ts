import type { Json } from '../../repository/model-folder.js';
import type { Component } from '../tokenizer-json.js';
import type { TokenFlags } from './added-rows.js';
import type { SentencePieceModel } from './model-file.js';

export interface ModelRow {
  text: string;
  score: number;
}

/** What a class of transformers' tokenizers makes of a model of sentencepiece (convert_slow_tokenizer.py). */
export interface SentencePieceFamily {
  /** Tokens by their ids; absent: the model's pieces. */
  rows?(model: SentencePieceModel, settings: Json): ModelRow[];
  /** Id of the unknown token; absent: what the model says. */
  unknownId?(model: SentencePieceModel, settings: Json): number;
  /** What is in no piece becomes bytes, where the model has them. */
  bytes?: boolean;
  /** A tab that is no piece is the token of its byte, also as a part of others. */
  tabIsByte?: boolean;
  /** @param charsMap the model's own table, if it has one; absent: `plainNormalizer` */
  normalizer?(charsMap: Component[], settings: Json): Component | null;
  preTokenizer?(metaspace: Component, settings: Json): Component | null;
  decoder?(metaspace: Component): Component;
  /** Tokens around a text, and around two. */
  frame?(settings: Json): readonly [single: string, pair: string];
  /** The class has settings for the blank before a text, and for it behind special tokens (`legacy`). */
  choosesPrefix?: boolean;
  /** Marks of special tokens that are written as plain strings. */
  flags?: Readonly<Record<string, TokenFlags>>;
  /** Further special tokens; absent: additional_special_tokens. */
  further?(settings: Json): unknown[];
  specialPieces?: readonly string[];
  /** Defaults of the class that the model needs. */
  defaults?: Json;
}

/** What most classes do: the model's own table, no blanks at the end, runs of blanks as one. */
export function plainNormalizer(charsMap: Component[]): Component {
  return sequence([
    ...charsMap,
    { type: 'Strip', strip_left: false, strip_right: true },
    replace({ Regex: ' {2,}' }, '▁'),
  ]);
}

/** The older way: a blank goes before every stretch between special tokens, not only before the text. */
export function isLegacy(settings: Json): boolean {
  return settings['legacy'] !== false;
}

/** Whether a blank goes before the text; null in tokenizer_config.json is none. */
export function hasPrefix(settings: Json): boolean {
  return settings['add_prefix_space'] !== false && settings['add_prefix_space'] !== null;
}

export function sequence(normalizers: Component[]): Component {
  return { type: 'Sequence', normalizers };
}

export function replace(pattern: { String: string } | { Regex: string }, content: string): Component {
  return { type: 'Replace', pattern, content };
}
