import { join } from 'node:path';
import { RunError } from '../../core/errors.js';
import { grammarBytes } from '../../core/grammar-memory.js';
import type { LoadRequest } from '../../core/load-request.js';
import {
  type GgufModel,
  ggufSizes,
  llamaMemory,
  type LlamaShape,
  readGgufModel,
  shapeFor,
} from '../../gguf/index.js';
import { readPart } from '../../weights/index.js';
import { WeightsError } from '../../weights/errors.js';
import { availableMemory } from '../sessions/available-memory.js';
import { openLlama } from './ffi/native-llama.js';
import type { Llama, LlamaModel } from './llama.js';
import { type Placement, placeLayers } from './placement.js';
import { createLlamaTokenizer, type LlamaTokenizer } from './tokenizer.js';
import { readAhead } from './read-ahead.js';
import { templatesOf } from './templates.js';

export interface OpenedModel {
  model: LlamaModel;
  file: GgufModel;
  shape: LlamaShape;
  placement: Placement;
  tokenizer: LlamaTokenizer;
  /** What the file says of vectors of texts. */
  pooling: 'none' | 'file';
}

/**
 * Opens the file of a spec, once it is known to fit.
 * @throws RunError `not_ready` for a file that can't be read, that does not fit, or that llama.cpp does not take
 */
export async function openModel(request: LoadRequest, llama: Llama = openLlama()): Promise<OpenedModel> {
  const file = await readHeader(request);
  const devices = request.device === 'cpu' ? [] : llama.devices();
  const settings = request.llama ?? {};
  const gpus = devices.filter(({ kind }) => kind === 'gpu' || kind === 'igpu');
  const ram = availableMemory(request.memory);
  const room = ram + gpus.reduce((sum, { free }) => sum + free, 0);
  const shape = shapeFor({
    ...{ model: file, settings, room, limit: request.memory },
    spare: grammarBytes(request.spec.task, ggufSizes(file.metadata, file.tensors).vocabulary),
    cacheBytes: request.cacheBytes,
  });
  const placement = placeLayers({ model: file, shape, devices, settings });
  refuseWithoutRam(llamaMemory(file, shape).total - placement.gpuBytes, ram);
  const paths = file.files.map((name) => join(request.dir, ...name.split('/')));
  const reading = new AbortController();
  const { onRead } = request;
  if (onRead) void readAhead(paths, { room: ram, tell: onRead, signal: reading.signal });
  const model = await llama.openModel(paths[0]!, placement).catch((error: unknown) => {
    reading.abort();
    throw error;
  });
  const tokenizer = createLlamaTokenizer(model.vocabulary, templatesOf(model));
  const pooled = Number(
    file.metadata.get(`${String(file.metadata.get('general.architecture'))}.pooling_type`) ?? 0,
  );
  return { ...{ model, file, shape, placement, tokenizer }, pooling: pooled > 0 ? 'file' : 'none' };
}

function refuseWithoutRam(bytes: number, ram: number): void {
  if (bytes <= ram) return;
  const mega = (value: number) => `${Math.round(value / 1e6)} MB`;
  throw new RunError(
    'not_ready',
    `the part of the model that is not on a GPU takes ${mega(bytes)} of RAM, and ${mega(ram)} are left for it: set GPU_LAYERS ` +
      'higher, give the server more memory, or take a file with fewer bits',
  );
}

/** @throws RunError `not_ready` that says what is wrong with the file */
async function readHeader({ dir, spec }: LoadRequest): Promise<GgufModel> {
  const path = spec.graphs['model'];
  if (path === undefined) throw new RunError('not_ready', 'model.json names no file of the model');
  const source = {
    files: spec.files,
    read: (file: string, offset: number, length: number) =>
      readPart(join(dir, ...file.split('/')), offset, length),
  };
  try {
    return await readGgufModel(source, path);
  } catch (error) {
    if (error instanceof WeightsError) throw new RunError('not_ready', error.message, { cause: error });
    throw error;
  }
}
