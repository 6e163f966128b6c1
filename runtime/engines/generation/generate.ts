import type { Delta } from '../../core/delta.js';
import type { GeneratedText } from '../../core/handles/index.js';
import type { TextTokenizer } from '../tokenizers/tokenizer.js';
import { beamSearch, type FoundBeam } from './search/beam-search.js';
import type { Decoding, Prompt } from './decoding/decoder.js';
import { createLogitsProcessors } from './search/create-logits-processors.js';
import type { LogitsProcessor } from './search/logits-processor.js';
import type { GenerationGrammar } from './grammar/grammars.js';
import { startGuidedDecoding } from './guidance.js';
import { type AnswerWriter, createTextWriter } from './output/answer-writer.js';
import { createCompletion, type Completion, finishOf } from './output/completion.js';
import { createPromptReader, type PromptReader } from './search/prompt-logprobs.js';
import { createRandom } from './search/random.js';
import type { GenerationSettings } from './settings/settings.js';
import { createTextStream, type TextStream } from './output/text-stream.js';
import { checkTokenIds } from './settings/check-token-ids.js';

/** One generation, whatever the kind of model. */
export interface GenerationInput {
  /** What the decoder begins with. */
  prompt: Prompt;
  settings: GenerationSettings;
  tokenizer: TextTokenizer;
  signal: AbortSignal;
  /** True: the text begins with the prompt, which is the start token of an encoder-decoder model. */
  echoesPrompt?: boolean;
  /** True: the answer is decoded by itself, without the tokens before it. */
  decodesAlone?: boolean | undefined;
  /** What the kind of model does to scores after all that the settings ask for. */
  rules?: readonly LogitsProcessor[] | undefined;
  /** True: answers tell their meanLogprob. */
  tellsMeanLogprob?: boolean | undefined;
  /** How answers are told, if not as plain text. */
  writes?: WriteAnswer | undefined;
  /** What answers have to follow; released by who started it. Not for beam search. */
  grammar?: GenerationGrammar | undefined;
  /** Starts one row with an empty cache. */
  start(): Promise<Decoding>;
}

/**
 * Makes the writer of one answer.
 * @param startStream begins a stream of text after these tokens
 */
export type WriteAnswer = (
  startStream: (after: readonly number[]) => TextStream,
  prompt: readonly number[],
) => AnswerWriter;

/** Most rows that a generation may come to have. */
export function maxRowsOf({ numBeams, numReturnSequences }: GenerationSettings): number {
  return Math.max(numBeams, numReturnSequences);
}

/**
 * Feeds the prompt and generates tokens until EOS, a stop string, the length or the time ends the text. Yields the text
 * of a single answer as it becomes certain, and returns all answers. Ends within one step once `signal` aborts.
 */
export async function* generate(
  generation: GenerationInput,
): AsyncGenerator<string | Delta, GeneratedText[]> {
  const { settings, prompt, signal } = generation;
  const reader = promptReaderOf(generation);
  if (settings.countOnly && !reader) return [countedPrompt(settings)];
  const deadline = Date.now() + settings.maxTimeMs;
  const decoding = await startDecoding(generation);
  try {
    const run: Run = { ...generation, decoding, deadline };
    signal.throwIfAborted();
    const scores = await decoding.prefill(prompt, reader?.take);
    checkTokenIds(settings, scores.length);
    const tokensIn = settings.sourceTokens.length;
    const ofPrompt = reader && { promptLogprobs: { content: reader.content } };
    if (settings.countOnly) return [{ ...countedPrompt(settings), ...ofPrompt }];
    const results = yield* settings.numBeams > 1
      ? generateBeams(run, scores)
      : generateSequences(run, scores);
    return results.map((result) => ({ ...result, tokensIn, ...ofPrompt }));
  } finally {
    decoding.end();
  }
}

/** The answer that only tells how long the prompt is. */
function countedPrompt({ sourceTokens }: GenerationSettings): GeneratedText {
  return { text: '', tokensIn: sourceTokens.length, tokensOut: 0, tokens: [], finish: 'length' };
}

function promptReaderOf({ settings, prompt, tokenizer, signal }: GenerationInput): PromptReader | undefined {
  const { promptLogprobs: count } = settings;
  return count === undefined
    ? undefined
    : createPromptReader({ tokenizer, tokens: prompt.tokens, count, signal });
}

function startDecoding({ settings, start }: GenerationInput): Promise<Decoding> {
  return settings.guidanceScale === 1 ? start() : startGuidedDecoding(settings.guidanceScale, start);
}

const processorsOf = ({ settings, rules = [] }: GenerationInput): LogitsProcessor[] => [
  ...createLogitsProcessors(settings),
  ...rules,
];

type CompletionResult = Completion['result'];

interface Run extends GenerationInput {
  decoding: Decoding;
  /** In Date.now(): no step is made after it. */
  deadline: number;
}

/** Greedy search and sampling: one row per answer, each until its own end. */
async function* generateSequences(
  run: Run,
  first: Float32Array,
): AsyncGenerator<string | Delta, CompletionResult[]> {
  const { settings, decoding, signal } = run;
  const processors = processorsOf(run);
  const initial = startTextStream(run);
  const all = Array.from({ length: settings.numReturnSequences }, (_, index) =>
    createCompletion({
      ...run,
      prompt: run.prompt.tokens,
      processors,
      index,
      writer: writerOf(run, initial),
      grammar: run.grammar?.startRow(),
    }),
  );
  if (all.length > 1) decoding.reorder(all.map(() => 0));
  if (all.length === 1 && initial.text) yield initial.text;
  let unfinished = all;
  for (let scores: Float32Array[] = all.map(() => first.slice()); ;) {
    signal.throwIfAborted();
    const pieces = unfinished.map((row, i) => row.addToken(scores[i]!));
    if (all.length === 1) yield* pieces[0]!;
    const left = unfinished.flatMap((row, i) => (row.ended ? [] : [i]));
    if (left.length === 0 || Date.now() >= run.deadline) break;
    if (left.length < unfinished.length) decoding.reorder(left);
    unfinished = left.map((i) => unfinished[i]!);
    scores = await decoding.step(unfinished.map((row) => row.lastToken));
  }
  return yield* finishAll(all);
}

async function* finishAll(all: readonly Completion[]): AsyncGenerator<string | Delta, CompletionResult[]> {
  const rest = all.map((row) => row.finish());
  if (all.length === 1) yield* rest[0]!;
  return all.map((row) => row.result);
}

/** Beam search: every beam continues the one row of the prompt, and the text comes at the end. */
async function* generateBeams(
  run: Run,
  first: Float32Array,
): AsyncGenerator<string | Delta, CompletionResult[]> {
  const { settings, decoding, signal } = run;
  const { tokens: prompt } = run.prompt;
  const sources = Array.from({ length: settings.numBeams }, () => 0);
  decoding.reorder(sources);
  const initial = startTextStream(run);
  const sequences = await beamSearch({
    ...{ prompt, decoding, settings },
    scores: sources.map(() => first),
    processors: processorsOf(run),
    random: settings.doSample ? createRandom(settings) : undefined,
    text: settings.stop.length > 0 ? initial.stream.fork() : undefined,
    tellsMeanLogprob: run.tellsMeanLogprob,
    interrupted() {
      signal.throwIfAborted();
      return Date.now() >= run.deadline;
    },
  });
  const results = sequences.map((found) => beamResult(found, writerOf(run, initial), settings));
  if (results.length === 1) {
    if (!run.writes && initial.text) yield initial.text;
    yield* results[0]!.pieces;
  }
  return results.map(({ result }) => result);
}

/** The answer of a beam. */
function beamResult(
  { ids, meanLogprob }: FoundBeam,
  writer: AnswerWriter,
  { eosTokenIds, stopTokenIds }: GenerationSettings,
): { result: CompletionResult; pieces: (string | Delta)[] } {
  const pieces = ids.flatMap((id) => (stopTokenIds.has(id) ? [] : writer.push(id)));
  const stopped = writer.stopped || eosTokenIds.has(ids.at(-1)!);
  pieces.push(...writer.finish(!stopped));
  const { parts } = writer;
  const finish = finishOf(stopped ? 'stop' : 'length', parts);
  return { result: { ...parts, tokensOut: ids.length, tokens: ids, finish, meanLogprob }, pieces };
}

/** A text stream, and the text that it has given so far. */
interface PartialText {
  stream: TextStream;
  text: string;
}

function startTextStream(run: Run): PartialText {
  const { prompt, echoesPrompt, decodesAlone = false } = run;
  const stream = streamAfter(run, echoesPrompt || decodesAlone ? [] : prompt.tokens);
  const text = echoesPrompt ? prompt.tokens.map((id) => stream.push(id)).join('') : '';
  return { stream, text };
}

function streamAfter({ tokenizer, settings }: Run, prompt: readonly number[]): TextStream {
  const { cleanUp, skipSpecialTokens, stop: stops } = settings;
  const decode = (ids: readonly number[]) => tokenizer.decode(ids, { cleanUp, skipSpecialTokens });
  const { openBytes } = tokenizer;
  return createTextStream({ decode, openBytes, cleanUp, stops, prompt });
}

function writerOf(run: Run, initial: PartialText): AnswerWriter {
  if (run.writes) return run.writes((after) => streamAfter(run, after), run.prompt.tokens);
  const { stream, text } = fork(initial);
  return createTextWriter(stream, text);
}

const fork = ({ stream, text }: PartialText): PartialText => ({ stream: stream.fork(), text });
