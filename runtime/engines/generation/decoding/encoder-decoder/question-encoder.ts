import ort from 'onnxruntime-node';
import type { Tensor } from 'onnxruntime-node';
import type { LoadRequest } from '../../../../core/load-request.js';
import type { ProcessedImage } from '../../../processors/image/image-processor.js';
import type { Json } from '../../../repository/model-folder.js';
import { readersIn } from '../../../repository/named-readers.js';
import { decoderPositions } from '../../../repository/sequence-lengths.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { integers } from '../../../sessions/tensors.js';
import { checkGraphInputs } from './check-graphs.js';
import type { Encoder } from './encoder.js';
import { imageLengths } from './image-encoder.js';

/** An image, and the tokens of a question about it. */
export interface ImageQuestion {
  image: ProcessedImage;
  question: readonly number[];
}

const INPUTS = ['pixel_values', 'input_ids', 'attention_mask'];

/** Opens an encoder that reads a question with its eye on an image: a state for each token of the question. */
export async function openQuestionEncoder(
  request: LoadRequest,
  config: Json,
): Promise<Encoder<ImageQuestion>> {
  const path = graphSource(request, 'encoder_model');
  const session = await openSession(path, { ...request, arena: true });
  checkGraphInputs(session, (name) => INPUTS.includes(name));
  const [output] = session.outputNames;
  const lengths = imageLengths(config);
  return {
    // Memory is needed for the states of the image, too.
    maxLength: lengths.maxLength + decoderPositions(config, readersIn(request).positions),
    lengthOf: ({ image, question }) => lengths.lengthOf(image) + question.length,
    async encode({ image: { values, height, width }, question }) {
      const dims = [1, question.length];
      const all: Record<string, () => Tensor> = {
        pixel_values: () => new ort.Tensor('float32', values, [1, 3, height, width]),
        input_ids: () => integers(session, 'input_ids', [...question], dims),
        attention_mask: () =>
          integers(
            session,
            'attention_mask',
            question.map(() => 1),
            dims,
          ),
      };
      const feeds = Object.fromEntries(session.inputNames.map((name) => [name, all[name]!()]));
      return (await session.run(feeds, [output!]))[output!]!;
    },
  };
}
