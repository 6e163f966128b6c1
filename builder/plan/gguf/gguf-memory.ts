import { grammarBytes } from '../../../runtime/core/grammar-memory.js';
import type { TaskId } from '../../../runtime/core/task-ids.js';
import { type GgufModel, ggufSizes, llamaMemory, shapeFor } from '../../../runtime/gguf/index.js';
import type { MemoryForecast } from '../memory.js';
import { limitFor } from '../request-memory.js';

/** HTTP process and model process, with the library and without a model. */
const PROCESSES = 150e6;
/** What a run of usual length and its texts take beside the buffers. */
const REQUEST_BYTES = 16 * 2 ** 20;

/** Predicts memory on a processor, with the cache that the server makes where memory is not short. Pure. */
export function predictGgufMemory(model: GgufModel, task: TaskId): MemoryForecast {
  const shape = shapeFor({ model, settings: {}, cacheBytes: Infinity, room: Infinity, limit: undefined });
  const { total } = llamaMemory(model, shape);
  const formats = grammarBytes(task, ggufSizes(model.metadata, model.tensors).vocabulary);
  const peakBytes = Math.round(PROCESSES + total);
  const limitBytes = Math.max(peakBytes, limitFor(peakBytes, REQUEST_BYTES + formats, 'text'));
  return { peakBytes, loadPeakBytes: peakBytes, steadyBytes: peakBytes, limitBytes };
}
