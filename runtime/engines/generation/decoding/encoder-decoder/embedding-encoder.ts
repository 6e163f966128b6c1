import type { Tensor } from 'onnxruntime-node';
import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import type { Json } from '../../../repository/model-folder.js';
import { readersIn } from '../../../repository/named-readers.js';
import { encoderPositions } from '../../../repository/sequence-lengths.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { integers } from '../../../sessions/tensors.js';
import { embedPrompt, EMBEDDINGS_INPUT, type TokenEmbedder } from '../embeddings/token-embedder.js';
import type { Prompt } from '../prompt.js';
import { checkGraphInputs } from './check-graphs.js';
import type { Encoder } from './encoder.js';

const INPUTS = [EMBEDDINGS_INPUT, 'attention_mask'];

/** Opens the encoder of texts that contain features of images: a state for each token. */
export async function openEmbeddingEncoder(
  request: LoadRequest,
  config: Json,
  embedder: TokenEmbedder | undefined,
): Promise<Encoder<Prompt>> {
  if (!embedder) throw new RunError('not_ready', 'the model has no embed_tokens');
  const path = graphSource(request, 'encoder_model');
  const session = await openSession(path, { ...request, arena: true });
  checkGraphInputs(session, (name) => INPUTS.includes(name));
  return {
    maxLength: encoderPositions(config, readersIn(request).positions),
    lengthOf: ({ tokens }) => tokens.length,
    async encode(prompt) {
      const { length } = prompt.tokens;
      const ones = new Array<number>(length).fill(1);
      const embedded = await embedPrompt(embedder, prompt, { from: 0, rows: [prompt.tokens] });
      const feeds: Record<string, Tensor> = { [EMBEDDINGS_INPUT]: embedded };
      if (session.inputNames.includes('attention_mask'))
        feeds['attention_mask'] = integers(session, 'attention_mask', ones, [1, length]);
      const [output] = session.outputNames;
      return (await session.run(feeds, [output!]))[output!]!;
    },
  };
}
