import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { sizesOf } from '../../runtime/core/network-sizes.js';
import type { Device, ModelSpec } from '../../runtime/core/spec.js';
import { forecastFormats, MOST_WORKERS } from './forecast.js';
import type { ModelPlan } from './plan.js';
import { limitFor, requestBytes } from './request-memory.js';
import { sessionKind } from './session-kind.js';

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
