import { engineOf } from '../../runtime/core/engines.js';
import { totalmem } from 'node:os';
import path from 'node:path';
import { DEVICES, totalBytes } from '../../runtime/core/spec.js';
import { hubAddress } from '../../runtime/store/hub-address.js';
import type { CommandDeps } from '../deps.js';
import type { SourceFlags } from '../options.js';
import { cachedFiles } from '../plan/cached.js';
import { defaultWorkers, forecastFormats, LOAD_MACHINE } from '../plan/forecast.js';
import { predictImageSize } from '../plan/image-size.js';
import { ggufFiles } from '../plan/gguf/list-files.js';
import type { ModelPlan } from '../plan/index.js';
import { judgeFit, type Limit } from '../plan/verdict.js';
import { cacheFolder } from '../source.js';

export type ForecastFlags = SourceFlags & { memory?: number; cpus?: number };

/** The output of `--json`. Bytes are whole numbers; null means not known. */
export type Forecast = Awaited<ReturnType<typeof forecastOf>>;

export async function forecastOf(model: ModelPlan, flags: ForecastFlags, deps: CommandDeps) {
  const { spec, reasons, info } = model;
  const cache = cacheFolder(flags, deps);
  const formats = forecastFormats(model, defaultWorkers(flags.cpus));
  const [chosen] = formats;
  const devices = DEVICES.filter((device) => device !== 'vulkan' || spec.profile === 'llama');
  const [cpu, cuda, vulkan] = await Promise.all(
    devices.map((device) => predictImageSize({ spec, device, cache }, deps)),
  );
  return {
    spec,
    reasons,
    parameters: model.parameters ?? null,
    tools: model.tools ?? null,
    files: { count: spec.files.length, bytes: totalBytes(spec) },
    cached: await cachedFiles(flags.from ?? path.join(cache, 'models'), spec),
    formats,
    license: spec.license ?? null,
    gate: gateOf(info, flags, deps),
    devices: {
      cpu: {
        memory: chosen!.memory,
        loadSeconds: chosen!.loadSeconds,
        loadMachine: LOAD_MACHINE,
        image: cpu!,
      },
      cuda: { ...NO_FIGURES, image: cuda! },
      ...(vulkan === undefined ? {} : { vulkan: { ...NO_FIGURES, image: vulkan } }),
    },
    gguf: model.gguf
      ? ggufFiles(
          model.gguf,
          { ...chosen!.memory, isMade: engineOf(spec.engine).runtime === 'onnx' },
          limitOf(flags),
        )
      : null,
    verdict: judgeFit(formats, limitOf(flags)),
  };
}

const NO_FIGURES = {
  ...{ memory: null, loadSeconds: null },
  reason: 'measured for two networks only: docs/measurements.md, "On a GPU"',
};

function gateOf({ gated, id }: ModelPlan['info'], { hub, from }: ForecastFlags, { config }: CommandDeps) {
  if (from !== undefined || !gated) return { gated: false as const };
  const page = `${hubAddress(hub ?? config.endpoint).url}/${id}`;
  return { gated, page, tokenGiven: config.token() !== undefined };
}

function limitOf({ memory }: ForecastFlags): Limit {
  return memory === undefined
    ? { bytes: machineMemory(), name: 'this machine' }
    : { bytes: memory, name: 'a container of that size' };
}

/** Memory of the machine, or the limit of the container that this program runs in. */
function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
