import { inMegabytes } from '../../memory.js';
import { type GgufModel, ggufSizes, llamaMemory, type LlamaShape } from '../../gguf/index.js';
import type { LlamaSettings } from '../../core/load-request.js';
import type { LlamaDevice } from './llama.js';

/** Where the layers of a model are. */
export interface Placement {
  /** As llama.cpp counts them: one beyond the layers is the output. */
  gpuLayers: number;
  layers: number;
  /** Experts of mixtures stay in RAM. */
  expertsOnCpu: boolean;
  tensorSplit: readonly number[] | undefined;
  /** Bytes of weights, cache and buffers on GPUs. */
  gpuBytes: number;
  /** For logs and /status: `32 of 80 layers on the GPU`. */
  text: string;
}

export interface PlacementInput {
  model: Pick<GgufModel, 'metadata' | 'tensors'>;
  shape: LlamaShape;
  devices: readonly LlamaDevice[];
  settings: LlamaSettings;
}

/** Part of the free memory of GPUs that stays free: for drivers, fragments, and other processes. */
const SPARE = 0.1;

/** `blk.12.attn_q.weight` is of layer 12. */
const LAYER = /^blk\.(\d+)\./;
const EXPERTS = /\.ffn_.*_exps/;

/**
 * As many layers on the GPUs as their free memory holds, with their part of the cache and the buffers of runs. Of mixtures
 * the experts go to RAM first: few of their weights are read for a token. Pure.
 */
export function placeLayers({ model, shape, devices, settings }: PlacementInput): Placement {
  const { layers } = ggufSizes(model.metadata, model.tensors);
  const gpus = devices.filter(({ kind }) => kind === 'gpu' || kind === 'igpu');
  const most = layers + 1;
  const asked = settings.gpuLayers;
  const room = gpus.reduce((sum, { free }) => sum + free * (1 - SPARE), 0);
  const bytesOf = costOf({ model, shape, layers });
  const fitting = (experts: boolean): number => {
    for (let count = most; count > 0; count--) if (bytesOf(count, experts) <= room) return count;
    return 0;
  };
  const all = gpus.length === 0 ? 0 : asked === undefined ? fitting(true) : Math.min(most, asked);
  const isMixture = model.tensors.some(({ name }) => EXPERTS.test(name));
  const withoutExperts =
    isMixture && asked === undefined && gpus.length > 0 && all < most ? fitting(false) : 0;
  const expertsOnCpu = withoutExperts > all;
  const gpuLayers = Math.max(all, withoutExperts);
  return {
    ...{ gpuLayers, layers, expertsOnCpu },
    tensorSplit: settings.tensorSplit,
    gpuBytes: gpuLayers === 0 ? 0 : bytesOf(gpuLayers, !expertsOnCpu),
    text: textOf({ gpus, gpuLayers, layers, expertsOnCpu, room, whole: bytesOf(most, true) }),
  };
}

interface Cost {
  model: PlacementInput['model'];
  shape: LlamaShape;
  layers: number;
}

/** Bytes on GPUs that hold so many of the last layers. */
function costOf({ model, shape, layers }: Cost): (count: number, experts: boolean) => number {
  const { cache, compute } = llamaMemory(model, shape);
  const ofLayer = (wanted: number, experts: boolean) =>
    model.tensors.reduce(
      (sum, { name, length }) =>
        sum + (Number(LAYER.exec(name)?.[1]) === wanted && (experts || !EXPERTS.test(name)) ? length : 0),
      0,
    );
  const named = (wanted: string) => model.tensors.find(({ name }) => name === wanted)?.length;
  // Without an own matrix the table of embeddings gives scores, and is there twice.
  const output = named('output.weight') ?? named('token_embd.weight') ?? 0;
  const sizes = [true, false].map((experts) =>
    Array.from({ length: layers }, (_, layer) => ofLayer(layer, experts)),
  );
  return (count, experts) => {
    const own = sizes[experts ? 0 : 1]!;
    const held = Math.min(count, layers);
    const weights = own.slice(layers - held).reduce((sum, bytes) => sum + bytes, 0);
    return weights + (cache * held) / Math.max(1, layers) + compute + (count > layers ? output : 0);
  };
}

interface Told extends Pick<Placement, 'gpuLayers' | 'layers' | 'expertsOnCpu'> {
  gpus: readonly LlamaDevice[];
  room: number;
  whole: number;
}

function textOf({ gpus, gpuLayers, layers, expertsOnCpu, room, whole }: Told): string {
  if (gpus.length === 0) return `all ${layers} layers on the processor: no GPU is used`;
  const where = gpus.length === 1 ? 'the GPU' : `${gpus.length} GPUs`;
  const memory = `${inMegabytes(room)} of ${inMegabytes(gpus.reduce((sum, { total }) => sum + total, 0))} can be used, all of it would take ${inMegabytes(whole)}`;
  if (gpuLayers === 0) return `all ${layers} layers on the processor, none on ${where}: ${memory}`;
  const held = gpuLayers > layers ? `all ${layers} layers` : `${gpuLayers} of ${layers} layers`;
  const experts = expertsOnCpu ? ', their experts in RAM' : '';
  return `${held} on ${where}${experts}${gpuLayers > layers && !expertsOnCpu ? '' : `: ${memory}`}`;
}
