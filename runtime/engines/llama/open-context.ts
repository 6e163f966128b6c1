import type { OpenedModel } from './open-model.js';
import type { LlamaContext } from './llama.js';
import { measuredThreads } from './threads.js';

/**
 * A context for texts that are written, with as many threads as serve it best now.
 * @param threads whole cores that this process may use
 */
export async function openTextContext(opened: OpenedModel, threads: number): Promise<LlamaContext> {
  const { model, shape } = opened;
  const { cells, batch, rows, outputs, cacheType } = shape;
  const context = await model.openContext({ cells, batch, rows, outputs, cacheType, threads });
  context.setThreads(await measuredThreads(context, threads));
  return context;
}
