/** Handles of models that write text, and what may be asked of them. */

import type { Delta, ToolCall } from '../delta.js';
import type { LikelyToken, TokenLogprob } from '../token-logprob.js';
import type { ChatOptions, ToolSupport } from '../tools.js';

export type { LikelyToken, TokenLogprob };
import type { FinishReason } from '../usage.js';
import type { ImageQuestion } from './joint.js';

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
  /** Scores that are no numbers, or without end, become ones. */
  remove_invalid_values?: boolean | null | undefined;
  num_beams?: number | null | undefined;
  length_penalty?: number | null | undefined;
  early_stopping?: boolean | 'never' | null | undefined;
  eos_token_id?: number | number[] | null | undefined;
  /** True: tokens that end a text are like others. */
  ignore_eos?: boolean | null | undefined;
  /** More tokens that end the text; their own text is not in it. */
  stop_token_ids?: number[] | null | undefined;
  num_return_sequences?: number | null | undefined;
  /** Tell the probability of each token, and as many of the likeliest ones beside it. */
  logprobs?: number | null | undefined;
  /** Tell each token by itself as it is written, where `logprobs` is given. */
  stream_tokens?: boolean | null | undefined;
  seed?: number | null | undefined;
  /** Tell how likely each token of the prompt was, and as many of the likeliest ones beside it. Without an encoder. */
  prompt_logprobs?: number | null | undefined;
  /** What is continued, by the model's own tokens; the text is empty then. Without an encoder. */
  prompt_token_ids?: number[] | null | undefined;
  /** True: nothing is written; the usage tells the tokens of the prompt. */
  count_only?: boolean | null | undefined;
  /** At most one of these five: the text follows a JSON schema, … */
  json_schema?: Record<string, unknown> | null | undefined;
  /** … is any object of JSON, … */
  json_object?: boolean | null | undefined;
  /** … fits a regular expression as a whole, … */
  regex?: string | null | undefined;
  /** … is one of these, … */
  choices?: string[] | null | undefined;
  /** … or follows a grammar in Lark's notation, whose first rule is `start`. */
  grammar?: string | null | undefined;
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
  /** Without an encoder. More than 1 moves away from what would come without the prompt. */
  guidance_scale?: number | null | undefined;
  /** With an encoder: the token that the answer begins with; a list holds one. */
  decoder_start_token_id?: number | number[] | null | undefined;
  /** Without an encoder. True: a prompt that the tokenizer has a limit for is cut to it, at the side that it names. */
  truncation?: boolean | 'longest_first' | 'only_first' | null | undefined;
  /** `hole`: of a prompt that leaves no room for the answer within the tokenizer's limit, the end is kept. */
  handle_long_generation?: 'hole' | null | undefined;
  /** Put before the prompt, but not into the answer. */
  prefix?: string | null | undefined;
}

export interface ChatMessage {
  role: string;
  /** Absent or null beside what a template reads instead, such as tool_calls. */
  content?: string | { type: string; text?: string | undefined }[] | null | undefined;
}

/** A token of a prompt: how likely it was after those before it; null of the first one. */
export interface PromptToken extends Omit<TokenLogprob, 'logprob'> {
  logprob: number | null;
  /** Its place among all tokens, the likeliest being 1. */
  rank: number | null;
}

/** One answer. */
export interface GeneratedText {
  /** Without calls and reasoning, where they are told apart. */
  text: string;
  /** At least one; absent where there is none. */
  toolCalls?: readonly ToolCall[] | undefined;
  reasoning?: string | undefined;
  /** How many of its tokens the model thought with; where that is told apart. */
  reasoningTokens?: number | undefined;
  /** Tokens of the prompt, or of the text that an encoder has read: the same for all answers of a request. */
  tokensIn: number;
  /** Tokens that were made, the one that ended the text included. */
  tokensOut: number;
  /** Those tokens; of generations only. */
  tokens?: readonly number[];
  finish: FinishReason;
  /** Index of the stop string that ended it, where one has. */
  stoppedBy?: number | undefined;
  /** Mean over those tokens of the logarithm of the probability with which each was chosen; only where asked for. */
  meanLogprob?: number | undefined;
  /** The chosen tokens without the one that ended the text, which is `end`; only where requested. */
  logprobs?: { content: TokenLogprob[]; end?: TokenLogprob } | undefined;
  /** The tokens of the prompt; only where requested. */
  promptLogprobs?: { content: PromptToken[] } | undefined;
  /** Text of a prompt that was given by its tokens. */
  promptText?: string | undefined;
}

export interface TextGenerator {
  /** True when the repository brings a chat template. */
  readonly hasChatTemplate: boolean;
  /** How answers of chats are told apart; undefined without a chat template. */
  readonly tools?: ToolSupport | undefined;
  /**
   * Continues a text. Yields new text as it becomes certain (whole characters, never past a stop string; nothing when
   * several answers are asked for) and returns the new text of each answer. Ends within one token once `signal` aborts.
   * @throws RunError 422 prompt too long, or an option that this model can't do
   */
  generate(
    text: string,
    options: GenerateOptions,
    signal: AbortSignal,
  ): AsyncGenerator<string | Delta, GeneratedText[]>;
  /**
   * Renders the chat template and continues it as `generate` does. With `parse_response` or a tool that has to be called, what it yields
   * and returns tells calls and reasoning apart from the text.
   * @param variables more template variables (tools, enable_thinking, …)
   * @throws RunError as `generate`; 422 where the template can't write the conversation
   */
  chat(
    messages: ChatMessage[],
    variables: Record<string, unknown>,
    options: GenerateOptions & ChatOptions,
    signal: AbortSignal,
  ): AsyncGenerator<string | Delta, GeneratedText[]>;
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
  ): AsyncGenerator<string | Delta, GeneratedText[]>;
}

export interface ImageCaptioner {
  /**
   * Describes an image. Yields and returns as TextGenerator.generate does.
   * @throws RunError 413 too many pixels, 415 no image, 422 broken image or an option that this model can't do
   */
  describe(
    image: Uint8Array,
    options: GenerateOptions & CaptionOptions,
    signal: AbortSignal,
  ): AsyncGenerator<string | Delta, GeneratedText[]>;
}

export interface CaptionOptions {
  /** What the description begins with. */
  prompt?: string | null | undefined;
}

/** A text, or the bytes of a file. */
export type MediaBlock =
  { type: 'text'; text: string } | { type: 'image' | 'audio' | 'video'; bytes: Uint8Array };

/** A message whose content may hold images, audio clips and videos. */
export interface MediaMessage extends Omit<ChatMessage, 'content'> {
  content?: string | MediaBlock[] | null | undefined;
}

/** Which frames of a video are read; the model's own rules where it does not say. */
export interface FrameSampling {
  /** Most frames. */
  num_frames?: number | null | undefined;
  /** Frames of each second. */
  fps?: number | null | undefined;
}

export interface MediaChat {
  /** How answers are told apart; undefined where they are text only. */
  readonly tools?: ToolSupport | undefined;
  /**
   * Goes on with a conversation that holds media. Yields and returns as TextGenerator.chat does.
   * @throws RunError 413 a medium too large or too long, 415 not of its kind, 422 broken, of a kind that the model does not
   * read, prompt too long or an option that this model can't do
   */
  chat(
    messages: MediaMessage[],
    variables: Record<string, unknown>,
    options: GenerateOptions & ChatOptions & FrameSampling,
    signal: AbortSignal,
  ): AsyncGenerator<string | Delta, GeneratedText[]>;
  /**
   * Continues a text as it is, without media. Yields and returns as TextGenerator.generate does. Undefined where each text is about a
   * medium.
   * @throws RunError 422 prompt too long, a place for a medium in it, or an option that this model can't do
   */
  generate?(
    text: string,
    options: GenerateOptions,
    signal: AbortSignal,
  ): AsyncGenerator<string | Delta, GeneratedText[]>;
}

export interface VisualAnswerWriter {
  /**
   * Writes the answer to a question about an image.
   * @throws RunError 413 too many pixels, 415 no image, 422 broken image or a question too long
   */
  answer(request: ImageQuestion, signal: AbortSignal): Promise<GeneratedText>;
}

export interface DocumentQuestionAnswerer {
  /**
   * @returns undefined where the model gives no answer
   * @throws RunError 413 too many pixels, 415 no image, 422 broken image or a question too long
   */
  answer(request: { image: Uint8Array; question: string }, signal: AbortSignal): Promise<string | undefined>;
}
