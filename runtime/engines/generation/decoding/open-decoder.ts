import type { LoadRequest } from '../../../core/load-request.js';
import { exportedDecoder } from '../../../onnx/exporter-names.js';
import { writeGraph } from '../../../onnx/graph.js';
import type { Json } from '../../repository/model-folder.js';
import { type GraphSource, graphSource, structureOf, weightsFolder } from '../../sessions/graph-source.js';
import { openBatchDecoder } from './batch/open-batch-decoder.js';
import type { Decoder, DecoderFile } from './decoder.js';
import { openTokenEmbedder } from './embeddings/token-embedder.js';
import { openSingleDecoder } from './single/open-single-decoder.js';

/**
 * Opens the graph of a decoder-only language model with a key-value cache: with continuous batching where a
 * trial shows that it changes no answer, else with one generation per run.
 */
export async function openDecoder(request: LoadRequest, config: Json): Promise<Decoder> {
  const role = 'model' in request.spec.graphs ? 'model' : 'decoder_model_merged';
  const file = { ...decoderGraph(graphSource(request, role)), embedder: await openTokenEmbedder(request) };
  return (await openBatchDecoder(request, config, file)) ?? (await openSingleDecoder(request, config, file));
}

function decoderGraph(source: GraphSource): Pick<DecoderFile, 'source' | 'graph'> {
  const original = structureOf(source);
  const graph = exportedDecoder(original);
  if (graph === original) return { source, graph };
  return { source: { bytes: writeGraph(graph), weightsIn: weightsFolder(source) }, graph };
}
