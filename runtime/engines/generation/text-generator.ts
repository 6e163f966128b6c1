import { RunError } from '../../core/errors.js';
import type { GenerateOptions, TextGenerator } from '../../core/handles.js';
import type { LoadRequest } from '../handle.js';
import { type Json, readJson, readOptionalJson } from '../model-folder.js';
import { loadTokenizer, type TextTokenizer } from '../text/tokenizer.js';
import { beamSearch } from './beam-search.js';
import { loadChatTemplate } from './chat-template.js';
import { type Decoder, type Decoding, openDecoder } from './decoder.js';
import { logitsProcessors } from './logits.js';
import { createSampler } from './sampling.js';
import { contextLengthOf, type GenerationSettings, readSettings } from './settings.js';
import { createTextStream, type TextStream } from './text-stream.js';

interface Model {
  decoder: Decoder;
  tokenizer: TextTokenizer;
  /** generation_config.json, or config.json where there is none. */
  repository: Json;
  contextLength: number | undefined;
}

/** Decoder-only language models with a key-value cache (…ForCausalLM). */
export async function loadTextGenerator(request: LoadRequest): Promise<TextGenerator> {
  const config = await readJson(request.dir, 'config.json');
  const [tokenizer, generation, decoder] = await Promise.all([
    loadTokenizer(request.dir),
    readOptionalJson(request.dir, 'generation_config.json'),
    openDecoder(request, config),
  ]);
  const template = await loadChatTemplate(request.dir, tokenizer.config);
  const model = {
    decoder,
    tokenizer,
    repository: generation ?? config,
    contextLength: contextLengthOf(config),
  };
  return {
    hasChatTemplate: template !== undefined,
    generate(text, options, signal) {
      return generate(model, { prompt: tokenizer.encode(text).ids, options, signal });
    },
    chat(messages, variables, options, signal) {
      if (!template) throw new RunError('unprocessable', 'this model has no chat template');
      // The template's text holds its own special tokens.
      const prompt = tokenizer.encode(template.render(messages, variables), { specialTokens: false }).ids;
      return generate(model, { prompt, options, signal });
    },
  };
}

interface Job {
  prompt: number[];
  options: GenerateOptions;
  signal: AbortSignal;
}

async function* generate(model: Model, { prompt, options, signal }: Job): AsyncGenerator<string, string> {
  if (prompt.length === 0)
    throw new RunError('invalid_input', 'text: is empty, and this model has no start token');
  const { repository, contextLength } = model;
  const settings = readSettings({
    ...{ request: options, repository, contextLength },
    promptLength: prompt.length,
  });
  const decoding = model.decoder.start(settings.numBeams);
  const run: Run = { model, prompt, settings, decoding, signal, deadline: Date.now() + settings.maxTimeMs };
  const scores = await prefill(run);
  const pieces = settings.numBeams > 1 ? beams(run, scores) : tokens(run, scores[0]!);
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (piece) yield piece;
  }
  return text;
}

interface Run {
  model: Model;
  prompt: number[];
  settings: GenerationSettings;
  decoding: Decoding;
  signal: AbortSignal;
  /** Date.now() after which no more steps are made. */
  deadline: number;
}

/** Feeds the prompt, in chunks so that others run in between and a cancel takes effect. */
async function prefill({ model, prompt, settings, decoding, signal }: Run): Promise<Float32Array[]> {
  let scores: Float32Array[] = [];
  for (let at = 0; at < prompt.length; at += model.decoder.chunk) {
    signal.throwIfAborted();
    const chunk = prompt.slice(at, at + model.decoder.chunk);
    scores = await decoding.step(Array.from({ length: settings.numBeams }, () => chunk));
  }
  return scores;
}

/** Greedy search and sampling: one row, text as it comes. */
async function* tokens(run: Run, first: Float32Array): AsyncGenerator<string> {
  const { model, prompt, settings, decoding, signal } = run;
  const processors = logitsProcessors(settings);
  const sample = createSampler(settings);
  const stream = createTextStream(model.tokenizer, prompt, settings.stop);
  const ids = [...prompt];
  const last = prompt.length + settings.maxNewTokens;
  for (let scores = first; ;) {
    signal.throwIfAborted();
    for (const process of processors) process(scores, ids);
    const id = sample(scores);
    if (settings.eosTokenIds.has(id)) break;
    ids.push(id);
    yield stream.push(id);
    if (stream.stopped || ids.length >= last || Date.now() >= run.deadline) break;
    [scores] = (await decoding.step([[id]])) as [Float32Array];
  }
  yield stream.finish();
}

/** Beam search: the text comes at the end. */
async function* beams(run: Run, scores: Float32Array[]): AsyncGenerator<string> {
  const { model, prompt, settings, decoding, signal } = run;
  const isEnd = (ids: readonly number[]) =>
    settings.eosTokenIds.has(ids.at(-1)!) || (settings.stop.length > 0 && replay(run, ids).stopped);
  const ids = await beamSearch({
    ...{ prompt, scores, decoding, settings },
    processors: logitsProcessors(settings),
    ends: isEnd,
    interrupted() {
      signal.throwIfAborted();
      return Date.now() >= run.deadline;
    },
  });
  const stream = createTextStream(model.tokenizer, prompt, settings.stop);
  for (const id of ids) if (!settings.eosTokenIds.has(id)) yield stream.push(id);
  yield stream.finish();
}

/** The state of the text after these tokens. */
function replay({ model, prompt, settings }: Run, ids: readonly number[]): TextStream {
  const stream = createTextStream(model.tokenizer, prompt, settings.stop);
  for (const id of ids) stream.push(id);
  return stream;
}
