import type { Head } from '../../runtime/core/handles/index.js';
import type { EngineId } from '../../runtime/core/spec.js';
import type { AnyTask, EngineBinding } from '../../runtime/tasks/define.js';
import { Refusal } from './refusal.js';

/** What the planner needs of a binding, whatever its head. */
export type AnyBinding = Pick<
  EngineBinding<Head, never, never>,
  'modelTypes' | 'head' | 'graphs' | 'otherGraphs' | 'files'
>;

export interface EngineChoice {
  engine: EngineId;
  binding: AnyBinding;
}

/**
 * The first engine of a task that serves this type of model.
 * @param modelType `model_type` of config.json; undefined: only engines that serve every type
 * @throws Refusal where no engine does
 */
export function chooseEngine(task: AnyTask, modelType: string | undefined): EngineChoice {
  const bindings = Object.entries(task.engines) as [EngineId, AnyBinding][];
  const found = bindings.find(
    ([, { modelTypes }]) => !modelTypes || (modelType !== undefined && modelTypes.includes(modelType)),
  );
  if (found) return { engine: found[0], binding: found[1] };
  throw new Refusal(
    `${task.title} is not served for models of type ${modelType ?? 'unknown'}; served types: ` +
      bindings.flatMap(([, { modelTypes = [] }]) => modelTypes).join(', '),
  );
}
