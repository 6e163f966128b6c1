import { chooseEngine } from '../../../../builder/plan/choose-engine.js';
import { Refusal } from '../../../../builder/plan/refusal.js';
import type { AnyTask } from '../../../../runtime/tasks/define.js';
import { taskOf } from '../../../../runtime/tasks/registry.js';

const base = taskOf('image-classification');
const binding = base.engines.transformers!;

/** A task that two engines serve, the first one certain types only. */
const task = {
  ...base,
  engines: { generation: { ...binding, modelTypes: ['vit', 'swin'] }, transformers: binding },
} as AnyTask;

test('the first engine that serves the type of the model is taken', () => {
  expect(chooseEngine(task, 'swin').engine).toBe('generation');
  expect(chooseEngine(task, 'resnet').engine).toBe('transformers');
});

test('a model that names no type gets an engine that serves every type', () => {
  expect(chooseEngine(task, undefined).engine).toBe('transformers');
});

test('a type that no engine serves is refused, with those that are', () => {
  const only = { ...task, engines: { generation: task.engines.generation } } as AnyTask;
  expect(() => chooseEngine(only, 'resnet')).toThrow(Refusal);
  expect(() => chooseEngine(only, 'resnet')).toThrow(
    'Image classification is not served for models of type resnet; served types: vit, swin',
  );
  expect(() => chooseEngine(only, undefined)).toThrow('of type unknown');
});
