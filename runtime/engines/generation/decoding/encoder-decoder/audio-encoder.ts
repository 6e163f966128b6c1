import ort from 'onnxruntime-node';
import type { Tensor } from 'onnxruntime-node';
import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { createTensorEncoder } from '../../../batching/tensor-encoder.js';
import { checkAudioInputs, audioRow } from '../../../audio/audio-row.js';
import type { AudioFeatures } from '../../../processors/audio/audio-features.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { partOf } from '../../../repository/sequence-lengths.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { openSessionPool } from '../../../sessions/session-pool.js';
import { integers, toOrtTensor } from '../../../sessions/tensors.js';
import type { Encoder } from './encoder.js';

const MASK = 'attention_mask';

type Encode = Encoder<AudioFeatures>['encode'];

/**
 * Opens the encoder of audio clips: a state for each fiftieth of a second, as a rule. Windows of one length, of all requests, share
 * runs where that is worth it; audio clips of any length take turns.
 */
export async function openAudioEncoder(request: LoadRequest, config: Json): Promise<Encoder<AudioFeatures>> {
  const window = sampleWindow(config);
  const encode = await (window ? openWindows(request, window) : openLengths(request));
  /** An audio clip may be asked twice: for its language, then for its words. */
  const known = new WeakMap<AudioFeatures, Promise<Tensor>>();
  return {
    ...audioLengths(config),
    encode(source, signal) {
      const states = known.get(source) ?? encode(source, signal);
      known.set(source, states);
      return states;
    },
  };
}

const ROLE = 'encoder_model';

/** Windows of one length: Whisper's. */
async function openWindows(request: LoadRequest, window: (seed: number) => AudioFeatures): Promise<Encode> {
  // Beside the decoder, and on all threads: a run of a window fills them.
  const pool = await openSessionPool(
    { ...request, workers: Math.min(1, request.workers) },
    graphSource(request, ROLE),
  );
  const { inputs, outputs } = pool;
  checkAudioInputs(inputs, window(0));
  const encoder = await createTensorEncoder(pool, {
    sample: (seed) => audioRow(inputs, window(seed)),
    memory: request.memory,
  });
  return async (source, signal) => {
    const found = await encoder.forward(audioRow(inputs, source), signal);
    return toOrtTensor(found[outputs[0]!.name]!);
  };
}

/** Windows to try the graph with; undefined for models that take audio clips of any length. */
function sampleWindow(config: Json): ((seed: number) => AudioFeatures) | undefined {
  const encoder = partOf(config, 'encoder');
  const states = firstNumber(encoder, 'max_source_positions');
  const filters = firstNumber(encoder, 'num_mel_bins');
  if (states === undefined || filters === undefined) return undefined;
  const length = states * FRAME_STRIDE;
  return (seed) => ({
    input: 'input_features',
    values: Float32Array.from({ length: filters * length }, (_, i) => Math.sin(i / (7 + 4 * seed)) / 2),
    dims: [1, filters, length],
    mask: { length, content: length },
  });
}

/** Audio clips of any length. No memory is kept of the longest. */
async function openLengths(request: LoadRequest): Promise<Encode> {
  const session = await openSession(graphSource(request, ROLE), { ...request, arena: false });
  const known = ['input_features', 'input_values', MASK];
  const unknown = session.inputNames.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new RunError(
      'not_ready',
      `the graph wants inputs that an audio clip can't give: ${unknown.join(', ')}`,
    );
  const [output] = session.outputNames;
  return async ({ input, values, dims, mask }) => {
    const feeds: Record<string, Tensor> = { [input]: new ort.Tensor('float32', values, dims) };
    if (session.inputNames.includes(MASK)) {
      const steps = Array.from({ length: mask.length }, (_, i) => (i < mask.content ? 1 : 0));
      feeds[MASK] = integers(session, MASK, steps, [1, mask.length]);
    }
    return (await session.run(feeds, [output!]))[output!]!;
  };
}

/** Frames of a spectrogram, and samples, from one state to the next. */
const [FRAME_STRIDE, SAMPLE_STRIDE] = [2, 320];

/** How many states audio clips have, and most of them. */
export function audioLengths(config: Json): Pick<Encoder<AudioFeatures>, 'lengthOf' | 'maxLength'> {
  const longest = firstNumber(partOf(config, 'encoder'), 'max_source_positions');
  return {
    maxLength: longest ?? Infinity,
    lengthOf: ({ input, mask }) =>
      Math.ceil(mask.length / (input === 'input_features' ? FRAME_STRIDE : SAMPLE_STRIDE)),
  };
}
