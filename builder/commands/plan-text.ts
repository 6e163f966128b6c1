import type { ModelSpec } from '../../runtime/core/spec.js';
import { totalBytes } from '../../runtime/core/spec.js';
import type { FormatForecast } from '../plan/forecast.js';
import type { GgufFile } from '../plan/gguf/list-files.js';
import type { ImageSize } from '../plan/image-size.js';
import type { ModelPlan } from '../plan/index.js';
import { megabytes } from '../report.js';
import type { Forecast } from './plan-forecast.js';

type Row = readonly [name: string, value: string];

/** The decisions as text: the first part of a forecast and of `build --dry-run`. */
export function planText({ spec, reasons }: Pick<ModelPlan, 'spec' | 'reasons'>): string {
  return formatRows([...decisionRows(spec), ...reasonRows(reasons)]);
}

/** The forecast as text. */
export function forecastText(forecast: Forecast): string {
  const { spec, reasons, formats, gate, devices, verdict } = forecast;
  return formatRows([
    ...decisionRows(spec),
    ['cached', cachedText(forecast)],
    ...(gate.gated ? [['gate', gateText(gate)] as const] : []),
    ...deviceRows('cpu', cpuText(formats[0]!), devices.cpu.image),
    ...gpuRows('cuda', devices.cuda),
    ...(devices.vulkan ? gpuRows('vulkan', devices.vulkan) : []),
    ...formats.slice(1).map((format) => ['or', formatText(format)] as const),
    ...(forecast.gguf ?? []).map((file) => ['gguf', ggufText(file)] as const),
    ...reasonRows(reasons),
    ['verdict', verdict.text],
  ]);
}

function decisionRows(spec: ModelSpec): Row[] {
  return [
    ['model', spec.id],
    ['commit', `${spec.commit} (${spec.revision})`],
    ...(spec.base
      ? [['base', `${spec.base.id} at ${spec.base.commit} (${spec.base.revision})`] as const]
      : []),
    ['task', spec.task],
    ['engine', `${spec.engine} (${spec.profile} profile)`],
    ['dtype', spec.dtype],
    ['license', spec.license ?? 'not stated'],
    ['files', `${spec.files.length}, ${megabytes(totalBytes(spec))}`],
  ];
}

const reasonRows = (reasons: readonly string[]): Row[] => reasons.map((reason) => ['because', reason]);

function cachedText({ cached, files }: Forecast): string {
  const { verifiedBytes, partialBytes, missingBytes, folder } = cached;
  const present = files.bytes - verifiedBytes - partialBytes - missingBytes;
  const parts = [
    verifiedBytes > 0 && `${megabytes(verifiedBytes)} verified`,
    present > 0 && `${megabytes(present)} to be verified`,
    partialBytes > 0 && `${megabytes(partialBytes)} of files that broke off`,
    missingBytes > 0 ? `${megabytes(missingBytes)} to download` : 'nothing to download',
  ];
  return `${parts.filter(Boolean).join(', ')} (${folder})`;
}

function gateText({ gated, page, tokenGiven }: Extract<Forecast['gate'], { page: string }>): string {
  const token = tokenGiven ? 'a token is given' : 'no token is given (HF_TOKEN)';
  const how = gated === 'auto' ? 'granted at once' : 'granted by its owners';
  return `gated, access ${how} on ${page}; ${token}`;
}

function cpuText({ memory, loadSeconds }: FormatForecast): string {
  const usual = `${megabytes(memory.peakBytes)} at most with requests of usual size`;
  return `memory ${megabytes(memory.limitBytes)} with the longest requests, ${usual}, ready after about ${loadSeconds} s`;
}

const gpuRows = (device: string, { reason, image }: Forecast['devices']['cuda']): Row[] =>
  deviceRows(device, `memory and load time not known (${reason})`, image);

function deviceRows(device: string, figures: string, image: ImageSize): Row[] {
  return [
    [device, figures],
    ['', imageText(image)],
  ];
}

function imageText({ totalBytes: total, runtimeBytes, weightBytes, basis, reason }: ImageSize): string {
  if (total === null || runtimeBytes === null)
    return `image of a size not known, ${megabytes(weightBytes)} of it weights (${reason})`;
  const runtime = `${megabytes(runtimeBytes)} without weights, ${basis}`;
  return `image ${megabytes(total)} with --bake (${runtime})`;
}

function formatText({ dtype, bytes, memory, loadSeconds }: FormatForecast): string {
  return `--dtype ${dtype}: ${megabytes(bytes)}, memory ${megabytes(memory.limitBytes)}, ready after about ${loadSeconds} s`;
}

function ggufText({ path, label, bytes, words, memory, fits, chosen }: GgufFile): string {
  const name = `${label ?? path}: ${megabytes(bytes)}, ${words}`;
  const choice = chosen ? '; chosen' : '';
  if (memory === null) return `${name} (${path})${choice}`;
  const needs = `memory ${megabytes(memory.usualBytes)}, ${megabytes(memory.longestBytes)} at the longest context`;
  return `${name}; ${needs}${fits ? '' : ', more than there is'}${choice}`;
}

function formatRows(rows: readonly Row[]): string {
  return rows.map(([name, value]) => `${name.padEnd(8)} ${value}`).join('\n');
}
