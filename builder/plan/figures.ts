import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { networkSizes } from '../../runtime/core/network.js';
import type { Device, ModelSpec } from '../../runtime/core/spec.js';
import { forecastFormats, MAX_WORKERS } from './forecast.js';
import { imageMemory } from './vision/image-memory.js';
import { noiseOf } from './facts.js';
import type { ModelPlan } from './plan.js';
import { limitFor, requestBytes } from './request-memory.js';
import { sessionKind } from './session-kind.js';

/** Resources that a model needs; undefined when not known. */
export interface Figures {
  /** Number of the network's parameters, independent of how they are packed. */
  parameters?: number | undefined;
  /** Memory limit for a server with this model in bytes, enough for the longest requests. */
  memoryBytes?: number | undefined;
  /** Seconds from the start with verified weights to ready. */
  loadSeconds?: number | undefined;
  /** measured: on this image. predicted: from sizes, the same on every machine. */
  basis: 'predicted' | 'measured';
}

/**
 * Predicts figures for any machine, with the default number of session threads. For GPUs only the number of parameters is
 * known. Pure.
 */
export function predictedFigures(
  { formats, facts, parameters }: Pick<ModelPlan, 'formats' | 'facts' | 'parameters'>,
  device: Device,
): Figures {
  if (device !== 'cpu') return { parameters, basis: 'predicted' };
  const [forecast] = forecastFormats({ formats: formats.slice(0, 1), facts }, MAX_WORKERS);
  const { memory, loadSeconds } = forecast!;
  return { parameters, memoryBytes: memory.limitBytes, loadSeconds, basis: 'predicted' };
}

/** The memory limit for a model measured with requests of usual size: adds the longest requests. */
export async function limitMeasured(
  dir: string,
  spec: ModelSpec,
  { peakBytes, steadyBytes }: { peakBytes: number; steadyBytes: number },
): Promise<number> {
  const read = async (name: string) =>
    JSON.parse(await readFile(path.join(dir, name), 'utf8').catch(() => '{}')) as Record<string, unknown>;
  const [config, processing] = [await read('config.json'), await read('preprocessor_config.json')];
  const pipeline = (await read('model_index.json'))['_class_name'];
  const image = imageMemory(config, processing);
  const noise = typeof pipeline === 'string' ? await noiseOf(pipeline, read) : undefined;
  const input = { spec, sizes: networkSizes(spec), image, noise, workers: MAX_WORKERS };
  return Math.max(peakBytes, limitFor(steadyBytes, requestBytes(sessionKind(input), input), spec.profile));
}
