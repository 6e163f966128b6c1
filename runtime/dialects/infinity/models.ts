import type { TaskId } from '../../core/task-ids.js';
import { sendJson } from '../../wire/respond.js';
import type { DialectCall } from '../dialect.js';
import { EMBEDDING_TASKS } from '../embed.js';
import { SCORING_TASKS } from '../rerank/score.js';
import { CLASSIFYING_TASKS } from './classify.js';

const CAPABILITIES: Record<string, readonly TaskId[]> = {
  embed: EMBEDDING_TASKS,
  rerank: SCORING_TASKS,
  classify: CLASSIFYING_TASKS,
};

const capabilitiesOf = (task: TaskId) =>
  Object.keys(CAPABILITIES).filter((name) => CAPABILITIES[name]!.includes(task));

/** GET models. Its clients read no other owner than `infinity`; `created` is 0 because it is not known. */
export function listModels({ response, host }: DialectCall): void {
  const data = host.models().flatMap(({ modelId, task }) => {
    const capabilities = capabilitiesOf(task);
    if (capabilities.length === 0) return [];
    const head = { id: modelId, object: 'model', owned_by: 'infinity', created: 0 };
    return { ...head, stats: {}, backend: 'slipway', capabilities };
  });
  sendJson(response, 200, JSON.stringify({ object: 'list', data }));
}
