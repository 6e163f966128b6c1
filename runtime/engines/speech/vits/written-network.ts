import { randomInt } from 'node:crypto';
import { RunError } from '../../../core/errors.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { type DrawNormal, torchNormal } from '../../../core/torch-generator.js';
import { createSingleRuns } from '../../batching/single-runs.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { availableMemory } from '../../sessions/available-memory.js';
import { graphSource } from '../../sessions/graph-source.js';
import { requireOutputs } from '../../sessions/require-outputs.js';
import { openSessionPool } from '../../sessions/session-pool.js';
import { type TensorLike, toFloat32 } from '../../sessions/tensors.js';
import { requireRoom, type VitsNetwork } from './network.js';
import { frameBytes, MOST_BYTES } from './vits-memory.js';

const PRIORS = ['prior_means', 'prior_log_variances'] as const;
const SEEDS = 2 ** 47;

/** The two graphs of runtime/models/audio/vits/; noise is drawn here, as torch draws it. */
export async function openWrittenVits(request: LoadRequest, config: Json): Promise<VitsNetwork> {
  const [encoder, decoder] = (await Promise.all(
    ['letter_encoder', 'letter_decoder'].map((role) => openSessionPool(request, graphSource(request, role))),
  )) as [Pool, Pool];
  requireOutputs(encoder.outputs, ['durations', ...PRIORS]);
  requireOutputs(decoder.outputs, ['waveform']);
  const [encode, decode] = [createSingleRuns(encoder), createSingleRuns(decoder)];
  const takes = ({ inputs }: Pool, input: string) => inputs.some(({ name }) => name === input);
  const hasVoices = takes(decoder, 'speaker_id');
  const drawsDurations = takes(encoder, 'duration_noise');
  const runs = decoder.sessions.length;
  return {
    // Their count stands for none of them, which is Python's default.
    ...{ hasVoices, usualVoice: firstNumber(config, 'num_speakers') ?? 1, takesSeed: true, runs },
    async speak({ ids, voice, seed }, signal) {
      const draw = torchNormal(seed ?? randomInt(SEEDS));
      const count = ids.length;
      // Each run takes its tensors' memory with it.
      const speaker = () => hasVoices && { speaker_id: integers([voice], [1]) };
      const text = await encode(
        {
          ...{ input_ids: integers(ids, [1, count]), ...speaker() },
          ...(drawsDurations && { duration_noise: floats(draw(2 * count), [1, 2, count]) }),
        },
        signal,
      );
      const durations = toFloat32(text['durations']!);
      const room = Math.min(MOST_BYTES, availableMemory(request.memory)) / runs;
      const frames = framesOf(durations);
      requireRoom({ count: frames, bytesOf: (one) => frameBytes(config, one), room, what: 'frames' });
      const width = text['prior_means']!.dims[2]!;
      const given = await decode(
        {
          ...Object.fromEntries(PRIORS.map((name) => [name, text[name]!])),
          frame_letters: integers(lettersOfFrames(durations, frames), [frames]),
          noise: floats(framesNoise(draw, frames, width), [1, frames, width]),
          ...speaker(),
        },
        signal,
      );
      return toFloat32(given['waveform']!);
    },
  };
}

type Pool = Awaited<ReturnType<typeof openSessionPool>>;

const integers = (values: readonly number[], dims: number[]): TensorLike => ({
  ...{ type: 'int64', data: BigInt64Array.from(values, BigInt), dims },
});

const floats = (data: Float32Array, dims: number[]): TensorLike => ({ type: 'float32', data, dims });

/** At least one, as in Python. @throws RunError where the network gives no numbers */
function framesOf(durations: Float32Array): number {
  const frames = durations.reduce((sum, one) => sum + one, 0);
  if (Number.isFinite(frames)) return Math.max(1, frames);
  throw new RunError(
    'unprocessable',
    'text: the model gives no length to some of its letters; try another text or seed',
  );
}

/** The letter of each frame; that behind the last one where no letter lasts. */
function lettersOfFrames(durations: Float32Array, frames: number): number[] {
  const letters = Array.from(durations).flatMap((length, letter) => new Array<number>(length).fill(letter));
  return letters.length > 0 ? letters : new Array<number>(frames).fill(durations.length);
}

/** float32 [frames, width]. Python fills a transposed tensor, whose numbers torch draws one by one. */
const framesNoise = (draw: DrawNormal, frames: number, width: number): Float32Array =>
  draw(frames * width, { apart: frames > 1 && width > 1 });
