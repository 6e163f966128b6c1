import { networkSizes } from '../../../../core/network.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import type { Json } from '../../../repository/model-folder.js';
import { checkPromptFits, type DecoderMemory, planDecoderMemory } from '../cache/decoder-memory.js';
import type { EncoderDecoder } from '../decoder.js';
import { openTokenEmbedder, type TokenEmbedder } from '../embeddings/token-embedder.js';
import { CROSS_ROLE, openRunningCrossDecoder } from './running-cross-decoder.js';
import { openSingleCrossDecoder } from './single-cross-decoder.js';
import type { Encoder } from './encoder.js';
import type { OpenCrossDecoder } from './cross-decoder.js';

/** @param embedder the table of tokens, for models whose graphs take embeddings */
export type OpenEncoder<Source> = (
  request: LoadRequest,
  config: Json,
  embedder: TokenEmbedder | undefined,
) => Promise<Encoder<Source>>;

/**
 * Opens a sequence-to-sequence model: its encoder, and its decoder, whose requests share runs where the builder wrote its
 * graphs, else take turns.
 */
export async function openEncoderDecoder<Source>(
  request: LoadRequest,
  config: Json,
  openEncoder: OpenEncoder<Source>,
): Promise<EncoderDecoder<Source>> {
  const embedder = await openTokenEmbedder(request);
  const openDecoder: OpenCrossDecoder =
    CROSS_ROLE in request.spec.graphs ? openRunningCrossDecoder : openSingleCrossDecoder;
  const encoding = openEncoder(request, config, embedder);
  const memoryFor = async (bytesPerToken: number): Promise<DecoderMemory> =>
    planDecoderMemory(request, {
      network: networkSizes(request.spec, 'encoder'),
      contextLength: (await encoding).maxLength,
      ...{ bytesPerToken, chunk: Infinity },
    });
  const [encoder, { memory, decoder, tellsAttention }] = await Promise.all([
    encoding,
    openDecoder(request, { config, embedder, memoryFor }),
  ]);
  return {
    tellsAttention,
    async start(source, decoding) {
      const length = encoder.lengthOf(source);
      checkPromptFits(memory, length);
      return decoder.start(decoding, {
        length,
        seen: encoder.seenOf?.(source),
        encode: () => encoder.encode(source, decoding.signal),
      });
    },
  };
}
