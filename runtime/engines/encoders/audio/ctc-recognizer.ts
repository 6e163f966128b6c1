import { roundHalfEven } from '../../../core/round-half-even.js';
import { RunError } from '../../../core/errors.js';
import type { SpeechRecognizer } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { readersIn } from '../../repository/named-readers.js';
import { type AudioReader, lasrConvolutions } from '../../audio/steps-left.js';
import { type TensorLike, toLogits } from '../../sessions/tensors.js';
import { type AudioPiece, audioPieces } from '../../audio/audio-pieces.js';
import { loadCtcPieces } from '../../tokenizers/ctc-pieces.js';
import { loadCtcVocabulary } from '../../tokenizers/ctc-vocabulary.js';
import { openAudioModel } from './audio-model.js';
import { loadTransducer } from './transducer.js';

/** Of pieces of words, and of steps that Python knows no samples of. */
const UNCUT: ReadonlySet<AudioReader> = new Set(['parakeet', 'omniasr', 'granite-speech5']);

/** *ForCTC: input_values or input_features -> logits [1, steps, tokens]. */
export async function loadCtcRecognizer(request: LoadRequest): Promise<SpeechRecognizer> {
  const reader = readersIn(request).audio;
  if (reader === 'transducer' || reader === 'tdt') return loadTransducer(request);
  const { config, rate, hop, samples, run } = await openAudioModel(request, 'logits');
  // Of words, not letters.
  const isUncut = UNCUT.has(reader);
  const hasPieces = isUncut || reader === 'lasr';
  const vocabulary = await (hasPieces
    ? loadCtcPieces(request.dir, reader === 'omniasr')
    : loadCtcVocabulary(request.dir));
  const samplesPerStep = stepOf(config, reader, hop);
  return {
    async transcribe(
      audio,
      { chunk_length_s, stride_length_s, return_timestamps, return_chunks, ...others },
      signal,
    ) {
      // Python has no times of pieces of words, and no samples of these steps to cut audio clips by.
      if (isUncut) refuse({ return_timestamps, chunk_length_s, stride_length_s }, 'no other parameter');
      if (hasPieces) refuse({ return_timestamps }, 'chunk_length_s and stride_length_s');
      // Times of letters or words change nothing in the text; there are no others, as in Python.
      if (return_timestamps === true) refuse({ return_timestamps });
      if (return_timestamps && return_chunks)
        throw new RunError(
          'unprocessable',
          'params.return_timestamps: this model’s times are not told; leave return_timestamps or return_chunks out',
        );
      refuse(others);
      const whole = await samples(audio, signal);
      const pieces = audioPieces(whole, { chunk_length_s, stride_length_s }, { rate, align: samplesPerStep });
      const ids: number[] = [];
      for (const piece of pieces ?? [{ samples: whole, left: 0, right: 0 }]) {
        const best = bestTokens((await run(piece.samples, signal))['logits']!);
        ids.push(...(pieces ? ownSteps(best, piece, samplesPerStep) : best));
      }
      return { text: vocabulary.decode(ids), tokensOut: ids.length, seconds: whole.length / rate };
    },
  };
}

/** Steps of Wav2Vec2Config. */
const DEFAULT_STEP = 320;

/** Samples that give one score, as Python's configurations reckon them (inputs_to_logits_ratio). */
function stepOf(config: Json, reader: AudioReader, hop = 1): number {
  if (reader === 'lasr') return hop * lasrConvolutions(config).reduce((all, { stride }) => all * stride, 1);
  if (reader === 'wav2vec2-bert') {
    const { feature_projection_input_dim: width = 160, adapter_stride = 2 } = config as Record<
      string,
      number
    >;
    const layers = config['add_adapter'] === true ? (firstNumber(config, 'num_adapter_layers') ?? 1) : 0;
    return width * 2 * adapter_stride ** layers;
  }
  const strides = config['conv_stride'];
  if (!Array.isArray(strides)) return DEFAULT_STEP;
  return (strides as number[]).reduce((product, stride) => product * stride, 1);
}

const TAKEN = 'chunk_length_s, stride_length_s and return_timestamps word or char';

function refuse(options: Record<string, unknown>, taken = TAKEN): void {
  const given = Object.keys(options).find((name) => options[name] != null && options[name] !== false);
  if (given === undefined) return;
  throw new RunError(
    'unprocessable',
    `params.${given}: this model scores each step of an audio clip and generates no text; it takes ${taken}`,
  );
}

function bestTokens(logits: TensorLike): number[] {
  const scores = toLogits(logits);
  const size = logits.dims.at(-1)!;
  return Array.from({ length: scores.length / size }, (_, step) => {
    let best = 0;
    for (let i = 1; i < size; i++) if (scores[step * size + i]! > scores[step * size + best]!) best = i;
    return best;
  });
}

/** Steps of a piece without those that it shares with its neighbours (rescale_stride). */
function ownSteps(ids: number[], { samples, left, right }: AudioPiece, samplesPerStep: number): number[] {
  const steps = roundHalfEven(samples.length / samplesPerStep);
  const share = (count: number) => roundHalfEven((count / samples.length) * steps);
  return ids.slice(share(left), steps - share(right));
}
