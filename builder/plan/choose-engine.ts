import type { Head } from '../../runtime/core/handles/index.js';
import type { EngineId } from '../../runtime/core/spec.js';
import { declaresHead, typesOfHead } from '../../runtime/models/declared-heads.js';
import type { AnyTask, EngineBinding } from '../../runtime/tasks/define.js';
import { Refusal } from './refusal.js';

/** The part of a binding that the planner needs, for any head. */
export type AnyBinding = Pick<
  EngineBinding<Head, never, never>,
  'declaredOnly' | 'head' | 'graphs' | 'otherGraphs' | 'files' | 'typeFiles'
>;

export interface EngineChoice {
  engine: EngineId;
  binding: AnyBinding;
}

/**
 * The first engine of a task that serves this model type.
 * @param modelType `model_type` of config.json; if undefined, only engines that need no declared head match
 * @throws Refusal if there is none
 */
export function chooseEngine(task: AnyTask, modelType: string | undefined): EngineChoice {
  const bindings = Object.entries(task.engines) as [EngineId, AnyBinding][];
  const found = bindings.find(([, { declaredOnly, head }]) => !declaredOnly || declaresHead(modelType, head));
  if (found) {
    const [engine, binding] = found;
    const { typeFiles = {} } = binding;
    const more = modelType && Object.hasOwn(typeFiles, modelType) ? typeFiles[modelType]! : [];
    return { engine, binding: { ...binding, files: [...binding.files, ...more] } };
  }
  throw new Refusal(
    `${task.title} is not served for models of type ${modelType ?? 'unknown'}; served types: ` +
      bindings.flatMap(([, { head }]) => typesOfHead(head)).join(', '),
  );
}
