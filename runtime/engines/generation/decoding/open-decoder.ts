import type { LoadRequest } from '../../../core/load-request.js';
import type { Json } from '../../repository/model-folder.js';
import { graphSource, structureOf } from '../../sessions/graph-source.js';
import { openBatchDecoder } from './batch/open-batch-decoder.js';
import type { Decoder } from './decoder.js';
import { openTokenEmbedder } from './embeddings/token-embedder.js';
import { openSingleDecoder } from './single/open-single-decoder.js';

/**
 * Opens the graph of a decoder-only language model with a key-value cache: with continuous batching where a
 * trial shows that it changes no answer, else with one generation per run.
 */
export async function openDecoder(request: LoadRequest, config: Json): Promise<Decoder> {
  const role = 'model' in request.spec.graphs ? 'model' : 'decoder_model_merged';
  const source = graphSource(request, role);
  const file = { source, graph: structureOf(source), embedder: await openTokenEmbedder(request) };
  return (await openBatchDecoder(request, config, file)) ?? (await openSingleDecoder(request, config, file));
}
