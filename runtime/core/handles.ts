/**
 * What a loaded model can do, by head. Engines implement these, task files call them; neither imports the other.
 * Handles live in the engine process. Every method may be called while another call is under way.
 */

/** Raw scores of one input over a fixed set of labels. */
export interface Classified {
  /** One logit per label, in the model's order. */
  logits: Float32Array;
  labels: readonly string[];
  /** What the checkpoint was trained for (config.problem_type, else guessed from the number of labels). */
  problem: 'single_label' | 'multi_label' | 'regression';
}

export interface SequenceClassifier {
  /**
   * Runs the classification head over one text, cut on the right with special tokens kept.
   * @param maxLength longest token sequence, at most the model's own limit (the default)
   */
  classify(
    text: string,
    options?: { maxLength?: number | undefined; signal?: AbortSignal },
  ): Promise<Classified>;
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
  maxLength?: number | undefined;
  /** False: nothing around the text. */
  specialTokens?: boolean | undefined;
}

export interface MaskFiller {
  /** What stands for the missing token, e.g. `[MASK]`. */
  readonly maskToken: string;
  /**
   * The likeliest tokens for every mask of a text, best first, one list for each mask.
   * @throws RunError 400 no mask in the text, no token in the targets; 422 top_k beyond the vocabulary
   */
  fill(text: string, options: FillOptions, signal: AbortSignal): Promise<FilledMask[][]>;
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

export interface Answer {
  score: number;
  /** Code points [start, end) of the context. */
  start: number;
  end: number;
  answer: string;
}

export interface AnswerOptions {
  topK: number;
  /** Longest answer in tokens. */
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
   * Stretches of the context that answer the question, best first.
   * @throws RunError 400 a stride beyond the window; 422 a question that leaves the context no room
   */
  answer(
    texts: { question: string; context: string },
    options: AnswerOptions,
    signal: AbortSignal,
  ): Promise<Answer[]>;
}

export interface ImageClassifier {
  /**
   * Decodes a picture (JPEG, PNG, WebP, AVIF, TIFF, GIF), applies its EXIF orientation and the repository's
   * image processor, and runs the classification head.
   * @throws RunError 413 too many pixels, 415 no picture, 422 broken picture
   */
  classify(image: Uint8Array): Promise<Classified>;
}

export type Pooling = 'mean' | 'cls' | 'max' | 'mean_sqrt_len_tokens' | 'weightedmean' | 'lasttoken';

export interface EmbedOptions {
  /** Replaces the repository's pooling (mean where it names none). */
  pooling?: Pooling | undefined;
  /** Scale to length 1. */
  normalize?: boolean | undefined;
  maxLength?: number | undefined;
  /** Takes the text out of the queue when it aborts. */
  signal?: AbortSignal | undefined;
}

export interface EncodeOptions {
  prompt?: string | undefined;
  promptName?: string | undefined;
  normalize?: boolean | undefined;
  truncateDim?: number | undefined;
  /** Takes the text out of the queue when it aborts. */
  signal?: AbortSignal | undefined;
}

export interface TextEmbedder {
  /** Pooled hidden states of one text, as the feature-extraction task defines them. */
  embed(text: string, options?: EmbedOptions): Promise<Float32Array>;
  /** What sentence-transformers' `encode` gives for one text: its modules, prompts and lengths. */
  encode(text: string, options?: EncodeOptions): Promise<Float32Array>;
}

/** Generation arguments under their Python names (transformers' generate()), plus `seed` and `stop`. */
export interface GenerateOptions {
  max_new_tokens?: number | null | undefined;
  max_length?: number | null | undefined;
  min_new_tokens?: number | null | undefined;
  min_length?: number | null | undefined;
  /** Seconds after which generation ends with what it has. */
  max_time?: number | null | undefined;
  do_sample?: boolean | null | undefined;
  temperature?: number | null | undefined;
  top_k?: number | null | undefined;
  top_p?: number | null | undefined;
  min_p?: number | null | undefined;
  typical_p?: number | null | undefined;
  repetition_penalty?: number | null | undefined;
  presence_penalty?: number | null | undefined;
  frequency_penalty?: number | null | undefined;
  no_repeat_ngram_size?: number | null | undefined;
  bad_words_ids?: number[][] | null | undefined;
  /** Pairs of a token sequence and what is added to the score of its last token. */
  sequence_bias?: [number[], number][] | null | undefined;
  /** Token id to what is added to its score, as OpenAI names it. */
  logit_bias?: Record<string, number> | null | undefined;
  /** More than 1 favours tokens of the source text (of the prompt, without an encoder). */
  encoder_repetition_penalty?: number | null | undefined;
  /** No n-gram of the source text comes again. */
  encoder_no_repeat_ngram_size?: number | null | undefined;
  suppress_tokens?: number[] | null | undefined;
  begin_suppress_tokens?: number[] | null | undefined;
  forced_bos_token_id?: number | null | undefined;
  forced_eos_token_id?: number | number[] | null | undefined;
  /** [start, factor]: from `start` new tokens on, EOS gains by factor ** (tokens since). */
  exponential_decay_length_penalty?: [number, number] | null | undefined;
  epsilon_cutoff?: number | null | undefined;
  eta_cutoff?: number | null | undefined;
  renormalize_logits?: boolean | null | undefined;
  num_beams?: number | null | undefined;
  length_penalty?: number | null | undefined;
  early_stopping?: boolean | 'never' | null | undefined;
  eos_token_id?: number | number[] | null | undefined;
  num_return_sequences?: number | null | undefined;
  /** Tell the probability of each token, and as many of the likeliest ones beside it. */
  logprobs?: number | null | undefined;
  seed?: number | null | undefined;
  /** The text ends before the first of these that appears in it. */
  stop?: string | string[] | null | undefined;
  /** The text ends with the first token of this one. */
  stop_sequence?: string | null | undefined;
  /** Joins English punctuation to the word before it; default true, as in Python's pipeline. */
  clean_up_tokenization_spaces?: boolean | null | undefined;
  /** Default true. */
  skip_special_tokens?: boolean | null | undefined;
  /** False: the prompt gets no BOS. Ignored in chats, whose template holds what is special. */
  add_special_tokens?: boolean | null | undefined;
  /** Chats only. True: the last message goes on; default where it is the assistant's. */
  continue_final_message?: boolean | null | undefined;
  /** Put before the prompt, but not into the answer. */
  prefix?: string | null | undefined;
}

export interface ChatMessage {
  role: string;
  /** Absent or null beside what a template reads instead, such as tool_calls. */
  content?: string | { type: string; text?: string | undefined }[] | null | undefined;
}

export interface LikelyToken {
  token: string;
  /** Natural logarithm of its probability under the model itself, before any parameter changes the scores. */
  logprob: number;
  /** The token in UTF-8; a token may be part of a character. */
  bytes: number[];
}

export interface TokenLogprob extends LikelyToken {
  top_logprobs: LikelyToken[];
}

/** One answer. */
export interface Generated {
  text: string;
  /** Every token that was chosen, but for the one that ended the text; where they were asked for. */
  logprobs?: { content: TokenLogprob[] } | undefined;
}

export interface TextGenerator {
  /** True when the repository brings a chat template. */
  readonly hasChatTemplate: boolean;
  /**
   * Continues a text. Yields new text as it becomes certain (whole characters, never past a stop string; nothing when
   * several answers are asked for) and returns the new text of each answer. Ends within one token once `signal` aborts.
   * @throws RunError 422 prompt too long, or an option that this model can't do
   */
  generate(text: string, options: GenerateOptions, signal: AbortSignal): AsyncGenerator<string, Generated[]>;
  /**
   * Renders the chat template and continues it as `generate` does.
   * @param variables more template variables (tools, enable_thinking, …)
   */
  chat(
    messages: ChatMessage[],
    variables: Record<string, unknown>,
    options: GenerateOptions,
    signal: AbortSignal,
  ): AsyncGenerator<string, Generated[]>;
}

/** Languages by the codes of the model (`eng_Latn`, `en_XX`, `en`); only translation takes them. */
export interface TranslationOptions {
  src_lang?: string | null | undefined;
  tgt_lang?: string | null | undefined;
}

export interface Seq2SeqGenerator {
  /** Codes of the languages that are tokens of the model; empty where it has none. */
  readonly languages: readonly string[];
  /**
   * Answers a text, which is cut to what the model takes. Yields and returns as TextGenerator.generate does; the answer
   * is all that the decoder makes.
   * @throws RunError 422 for an option that this model can't do
   */
  generate(
    text: string,
    options: GenerateOptions & TranslationOptions,
    signal: AbortSignal,
  ): AsyncGenerator<string, Generated[]>;
}

/** Head name to the handle that loading it gives. */
export interface Handles {
  'sequence-classification': SequenceClassifier;
  'masked-lm': MaskFiller;
  entailment: EntailmentClassifier;
  'token-classification': TokenClassifier;
  'question-answering': QuestionAnswerer;
  'image-classification': ImageClassifier;
  embedding: TextEmbedder;
  'causal-lm': TextGenerator;
  'seq2seq-lm': Seq2SeqGenerator;
}

export type Head = keyof Handles;
