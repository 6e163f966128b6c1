import { RunError } from '../../core/errors.js';
import type { GenerateOptions, TextGenerator } from '../../core/handles.js';
import type { LoadRequest } from '../handle.js';
import { type Json, readJson, readOptionalJson } from '../model-folder.js';
import { loadTokenizer, type TextTokenizer } from '../text/tokenizer.js';
import { beamSearch } from './beam-search.js';
import { loadChatTemplate } from './chat-template.js';
import { type Decoder, type Decoding, openDecoder } from './decoder.js';
import { logitsProcessors } from './logits.js';
import { createSampler, createUniform } from './sampling.js';
import { contextLengthOf, endsAtContext, type GenerationSettings, readSettings } from './settings.js';
import { createTextStream, type TextStream } from './text-stream.js';

interface Model {
  decoder: Decoder;
  tokenizer: TextTokenizer;
  /** generation_config.json, or config.json where there is none, under the task's own parameters. */
  repository: Json;
  contextLength: number | undefined;
  hardLimit: boolean;
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
  const own = taskParams(config);
  const model: Model = {
    ...{ decoder, tokenizer },
    repository: { ...(generation ?? config), ...own },
    contextLength: contextLengthOf(config),
    hardLimit: endsAtContext(config, decoder.inputNames),
  };
  const prefix = String(own['prefix'] ?? config['prefix'] ?? '');
  return {
    hasChatTemplate: template !== undefined,
    generate(text, options, signal) {
      const specialTokens = options.add_special_tokens ?? undefined;
      const { ids } = tokenizer.encode((options.prefix ?? prefix) + text, { specialTokens });
      return generate(model, { prompt: withStart(ids, model), options, signal });
    },
    chat(messages, variables, options, signal) {
      if (!template) throw new RunError('unprocessable', 'this model has no chat template');
      // The template's text holds its own special tokens.
      const continues = options.continue_final_message ?? messages.at(-1)?.role === 'assistant';
      const text = template.render(messages, { variables, continues });
      const prompt = tokenizer.encode(text, { specialTokens: false }).ids;
      return generate(model, { prompt, options, signal });
    },
  };
}

/** `task_specific_params` of config.json: Python's pipeline puts them over the generation settings. */
function taskParams(config: Json): Json {
  const all = (config['task_specific_params'] ?? {}) as Record<string, Json | undefined>;
  return all['text-generation'] ?? {};
}

/** generate() begins an empty prompt with BOS. */
function withStart(ids: number[], { repository }: Model): number[] {
  if (ids.length > 0) return ids;
  const bos = repository['bos_token_id'];
  if (typeof bos === 'number') return [bos];
  throw new RunError('invalid_input', 'text: is empty, and this model has no start token');
}

interface Job {
  prompt: number[];
  options: GenerateOptions;
  signal: AbortSignal;
}

async function* generate(model: Model, { prompt, options, signal }: Job): AsyncGenerator<string, string> {
  const settings = readSettings({ ...model, request: options, promptLength: prompt.length });
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

/** Greedy search and sampling: one row, text as it comes. EOS is text too, unless it is a special token. */
async function* tokens(run: Run, first: Float32Array): AsyncGenerator<string> {
  const { prompt, settings, decoding, signal } = run;
  const processors = logitsProcessors(settings);
  const sample = createSampler(settings);
  const stream = textStream(run);
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

/** Beam search: the text comes at the end. */
async function* beams(run: Run, scores: Float32Array[]): AsyncGenerator<string> {
  const { prompt, settings, decoding, signal } = run;
  const isEnd = (ids: readonly number[]) =>
    settings.eosTokenIds.has(ids.at(-1)!) || (settings.stop.length > 0 && replay(run, ids).stopped);
  const ids = await beamSearch({
    ...{ prompt, scores, decoding, settings },
    processors: logitsProcessors(settings),
    random: settings.doSample ? createUniform(settings) : undefined,
    ends: isEnd,
    interrupted() {
      signal.throwIfAborted();
      return Date.now() >= run.deadline;
    },
  });
  const stream = textStream(run);
  for (const id of ids) yield stream.push(id);
  yield stream.finish();
}

function textStream({ model: { tokenizer }, prompt, settings }: Run): TextStream {
  const { cleanUp, skipSpecialTokens, stop: stops } = settings;
  const decode = (ids: readonly number[]) => tokenizer.decode(ids, { cleanUp, skipSpecialTokens });
  return createTextStream({ decode, openBytes: tokenizer.openBytes, cleansUp: cleanUp, prompt, stops });
}

/** The state of the text after these tokens. */
function replay(run: Run, ids: readonly number[]): TextStream {
  const stream = textStream(run);
  for (const id of ids) stream.push(id);
  return stream;
}
