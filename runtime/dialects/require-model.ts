import { RunError } from '../core/errors.js';
import type { TaskId } from '../core/task-ids.js';
import type { DialectHost, ServedModel } from './host.js';

/**
 * The model that a request names.
 * @param tasks what it must do one of
 * @throws RunError 404 for an unknown one, 400 for none or for another task
 */
export function requireModel(
  host: DialectHost,
  name: string | null | undefined,
  tasks?: readonly TaskId[],
): ServedModel {
  const model = host.find(name ?? undefined);
  if (!model && name == null) throw new RunError('invalid_input', 'model: is required');
  if (!model) throw new RunError('not_found', 'model: there is no such model');
  if (tasks && !tasks.includes(model.task))
    throw new RunError(
      'invalid_input',
      `model: ${model.modelId} does ${model.task}, and this is for ${tasks.join(', ')}; ask POST ${host.runPath(model)}`,
    );
  return model;
}
