import { dirname } from 'node:path';
import type { InferenceSession } from 'onnxruntime-node';
import { type Graph, readGraph, writeGraph } from '../../../onnx/graph.js';
import type { LoadRequest } from '../../../core/load-request.js';
import type { Json } from '../../repository/model-folder.js';
import { openSession, type SessionOptions } from '../../sessions/session.js';
import { createBatchDecoder } from './batch/batch-decoder.js';
import { createCacheBudget } from './cache/cache-budget.js';
import { promptChunk } from './prompt-chunk.js';
import { withLastScores, withNewTokensOnly } from './graph/decoder-graph.js';
import { layoutOf, positionsOf } from './graph/decoder-layout.js';
import { checkPrompt, decoderMemory } from './cache/decoder-memory.js';
import type { Decoder } from './decoder.js';
import { tryDecoder } from './batch/decoder-trial.js';
import { bytesPerToken } from './cache/kv-cache.js';
import { contextLengthOf } from '../../repository/sequence-lengths.js';
import { decoderPath, openPlainDecoder, type PlainDecoder } from './single/single-decoder.js';
import { startReserved } from './cache/reservation.js';
import { withScalesPerRow } from './graph/row-scales.js';
import { createStepSession } from './batch/step-session.js';

/**
 * Opens the graph `model` of a decoder-only language model with a key-value cache: with continuous batching where a
 * trial shows that company changes no answer, else with one generation a run.
 */
export async function openDecoder(request: LoadRequest, config: Json): Promise<Decoder> {
  const graph = readGraph(decoderPath(request));
  return (
    (await openBatchDecoder(request, config, graph)) ??
    limited(await openPlainDecoder(request, config, graph), request, config)
  );
}

async function openBatchDecoder(
  request: LoadRequest,
  config: Json,
  graph: Graph,
): Promise<Decoder | undefined> {
  const layout = layoutOf(graph, config);
  if (!layout) return undefined;
  const changed = withLastScores(withNewTokensOnly(graph, layout.ports));
  for (const form of new Set([withScalesPerRow(changed), changed])) {
    const native = await openForm(writeGraph(form), {
      ...request,
      ...{ arena: true, weightsIn: dirname(decoderPath(request)) },
    });
    if (!native) continue;
    const session = createStepSession(native, layout);
    const abilities = await tryDecoder(session, config);
    if (abilities) {
      const chunk = promptChunk(config);
      const contextLength = contextLengthOf(config);
      const memory = decoderMemory(request, {
        ...{ config, contextLength, perToken: bytesPerToken(layout) },
        chunk: abilities.inParts ? chunk : Infinity,
      });
      return createBatchDecoder({
        ...{ session, ...abilities },
        inputNames: native.inputNames,
        positions: positionsOf(graph, config),
        ...{ contextLength, chunk, memory },
      });
    }
    await native.release();
  }
  return undefined;
}

/** A changed graph; undefined where ONNX Runtime refuses it. What is wrong with the file itself shows in the next form. */
async function openForm(graph: Uint8Array, options: SessionOptions): Promise<InferenceSession | undefined> {
  try {
    return await openSession(graph, options);
  } catch {
    return undefined;
  }
}

/** The same, within the memory for caches. */
function limited(decoder: PlainDecoder, request: LoadRequest, config: Json): Decoder {
  const { contextLength, bytesPerToken: perToken, chunk } = decoder;
  const memory = decoderMemory(request, { config, contextLength, perToken, chunk });
  const budget = createCacheBudget(memory.cacheBytes, memory.cacheLimit);
  return {
    ...decoder,
    start(need) {
      checkPrompt(memory, need.prompt);
      const tokens = Math.min(need.tokens, decoder.contextLength ?? need.tokens);
      const footprint = { rows: need.rows, tokens, perToken: decoder.bytesPerToken };
      return startReserved(budget, { ...footprint, need }, () => decoder.start(need));
    },
  };
}
