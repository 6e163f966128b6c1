import ort from 'onnxruntime-node';
import type { Tensor } from 'onnxruntime-node';
import type { LoadRequest } from '../../../../core/load-request.js';
import type { SoundFeatures } from '../../../processors/audio/sound-features.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { partOf } from '../../../repository/sequence-lengths.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { integers } from '../../../sessions/tensors.js';
import { checkGraphInputs } from './check-graphs.js';
import type { Encoder } from './encoder.js';

const MASK = 'attention_mask';

/** Opens the encoder of sounds: a state for each fiftieth of a second, as a rule. */
export async function openSoundEncoder(request: LoadRequest, config: Json): Promise<Encoder<SoundFeatures>> {
  const path = graphSource(request, 'encoder_model');
  const session = await openSession(path, { ...request, arena: false });
  checkGraphInputs(session, (name) => name === 'input_features' || name === 'input_values' || name === MASK);
  const [output] = session.outputNames;
  /** A sound may be asked twice: for its language, then for its words. */
  const known = new WeakMap<SoundFeatures, Promise<Tensor>>();

  async function encode({ input, values, dims, mask }: SoundFeatures): Promise<Tensor> {
    const feeds: Record<string, Tensor> = { [input]: new ort.Tensor('float32', values, dims) };
    if (session.inputNames.includes(MASK)) {
      const steps = Array.from({ length: mask.length }, (_, i) => (i < mask.content ? 1 : 0));
      feeds[MASK] = integers(session, MASK, steps, [1, mask.length]);
    }
    return (await session.run(feeds, [output!]))[output!]!;
  }

  return {
    ...soundLengths(config),
    encode(source) {
      const states = known.get(source) ?? encode(source);
      known.set(source, states);
      return states;
    },
  };
}

/** Frames of a spectrogram, and samples, from one state to the next. */
const [FRAME_STRIDE, SAMPLE_STRIDE] = [2, 320];

/** How many states sounds have, and most of them. */
export function soundLengths(config: Json): Pick<Encoder<SoundFeatures>, 'lengthOf' | 'maxLength'> {
  const longest = firstNumber(partOf(config, 'encoder'), 'max_source_positions');
  return {
    maxLength: longest ?? Infinity,
    lengthOf: ({ input, mask }) =>
      Math.ceil(mask.length / (input === 'input_features' ? FRAME_STRIDE : SAMPLE_STRIDE)),
  };
}
