import type { InferenceSession } from 'onnxruntime-node';
import type { LoadRequest } from '../../../../core/load-request.js';
import type { Graph } from '../../../../onnx/graph.js';
import { withIntegerProducts } from '../../../../onnx/integer-products.js';
import type { Json } from '../../../repository/model-folder.js';
import { correlation } from '../../../sessions/correlation.js';
import { emptySequenceCache } from '../cache/kv-cache.js';
import { trialTokens } from '../trial.js';
import type { StepSession } from './step-session.js';

export interface OpenedForm {
  native: InferenceSession;
  session: StepSession;
}

interface Form {
  graph: Graph;
  config: Json;
  /** Opens a form of the graph. */
  open(graph: Graph): Promise<OpenedForm>;
}

/**
 * Rounding weights to four bits costs more than a tenth of what they say, rounding activations to eight less than a
 * hundredth: below this the rounding would be no further loss any more.
 */
const LEAST_CORRELATION = 0.999;

/**
 * The decoder with its products over packed weights as integers, which takes less than half the time, where the setting
 * allows it and the next-token scores of probe texts stay what they were; else as it was opened. One of both is open at a
 * time. What was found of the graph's abilities stays true: rows are rounded each by itself. It can't be found afterwards,
 * since a difference in the last digit, such as another length of the cache makes, may become a step of the rounding.
 */
export async function withFastProducts(
  { precision, device }: LoadRequest,
  opened: OpenedForm,
  { graph, config, open }: Form,
): Promise<OpenedForm> {
  const changed = precision === 'fast' && device === 'cpu' ? withIntegerProducts(graph) : graph;
  if (changed === graph) return opened;
  const exact = await probeScores(opened.session, config);
  await opened.native.release();
  const fast = await open(changed);
  const found = await probeScores(fast.session, config);
  const least = Math.min(...exact.map((scores, i) => correlation(scores, found[i]!)));
  const takes = least >= LEAST_CORRELATION;
  const how = takes ? 'as integers' : 'as floats; as integers they would lose too much';
  process.stderr.write(
    `products over packed weights are computed ${how} (correlation ${least.toFixed(5)})\n`,
  );
  if (takes) return fast;
  await fast.native.release();
  return open(graph);
}

/** Tokens of each probe text, and the first one. */
const PROBES = [
  [3, 5],
  [8, 41],
  [16, 17],
  [24, 73],
] as const;

/** Scores after each probe text. */
async function probeScores(session: StepSession, config: Json): Promise<Float32Array[]> {
  const tokens = trialTokens(config);
  const scores: Float32Array[] = [];
  for (const [length, first] of PROBES) {
    const prompt = { tokens: tokens(length, first) };
    const output = await session.prefill(prompt, length, emptySequenceCache(session.layout));
    // A view of a tensor that is gone with its session.
    scores.push(output.scores[0]!.slice());
  }
  return scores;
}
