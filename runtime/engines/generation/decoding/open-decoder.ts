import { join } from 'node:path';
import type { LoadRequest } from '../../../core/load-request.js';
import { readGraph } from '../../../onnx/graph.js';
import type { Json } from '../../repository/model-folder.js';
import { openBatchDecoder } from './batch/open-batch-decoder.js';
import type { Decoder } from './decoder.js';
import { openTokenEmbedder } from './embeddings/token-embedder.js';
import { openSingleDecoder } from './single/open-single-decoder.js';

/**
 * Opens the graph of a decoder-only language model with a key-value cache: with continuous batching where a
 * trial shows that it changes no answer, else with one generation per run.
 */
export async function openDecoder(request: LoadRequest, config: Json): Promise<Decoder> {
  const path = join(
    request.dir,
    request.spec.graphs['model'] ?? request.spec.graphs['decoder_model_merged']!,
  );
  const file = { path, graph: readGraph(path), embedder: await openTokenEmbedder(request) };
  return (await openBatchDecoder(request, config, file)) ?? (await openSingleDecoder(request, config, file));
}
