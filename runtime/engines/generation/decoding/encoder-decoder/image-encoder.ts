import ort from 'onnxruntime-node';
import type { LoadRequest } from '../../../../core/load-request.js';
import type { ProcessedImage } from '../../../processors/image/image-processor.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { partOf } from '../../../repository/sequence-lengths.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { checkGraphInputs } from './check-graphs.js';
import type { Encoder } from './encoder.js';
import { patchEncoder } from './patch-encoder.js';

/** Opens the encoder of images: a state for each patch, as a rule. */
export async function openImageEncoder(request: LoadRequest, config: Json): Promise<Encoder<ProcessedImage>> {
  const path = graphSource(request, 'encoder_model');
  const session = await openSession(path, { ...request, arena: true });
  if (session.inputNames.includes('flattened_patches')) return patchEncoder(session, request);
  checkGraphInputs(session, (name) => name === 'pixel_values');
  const [output] = session.outputNames;
  return {
    ...imageLengths(config),
    async encode({ values, height, width }) {
      const pixels = new ort.Tensor('float32', values, [1, 3, height, width]);
      return (await session.run({ pixel_values: pixels }, [output!]))[output!]!;
    },
  };
}

/** How many states images have, and most of them. */
export function imageLengths(config: Json): Pick<Encoder<Size>, 'maxLength' | 'lengthOf'> {
  const encoder = partOf(config, 'encoder');
  const stride = patchStride(encoder);
  return {
    maxLength: statesOf(imageSize(encoder), stride),
    lengthOf: (image) => statesOf(image, stride),
  };
}

interface Size {
  height: number;
  width: number;
}

/** Tokens beside the patches, such as [CLS]. */
const EXTRA_STATES = 2;
const DEFAULT_PATCH = 16;
const DEFAULT_SIZE = 384;

const statesOf = ({ height, width }: Size, stride: number): number =>
  Math.ceil(height / stride) * Math.ceil(width / stride) + EXTRA_STATES;

/** Pixels from one state to the next: hierarchical encoders (Swin) halve the grid after each stage. */
function patchStride(config: Json): number {
  const stages = Array.isArray(config['depths']) ? config['depths'].length : 1;
  return (firstNumber(config, 'patch_size') ?? DEFAULT_PATCH) * 2 ** (stages - 1);
}

function imageSize(config: Json): Size {
  const [height = DEFAULT_SIZE, width = height] = [config['image_size']].flat() as number[];
  return { height, width };
}
