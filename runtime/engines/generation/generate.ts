import type { GeneratedText } from '../../core/handles/index.js';
import type { TextTokenizer } from '../tokenizers/tokenizer.js';
import { beamSearch } from './search/beam-search.js';
import type { Decoding, Prompt } from './decoding/decoder.js';
import { createLogitsProcessors } from './search/create-logits-processors.js';
import { startGuidedDecoding } from './guidance.js';
import { createCompletion, type Completion } from './output/completion.js';
import { createRandom } from './search/sampling.js';
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
  /** True: the prompt belongs to the text, as what a decoder starts with does. */
  echoesPrompt?: boolean;
  /** Begins with one row that has seen nothing. */
  start(): Promise<Decoding>;
}

/** Most rows that a generation may come to have. */
export function maxRowsOf({ numBeams, numReturnSequences: sequences }: GenerationSettings): number {
  return Math.max(numBeams, sequences);
}

/**
 * Feeds the prompt and makes tokens until EOS, a stop string, the length or the time ends the text. Yields new text of
 * a single answer as it becomes certain and returns every answer. Ends within one step once `signal` aborts.
 */
export async function* generate(generation: GenerationInput): AsyncGenerator<string, GeneratedText[]> {
  const { settings, prompt, signal } = generation;
  const deadline = Date.now() + settings.maxTimeMs;
  const decoding = await startDecoding(generation);
  try {
    const run: Run = { ...generation, decoding, deadline };
    signal.throwIfAborted();
    const scores = await decoding.prefill(prompt);
    checkTokenIds(settings, scores.length);
    const found = yield* settings.numBeams > 1 ? generateBeams(run, scores) : generateSequences(run, scores);
    const tokensIn = settings.sourceTokens.length;
    return found.map((answer) => ({ ...answer, tokensIn }));
  } finally {
    decoding.end();
  }
}

function startDecoding({ settings, start }: GenerationInput): Promise<Decoding> {
  return settings.guidanceScale === 1 ? start() : startGuidedDecoding(settings.guidanceScale, start);
}

type CompletionResult = Completion['result'];

interface Run extends GenerationInput {
  decoding: Decoding;
  /** Date.now() after which no more steps are made. */
  deadline: number;
}

/** Greedy search and sampling: rows that go on from the prompt, each until its own end. */
async function* generateSequences(run: Run, first: Float32Array): AsyncGenerator<string, CompletionResult[]> {
  const { settings, decoding, signal } = run;
  const processors = createLogitsProcessors(settings);
  const begun = startTextStream(run);
  const all = Array.from({ length: settings.numReturnSequences }, (_, number) =>
    createCompletion({ ...run, prompt: run.prompt.tokens, processors, number, ...fork(begun) }),
  );
  if (all.length > 1) decoding.reorder(all.map(() => 0));
  if (all.length === 1 && begun.text) yield begun.text;
  let open = all;
  for (let scores: Float32Array[] = all.map(() => first.slice()); ;) {
    signal.throwIfAborted();
    const pieces = open.map((row, i) => row.addToken(scores[i]!));
    if (all.length === 1 && pieces[0]) yield pieces[0];
    const left = open.flatMap((row, i) => (row.ended ? [] : [i]));
    if (left.length === 0 || Date.now() >= run.deadline) break;
    if (left.length < open.length) decoding.reorder(left);
    open = left.map((i) => open[i]!);
    scores = await decoding.step(open.map((row) => row.lastToken));
  }
  return yield* finishAll(all);
}

async function* finishAll(all: readonly Completion[]): AsyncGenerator<string, CompletionResult[]> {
  const rest = all.map((row) => row.finish());
  if (all.length === 1 && rest[0]) yield rest[0];
  return all.map((row) => row.result);
}

/** Beam search: every beam goes on from the one row of the prompt, and the text comes at the end. */
async function* generateBeams(run: Run, first: Float32Array): AsyncGenerator<string, CompletionResult[]> {
  const { settings, decoding, signal } = run;
  const { tokens: prompt } = run.prompt;
  const beam = Array.from({ length: settings.numBeams }, () => 0);
  decoding.reorder(beam);
  const begun = startTextStream(run);
  const found = await beamSearch({
    ...{ prompt, decoding, settings },
    scores: beam.map(() => first),
    processors: createLogitsProcessors(settings),
    random: settings.doSample ? createRandom(settings) : undefined,
    text: settings.stop.length > 0 ? begun.stream.fork() : undefined,
    interrupted() {
      signal.throwIfAborted();
      return Date.now() >= run.deadline;
    },
  });
  const answers = found.map((ids) => beamResult(ids, fork(begun), settings));
  if (answers.length === 1) yield answers[0]!.text;
  return answers;
}

/** What a beam says. */
function beamResult(
  ids: readonly number[],
  { stream, text }: PartialText,
  { eosTokenIds }: GenerationSettings,
): CompletionResult {
  const said = text + ids.map((id) => stream.push(id)).join('');
  const stopped = stream.stopped || eosTokenIds.has(ids.at(-1)!);
  return { text: said + stream.finish(), tokensOut: ids.length, finish: stopped ? 'stop' : 'length' };
}

/** A stream of text, and what has come out of it. */
interface PartialText {
  stream: TextStream;
  text: string;
}

function startTextStream({
  tokenizer,
  prompt: { tokens: prompt },
  settings,
  echoesPrompt: echoes,
}: Run): PartialText {
  const { cleanUp, skipSpecialTokens, stop: stops } = settings;
  const decode = (ids: readonly number[]) => tokenizer.decode(ids, { cleanUp, skipSpecialTokens });
  const { openBytes } = tokenizer;
  const stream = createTextStream({
    decode,
    openBytes,
    cleansUp: cleanUp,
    stops,
    prompt: echoes ? [] : prompt,
  });
  const text = echoes ? prompt.map((id) => stream.push(id)).join('') : '';
  return { stream, text };
}

const fork = ({ stream, text }: PartialText): PartialText => ({ stream: stream.fork(), text });
