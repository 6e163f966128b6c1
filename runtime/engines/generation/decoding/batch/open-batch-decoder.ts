import { networkSizes } from '../../../../core/network.js';
import type { InferenceSession } from 'onnxruntime-node';
import type { LoadRequest } from '../../../../core/load-request.js';
import { type Graph, isOwn, writeGraph } from '../../../../onnx/graph.js';
import type { Json } from '../../../repository/model-folder.js';
import { contextLengthOf } from '../../../repository/sequence-lengths.js';
import { type GraphInMemory, weightsFolder } from '../../../sessions/graph-source.js';
import { openSession, type SessionOptions } from '../../../sessions/session.js';
import { planDecoderMemory } from '../cache/decoder-memory.js';
import { kvBytesPerToken, stateBytes } from '../cache/kv-cache.js';
import type { Decoder, DecoderFile } from '../decoder.js';
import { EMBEDDINGS_INPUT } from '../embeddings/token-embedder.js';
import { withChosenScores } from '../graph/chosen-scores.js';
import { withNewTokensOnly } from '../graph/decoder-graph.js';
import { cacheLayoutOf, maxPositionsOf, ownSwitchLength, turnsByLength } from '../graph/decoder-layout.js';
import { withScalesPerRow } from '../graph/row-scales.js';
import { prefillChunkOf, promptScoreBytes } from '../prefill-chunk.js';
import { GROUPS_INPUT } from '../prompt.js';
import { createBatchDecoder } from './batch-decoder.js';
import { type DecoderAbilities, tryDecoder } from './decoder-trial.js';
import { openImageKeys } from './image-keys.js';
import { withFastProducts } from './fast-products.js';
import { createStepSession } from './step-session.js';

/**
 * Opens a graph with continuous batching.
 * @returns undefined where batches can't be made of it
 */
export async function openBatchDecoder(
  request: LoadRequest,
  config: Json,
  { graph, source, embedder }: DecoderFile,
): Promise<Decoder | undefined> {
  const layout = cacheLayoutOf(graph, config);
  const takesEmbeddings = graph.inputs.some(({ name }) => name === EMBEDDINGS_INPUT);
  if (!layout || takesEmbeddings !== (embedder !== undefined)) return undefined;
  const changed = withChosenScores(isOwn(graph) ? graph : withNewTokensOnly(graph, layout.ports));
  const options = { ...request, arena: true };
  const weightsIn = weightsFolder(source);
  for (const form of new Set([withScalesPerRow(changed), changed])) {
    const native = await openForm({ bytes: writeGraph(form), weightsIn }, options);
    if (!native) continue;
    const stepper = createStepSession(native, layout, embedder);
    const abilities = isOwn(graph) ? ownAbilities(graph, config) : await tryDecoder(stepper, config);
    if (abilities) {
      const opened = { native, session: stepper };
      const { session, native: chosen } = await withFastProducts(request, opened, {
        ...{ graph: form, config },
        async open(changed) {
          const reopened = await openSession({ bytes: writeGraph(changed), weightsIn }, options);
          return { native: reopened, session: createStepSession(reopened, layout, embedder) };
        },
      });
      const chunk = prefillChunkOf(config);
      const contextLength = contextLengthOf(config);
      const memory = planDecoderMemory(request, {
        ...{
          network: networkSizes(request.spec),
          contextLength,
          bytesPerToken: kvBytesPerToken(layout),
          bytesPerRow: stateBytes(layout),
        },
        chunk: abilities.chunkedPrefill ? chunk : Infinity,
      });
      return createBatchDecoder({
        ...{ session, ...abilities },
        inputNames: chosen.inputNames,
        maxPositions: maxPositionsOf(graph, config),
        ...{
          contextLength,
          chunk,
          memory,
          switchLength: ownSwitchLength(graph, config, request.spec.readers?.rope),
        },
        images: layout.source && (await openImageKeys(request, layout)),
        scoreBytes: (asked) =>
          promptScoreBytes(asked, { config, chunk: abilities.chunkedPrefill ? chunk : Infinity }),
      });
    }
    await native.release();
  }
  return undefined;
}

/**
 * Of our own graphs, whose tokens know their positions wherever they lie in a cache. A trial could not show it of packed
 * weights: sums over a longer cache differ in their last digits, and rounded activations make that a step.
 */
const ownAbilities = ({ inputs }: Graph, config: Json): DecoderAbilities => ({
  sharesRuns: true,
  // Tokens of a group see each other in one run only.
  chunkedPrefill: !inputs.some(({ name }) => name === GROUPS_INPUT) && !turnsByLength(config),
});

/** Undefined where ONNX Runtime refuses the changed graph. An error in the file itself shows when it is opened unchanged. */
async function openForm(
  graph: GraphInMemory,
  options: SessionOptions,
): Promise<InferenceSession | undefined> {
  try {
    return await openSession(graph, options);
  } catch {
    return undefined;
  }
}
