/** Handles of models that read text and answer in one run. */

import type { Classification } from './scores.js';

export interface SequenceClassifier {
  /**
   * Runs the classification head over one text or two, cut with special tokens kept.
   * @throws RunError 422 when the one text that may be cut is too short for that, or none may be cut
   */
  classify(text: string, options?: ClassifyOptions): Promise<Classification>;
}

export interface ClassifyOptions {
  /** A second text, such as the passage to a question or the conclusion to a premise. */
  pair?: string | undefined;
  /** Longest token sequence, at most the model's own limit (the default). */
  maxLength?: number | undefined;
  /** Which of two texts is cut; the longer one first is the default. */
  truncation?: 'longest_first' | 'only_first' | 'only_second' | 'do_not_truncate' | undefined;
  /** False: nothing around the text. */
  specialTokens?: boolean | undefined;
  /** Filled up with padding to the longest input. */
  padded?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface FilledMask {
  /** Probability among the whole vocabulary. */
  score: number;
  /** Id of the token that stands in for the mask. */
  token: number;
  token_str: string;
  /** The text with the token in place; with its special tokens where it has several masks. */
  sequence: string;
}

export interface FillOptions {
  /** Rows for each mask. */
  topK: number;
  /** Only these tokens; a text that is no token stands for its first one. */
  targets?: readonly string[] | undefined;
  /** Refuse a text that is too long, instead of cutting it. */
  truncation?: 'do_not_truncate' | undefined;
  maxLength?: number | undefined;
  /** False: nothing around the text. */
  specialTokens?: boolean | undefined;
}

/** A token of the vocabulary that has a weight above 0. */
export interface SparseValue {
  index: number;
  value: number;
}

export interface MaskFiller {
  /** What stands for the missing token, e.g. `[MASK]`. */
  readonly maskToken: string;
  /**
   * The likeliest tokens for every mask of a text, best first, one list for each mask.
   * @throws RunError 400 no mask in the text, no token in the targets; 422 top_k beyond the vocabulary, or a text that is too
   * long and may not be cut
   */
  fill(text: string, options: FillOptions, signal: AbortSignal): Promise<FilledMask[][]>;
  /**
   * The vector of a text over the vocabulary, as SPLADE makes it; only of repositories that say how (SpladePooling).
   * @throws RunError 422 a text that is too long and may not be cut, a prompt that the repository has not
   */
  sparse?(
    text: string,
    options: Pick<FillOptions, 'truncation' | 'maxLength' | 'specialTokens'> &
      Pick<EmbedOptions, 'promptName'>,
    signal: AbortSignal,
  ): Promise<SparseValue[]>;
}

/** Logits of one premise and one hypothesis. */
export interface Entailment {
  entailment: number;
  contradiction: number;
}

export interface EntailmentClassifier {
  /**
   * Whether a premise entails each of the hypotheses. A long premise is cut, a hypothesis never.
   * @throws RunError 422 a hypothesis alone is longer than the model takes
   */
  entail(premise: string, hypotheses: readonly string[], signal: AbortSignal): Promise<Entailment[]>;
}

/** How the tokens of a word, or of several, become one entity: the names of Python's pipeline. */
export type Aggregation = 'none' | 'simple' | 'first' | 'average' | 'max';

export interface Entity {
  /** The label; with an aggregation without B- and I-. */
  label: string;
  score: number;
  /** The token, or the text of the tokens together. */
  word: string;
  /** Code points [start, end) of the text. */
  start: number;
  end: number;
  /** Position of the token among all of its row; undefined for several tokens. */
  index?: number | undefined;
}

export interface TagOptions {
  aggregation: Aggregation;
  /** Labels that are left out. */
  ignoreLabels: readonly string[];
  /** Tokens that windows share; absent: a long text is cut. */
  stride?: number | undefined;
}

export interface TokenClassifier {
  /**
   * Labels the tokens of a text.
   * @throws RunError 422 a stride that leaves windows no room
   */
  tag(text: string, options: TagOptions, signal: AbortSignal): Promise<Entity[]>;
}

export interface ExtractedAnswer {
  score: number;
  /** Code points [start, end) of the context. */
  start: number;
  end: number;
  answer: string;
}

export interface AnswerOptions {
  topK: number;
  /** Maximum answer length in tokens. */
  maxAnswerLength: number;
  /** Tokens of a window, the question included; 384 or the model's limit by default. */
  maxLength?: number | undefined;
  /** Tokens of the context that windows share; at most 128 by default. */
  stride?: number | undefined;
  /** True: "no answer" is an answer too, as an empty string. */
  mayBeImpossible: boolean;
  /** Widens answers to whole words. */
  wholeWords: boolean;
}

export interface QuestionAnswerer {
  /**
   * Spans of the context that answer the question, best first.
   * @throws RunError 400 a stride beyond the window; 422 a question that leaves the context no room
   */
  answer(
    texts: { question: string; context: string },
    options: AnswerOptions,
    signal: AbortSignal,
  ): Promise<ExtractedAnswer[]>;
}

/** A word of a page, and its box: left, top, right, bottom, each 0 to 1000. */
export interface WordBox {
  word: string;
  box: [number, number, number, number];
}

export interface DocumentSpan {
  score: number;
  /** Words [start, end] of the page, the last one included. */
  start: number;
  end: number;
  answer: string;
}

export type SpanOptions = Omit<AnswerOptions, 'wholeWords'>;

export interface DocumentReader {
  /**
   * Words of a page that answer a question, best first.
   * @param document the question is in words, too
   * @throws RunError 400 a stride beyond the window; 422 a question that leaves the page no room, a box off the page
   */
  read(
    document: { question: readonly string[]; words: readonly WordBox[] },
    options: SpanOptions,
    signal: AbortSignal,
  ): Promise<DocumentSpan[]>;
}

export type Pooling = 'mean' | 'cls' | 'max' | 'mean_sqrt_len_tokens' | 'weightedmean' | 'lasttoken';

export interface EmbedOptions {
  /** Of a prompt that is put before the text. */
  promptName?: string | undefined;
  /** Replaces the repository's pooling (mean where it names none), and all modules behind it. */
  pooling?: Pooling | undefined;
  /** Scale to length 1. */
  normalize?: boolean | undefined;
  truncateDim?: number | undefined;
  /** After the cut, scale to length 1 again if the repository's last module did. */
  renormalize?: boolean | undefined;
  /** Refuse a text that is too long, instead of cutting it. */
  truncation?: 'do_not_truncate' | undefined;
  maxLength?: number | undefined;
  /** False: nothing around the text. */
  specialTokens?: boolean | undefined;
  /** Removes the text from the queue when it aborts. */
  signal?: AbortSignal | undefined;
  /** Called with the number of tokens that the model reads. */
  onTokens?: ((count: number) => void) | undefined;
}

export interface EncodeOptions {
  prompt?: string | undefined;
  promptName?: string | undefined;
  normalize?: boolean | undefined;
  truncateDim?: number | undefined;
  /** After the cut, scale to length 1 again if the repository's last module did. */
  renormalize?: boolean | undefined;
  /** Refuse a text that is too long, instead of cutting it. */
  truncation?: 'do_not_truncate' | undefined;
  /** Tokens; what the modules set holds where it is less. */
  maxLength?: number | undefined;
  /** False: nothing around the text. */
  specialTokens?: boolean | undefined;
  /** Removes the text from the queue when it aborts. */
  signal?: AbortSignal | undefined;
  /** Called with the number of tokens that the model reads. */
  onTokens?: ((count: number) => void) | undefined;
}

export interface TextEmbedder {
  /** Pooled hidden states of one text, as the feature-extraction task defines them. */
  embed(text: string, options?: EmbedOptions): Promise<Float32Array>;
  /**
   * The states of all tokens of one text, special ones included, as the network gives them: [tokens, width].
   * @throws RunError 422 for a graph that gives pooled vectors only
   */
  states(
    text: string,
    options?: EncodeOptions,
  ): Promise<{ values: Float32Array; tokens: number; width: number }>;
  /** What sentence-transformers' `encode` gives for one text: its modules, prompts and lengths. */
  encode(text: string, options?: EncodeOptions): Promise<Float32Array>;
}
