import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { elementsOf } from '../../../sessions/elements.js';
import { graphSource, structureOf } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { createBatchDecoder } from '../batch/batch-decoder.js';
import { createStepSession } from '../batch/step-session.js';
import { type CachePort, type KeysValues, kvBytesPerToken } from '../cache/kv-cache.js';
import { cachePortsOf, maxPositionsOf } from '../graph/decoder-layout.js';
import { prefillChunkOf } from '../prefill-chunk.js';
import { HEADS_INPUT } from '../prompt.js';
import { answerLengthOf, type OpenCrossDecoder, stateBytesOf } from './cross-decoder.js';
import { isCrossAttention } from './cross-cache.js';

/** The graph that makes keys and values of a source; only the builder writes one (models/bases/encoder-decoder/running-cross-decoder.ts). */
export const CROSS_ROLE = 'cross_key_values';

/** Opens a decoder that the builder wrote: all requests share the running batch, whatever they attend to. */
export const openRunningCrossDecoder: OpenCrossDecoder = async (request, { config, embedder, memoryFor }) => {
  const file = graphSource(request, 'decoder_model_merged');
  const graph = structureOf(file);
  const ports = cachePortsOf(graph, config);
  const type = 'float32';
  const source = ports.filter(({ past }) => isCrossAttention(past));
  const layout = { ports: ports.filter((port) => !source.includes(port)), source, type } as const;
  const [native, cross] = await Promise.all([
    openSession(file, { ...request, arena: true }),
    openSession(graphSource(request, CROSS_ROLE), { ...request, arena: true }),
  ]);
  const crossBytes = kvBytesPerToken({ ports: source, type });
  const memory = await memoryFor(kvBytesPerToken(layout) + crossBytes);
  const decoder = createBatchDecoder({
    session: createStepSession(native, layout, embedder),
    ...{ sharesRuns: true, chunkedPrefill: true, memory, chunk: prefillChunkOf(config) },
    ...{ inputNames: native.inputNames, maxPositions: maxPositionsOf(graph, config) },
    contextLength: answerLengthOf(config),
    scoreBytes: ({ attentionBytes = 0 }) => attentionBytes,
  });
  const bytesPerState = crossBytes + stateBytesOf(config);
  return {
    memory,
    tellsAttention: native.inputNames.includes(HEADS_INPUT),
    decoder: {
      start: (decoding, { length, seen = length, encode }) =>
        decoder.start(decoding, {
          bytes: length * bytesPerState,
          read: async () => readSource(cross, source, firstStates(await encode(), seen)),
        }),
    },
  };
};

/** The first of the states [1, length, width]. */
function firstStates(states: Tensor, seen: number): Tensor {
  const [, length, width] = states.dims as [number, number, number];
  if (length <= seen) return states;
  return new ort.Tensor('float32', (states.data as Float32Array).subarray(0, seen * width), [1, seen, width]);
}

/** @param states [1, length, width] */
export async function readSource(
  session: InferenceSession,
  ports: readonly CachePort[],
  states: Tensor,
): Promise<KeysValues> {
  const outputs = await session.run({ encoder_hidden_states: states });
  return { length: states.dims[1]!, data: ports.map(({ present }) => elementsOf(outputs[present]!)) };
}
