import { RunError } from '../../../core/errors.js';
import type { RecognitionOptions, SpeechRecognizer } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { readersIn } from '../../repository/named-readers.js';
import { type Json, readOptionalJson } from '../../repository/model-folder.js';
import { toFloat32 } from '../../sessions/tensors.js';
import { loadTokenizer } from '../../tokenizers/tokenizer.js';
import { openAudioModel } from './audio-model.js';

/** ParakeetForTDT, ParakeetForRNNT: input_features -> tokens [1, most], all of an audio clip in one run, -1 behind the last one. */
export async function loadTransducer(request: LoadRequest): Promise<SpeechRecognizer> {
  const [{ config, rate, samples, run }, tokenizer, generation] = await Promise.all([
    openAudioModel(request, 'tokens'),
    loadTokenizer(request.dir),
    readOptionalJson(request.dir, 'generation_config.json'),
  ]);
  const start = requireGreedy(generation ?? {}, {
    config,
    predictsDurations: readersIn(request).audio === 'tdt',
  });
  const ends = [generation?.['eos_token_id'] ?? []].flat();
  const padding = tokenizer.namedId('pad_token');
  return {
    async transcribe(audio, options, signal) {
      refuse(options);
      const whole = await samples(audio, signal);
      const { tokens } = await run(whole, signal);
      const all = Array.from(toFloat32(tokens!)).filter((id) => id >= 0);
      const end = all.findIndex((id) => ends.includes(id));
      const ids = end < 0 ? all : all.slice(0, end + 1);
      const kept = [start, ...ids].filter((id) => id !== padding);
      const text = tokenizer.decode(kept, { skipSpecialTokens: true });
      return { text, tokensOut: ids.length, seconds: whole.length / rate };
    },
  };
}

function refuse(options: RecognitionOptions): void {
  // The task tells parts of an answer, where they are asked for.
  const given = Object.entries(options).find(
    ([name, value]) => name !== 'return_chunks' && value != null && value !== false,
  )?.[0];
  if (given === undefined) return;
  throw new RunError(
    'unprocessable',
    `params.${given}: this model writes what is likeliest, and tells no times; it takes return_chunks alone`,
  );
}

/** Settings of generation_config.json that change nothing of what is likeliest at each step, or are read here. */
const READ =
  /^(?:_from_model_config|transformers_version|use_cache|return_dict_in_generate|output_.*|suppress_tokens|.*_token_id)$/;
const NEUTRAL: Readonly<Record<string, unknown>> = {
  do_sample: false,
  num_beams: 1,
  num_return_sequences: 1,
};

interface Network {
  config: Json;
  predictsDurations: boolean;
}

/** The token that texts begin with. @throws RunError `not_ready` for settings that would change answers */
function requireGreedy(generation: Json, { config, predictsDurations }: Network): number {
  const other = Object.entries(generation).find(
    ([name, value]) =>
      value !== null && (!READ.test(name) || name.startsWith('forced_')) && NEUTRAL[name] !== value,
  );
  if (other)
    throw new RunError('not_ready', `generation_config.json: ${other[0]} is not known for transducers`);
  requireTokensOnly(generation['suppress_tokens'], predictsDurations ? durationPositions(config) : []);
  const start = generation['decoder_start_token_id'] ?? generation['bos_token_id'];
  const blank = config['blank_token_id'] ?? 8192;
  if (start === blank) return blank as number;
  throw new RunError(
    'not_ready',
    `generation_config.json: decoder_start_token_id is ${String(start)}; texts of transducers begin with blank_token_id, ${String(blank)}`,
  );
}

/** Scores of durations stand behind those of tokens; Python takes them for tokens unless they are suppressed. */
function requireTokensOnly(suppressed: unknown, positions: readonly number[]): void {
  const given = new Set(Array.isArray(suppressed) ? (suppressed as unknown[]) : []);
  if (given.size === positions.length && positions.every((place) => given.has(place))) return;
  const wanted =
    positions.length > 0
      ? `has to list the places of durations (${positions.join(', ')}), and no others`
      : 'has to be empty';
  throw new RunError('not_ready', `generation_config.json: suppress_tokens ${wanted}`);
}

/** Of ParakeetTDTConfig. */
const DEFAULTS = { vocab_size: 8193, durations: [0, 1, 2, 3, 4] };

function durationPositions(config: Json): number[] {
  const { vocab_size, durations }: typeof DEFAULTS = { ...DEFAULTS, ...config };
  return durations.map((_, i) => vocab_size + i);
}
