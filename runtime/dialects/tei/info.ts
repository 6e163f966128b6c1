import type { TaskId } from '../../core/task-ids.js';
import { VERSION } from '../../version.js';
import { sendJson } from '../../wire/respond.js';
import type { DialectCall } from '../dialect.js';
import { EMBEDDING_TASKS } from '../embed.js';
import { MAX_BATCH } from './embed.js';

/** GET info: what both Text Embeddings Inference's and Text Generation Inference's clients read of it. */
export function info({ response, host }: DialectCall): void {
  const [model] = host.models();
  const { modelId, task } = model!;
  const body = {
    model_id: modelId,
    model_pipeline_tag: task,
    model_type: kindOf(task),
    max_client_batch_size: MAX_BATCH,
    version: VERSION,
  };
  sendJson(response, 200, JSON.stringify(body));
}

function kindOf(task: TaskId): object {
  if ((EMBEDDING_TASKS as readonly TaskId[]).includes(task)) return { embedding: {} };
  return task === 'text-classification' ? { classifier: {} } : {};
}
