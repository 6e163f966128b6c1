import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { sizesOf } from '../../runtime/core/network-sizes.js';
import type { Device, ModelSpec } from '../../runtime/core/spec.js';
import { ProtobufError, withFileReader } from '../../runtime/onnx/protobuf.js';
import type { GraphNotes } from './external.js';
import { forecastFormats, MOST_WORKERS } from './forecast.js';
import { sessionKind, weightBytes } from './memory.js';
import { limitFor, requestBytes } from './request-memory.js';
import { countParameters, graphWeights } from './parameters.js';
import type { ModelPlan } from './plan.js';

/** What a model takes, as far as it is known. */
export interface Figures {
  /** Parameters of the network, whatever they are packed into. */
  parameters?: number | undefined;
  /** Memory that a server with this model has to be allowed, in bytes: the longest requests are in it. */
  memoryBytes?: number | undefined;
  /** From the start of a server with verified weights to ready. */
  loadSeconds?: number | undefined;
  /** measured: of this very image. predicted: from sizes, and the same on every machine. */
  basis: 'predicted' | 'measured';
}

/**
 * What a model will take on any machine: memory is that of a server with as many session threads as it opens by
 * itself. Of GPUs nothing but the parameters is known. Pure.
 */
export function predictedFigures(
  { formats, facts, parameters }: Pick<ModelPlan, 'formats' | 'facts' | 'parameters'>,
  device: Device,
): Figures {
  if (device === 'cuda') return { parameters, basis: 'predicted' };
  const [forecast] = forecastFormats({ formats: formats.slice(0, 1), facts }, MOST_WORKERS);
  const { memory, loadSeconds } = forecast!;
  return { parameters, memoryBytes: memory.limitBytes, loadSeconds, basis: 'predicted' };
}

/** What a model has to be allowed that held so many bytes with requests of usual size: the longest ones go on top. */
export async function limitMeasured(
  dir: string,
  spec: ModelSpec,
  { peakBytes, steadyBytes }: { peakBytes: number; steadyBytes: number },
): Promise<number> {
  const text = await readFile(path.join(dir, 'config.json'), 'utf8').catch(() => '{}');
  const input = { spec, sizes: sizesOf(JSON.parse(text) as Record<string, unknown>), workers: MOST_WORKERS };
  return Math.max(peakBytes, limitFor(steadyBytes, requestBytes(sessionKind(input), input), spec.profile));
}

/** Bytes of one parameter in formats that pack none. */
const PLAIN_BYTES: [dtype: string, bytes: number][] = [
  ['fp32', 4],
  ['fp16', 2],
];

/**
 * Parameters of a model: counted where all of its graphs were read, else reckoned from the size of its plain weights
 * (three digits, since graphs hold some more than weights), else not known.
 * @param formats the model in every weight format that is there, the chosen one first
 */
export function parametersOf(
  formats: readonly ModelSpec[],
  { weights }: Pick<GraphNotes, 'weights'>,
): number | undefined {
  const graphs = Object.values(formats[0]!.graphs).map((path) => weights[path]);
  const counted = graphs.every((graph) => graph !== undefined) ? countParameters(graphs) : 0;
  if (counted > 0) return counted;
  for (const [dtype, bytes] of PLAIN_BYTES) {
    const plain = formats.find((format) => format.dtype === dtype);
    const total = plain && weightBytes(plain) / bytes;
    if (total) return Number(total.toPrecision(3));
  }
  return undefined;
}

/** Parameters of a model whose files lie in a folder; undefined where its graphs hold no weights that can be counted. */
export function parametersIn(dir: string, { graphs }: Pick<ModelSpec, 'graphs'>): number | undefined {
  try {
    const weights = Object.values(graphs).map((graph) =>
      withFileReader(path.join(dir, ...graph.split('/')), graphWeights),
    );
    return countParameters(weights) || undefined;
  } catch (error) {
    // Other ways to write a graph than ours to read it: then it is not known.
    if (error instanceof ProtobufError) return undefined;
    throw error;
  }
}
