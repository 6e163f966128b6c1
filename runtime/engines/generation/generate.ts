import type { TextTokenizer } from '../text/tokenizer.js';
import { beamSearch } from './beam-search.js';
import type { Decoding } from './decoder.js';
import { logitsProcessors } from './logits.js';
import { createSampler, createUniform } from './sampling.js';
import type { GenerationSettings } from './settings.js';
import { createTextStream, type TextStream } from './text-stream.js';

/** One generation, whatever the kind of model. */
export interface Generation {
  /** Tokens that the decoder begins with. */
  prompt: number[];
  settings: GenerationSettings;
  tokenizer: TextTokenizer;
  signal: AbortSignal;
  /** True: the prompt belongs to the text, as what a decoder starts with does. */
  echoes?: boolean;
  /** Most prompt tokens to feed in one step. */
  chunk: number;
  /** Begins with one row that has seen nothing; called once. */
  start(): Promise<Decoding>;
}

/**
 * Feeds the prompt and makes tokens until EOS, a stop string, the length or the time ends the text. Yields new text as
 * it becomes certain and returns all of it. Ends within one step once `signal` aborts.
 */
export async function* generate(generation: Generation): AsyncGenerator<string, string> {
  const deadline = Date.now() + generation.settings.maxTimeMs;
  const decoding = await generation.start();
  try {
    const run: Run = { ...generation, decoding, deadline };
    const scores = await prefill(run);
    const pieces = run.settings.numBeams > 1 ? beams(run, scores) : tokens(run, scores);
    let text = '';
    for await (const piece of pieces) {
      text += piece;
      if (piece) yield piece;
    }
    return text;
  } finally {
    decoding.end();
  }
}

interface Run extends Generation {
  decoding: Decoding;
  /** Date.now() after which no more steps are made. */
  deadline: number;
}

/** Feeds the prompt, in chunks so that others run in between and a cancel takes effect. Gives the scores after it. */
async function prefill({ prompt, chunk, decoding, signal }: Run): Promise<Float32Array> {
  let scores: Float32Array[] = [];
  for (let at = decoding.resume?.(prompt) ?? 0; at < prompt.length; at += chunk) {
    signal.throwIfAborted();
    scores = await decoding.step([prompt.slice(at, at + chunk)]);
  }
  return scores[0]!;
}

/** Greedy search and sampling: one row, text as it comes. EOS is text too, unless it is a special token. */
async function* tokens(run: Run, first: Float32Array): AsyncGenerator<string> {
  const { prompt, settings, decoding, signal } = run;
  const processors = logitsProcessors(settings);
  const sample = createSampler(settings);
  const stream = textStream(run);
  if (run.echoes) for (const id of prompt) yield stream.push(id);
  const ids = [...prompt];
  const last = prompt.length + settings.maxNewTokens;
  for (let scores = first; ;) {
    signal.throwIfAborted();
    for (const process of processors) process(scores, ids);
    const id = sample(scores);
    ids.push(id);
    yield stream.push(id);
    const ended = stream.stopped || settings.eosTokenIds.has(id) || ids.length >= last;
    if (ended || Date.now() >= run.deadline) break;
    [scores] = (await decoding.step([[id]])) as [Float32Array];
  }
  yield stream.finish();
}

/** Beam search: every beam goes on from the one row of the prompt, and the text comes at the end. */
async function* beams(run: Run, first: Float32Array): AsyncGenerator<string> {
  const { prompt, settings, decoding, signal } = run;
  const rows = Array.from({ length: settings.numBeams }, () => 0);
  decoding.reorder(rows);
  const isEnd = (ids: readonly number[]) =>
    settings.eosTokenIds.has(ids.at(-1)!) || (settings.stop.length > 0 && replay(run, ids).stopped);
  const ids = await beamSearch({
    ...{ prompt, decoding, settings },
    scores: rows.map(() => first),
    processors: logitsProcessors(settings),
    random: settings.doSample ? createUniform(settings) : undefined,
    ends: isEnd,
    interrupted() {
      signal.throwIfAborted();
      return Date.now() >= run.deadline;
    },
  });
  const stream = textStream(run);
  for (const id of run.echoes ? [...prompt, ...ids] : ids) yield stream.push(id);
  yield stream.finish();
}

function textStream({ tokenizer, prompt, settings, echoes }: Run): TextStream {
  const { cleanUp, skipSpecialTokens, stop: stops } = settings;
  const decode = (ids: readonly number[]) => tokenizer.decode(ids, { cleanUp, skipSpecialTokens });
  const { openBytes } = tokenizer;
  return createTextStream({ decode, openBytes, cleansUp: cleanUp, stops, prompt: echoes ? [] : prompt });
}

/** The state of the text after these tokens. */
function replay(run: Run, ids: readonly number[]): TextStream {
  const stream = textStream(run);
  for (const id of run.echoes ? [...run.prompt, ...ids] : ids) stream.push(id);
  return stream;
}
