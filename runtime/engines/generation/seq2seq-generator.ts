import { RunError } from '../../core/errors.js';
import type { GenerateOptions, Seq2SeqGenerator } from '../../core/handles.js';
import type { LoadRequest } from '../handle.js';
import { type Json, readJson, readOptionalJson } from '../model-folder.js';
import { loadTokenizer, type TextTokenizer } from '../text/tokenizer.js';
import { type EncoderDecoder, openEncoderDecoder } from './encoder-decoder.js';
import { generate } from './generate.js';
import { decoderPositions, encoderPositions } from './seq2seq-limits.js';
import { readSettings } from './settings.js';

interface Model {
  graphs: EncoderDecoder;
  tokenizer: TextTokenizer;
  config: Json;
  /** generation_config.json, or config.json where there is none. */
  repository: Json;
  /** Longest text in tokens, special tokens included. */
  maxLength: number;
}

/** Encoder-decoder language models with a key-value cache (…ForConditionalGeneration, MarianMTModel). */
export async function loadSeq2SeqGenerator(request: LoadRequest): Promise<Seq2SeqGenerator> {
  const config = await readJson(request.dir, 'config.json');
  const [tokenizer, generation, graphs] = await Promise.all([
    loadTokenizer(request.dir),
    readOptionalJson(request.dir, 'generation_config.json'),
    openEncoderDecoder(request, config),
  ]);
  const maxLength = Math.min(tokenizer.modelMaxLength ?? Infinity, encoderPositions(config));
  const model: Model = { graphs, tokenizer, config, repository: generation ?? config, maxLength };
  const own = taskParams(config, request.spec.task);
  return {
    generate(text, options, signal) {
      const { ids } = tokenizer.encode(String(own['prefix'] ?? config['prefix'] ?? '') + text, { maxLength });
      return answer(model, { source: ids, own, options, signal });
    },
  };
}

/** `task_specific_params` of config.json: Python's pipeline puts them over the generation settings. */
function taskParams(config: Json, task: string): Json {
  const all = (config['task_specific_params'] ?? {}) as Record<string, Json | undefined>;
  return all[task] ?? {};
}

interface Request {
  /** What the encoder reads. */
  source: number[];
  /** The repository's settings for this task. */
  own: Json;
  options: GenerateOptions;
  signal: AbortSignal;
}

async function* answer(
  model: Model,
  { source, own, options, signal }: Request,
): AsyncGenerator<string, string> {
  const { graphs, tokenizer, config } = model;
  const repository = { ...model.repository, ...own };
  const prompt = [startToken(repository)];
  const settings = readSettings({
    ...{ request: options, repository, source },
    promptLength: prompt.length,
    contextLength: decoderPositions(config),
    hardLimit: true,
    cleanUp: false,
  });
  return yield* generate({
    ...{ prompt, settings, tokenizer, signal, echoes: true },
    chunk: Infinity,
    start: () => graphs.start(source),
  });
}

function startToken(repository: Json): number {
  const id = repository['decoder_start_token_id'] ?? repository['bos_token_id'];
  if (typeof id === 'number') return id;
  throw new RunError('not_ready', 'the model names no decoder_start_token_id');
}
