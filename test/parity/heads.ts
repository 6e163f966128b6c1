import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { chooseEngine } from '../../builder/plan/choose-engine.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { readGraph } from '../../runtime/onnx/graph.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import type { ModelPlace } from './zoo.js';

/** Of onnx.proto's TensorProto.DataType. */
const FLOAT16 = 10;

/**
 * The models that stand for all others where not every model is tried: the smallest one of each head, and every one whose
 * graphs take or give half precision, which is another type in other versions of Node.js.
 * @returns their folders
 */
export function oneForEachHead(models: readonly ModelPlace[]): Set<string> {
  const chosen = new Map<string, ModelPlace & { bytes: number }>();
  for (const model of models) {
    const key = hasHalfPorts(model) ? model.dir : headOf(model);
    const bytes = filesIn(model.dir).reduce((sum, file) => sum + statSync(file).size, 0);
    if (bytes < (chosen.get(key)?.bytes ?? Infinity)) chosen.set(key, { ...model, bytes });
  }
  return new Set([...chosen.values()].map(({ dir }) => dir));
}

/** Of the engine that serves the model. */
export function headOf({ task, dir }: ModelPlace): string {
  const file = filesIn(dir).find((path) => path === join(dir, 'repo/config.json'));
  const config = file ? (JSON.parse(readFileSync(file, 'utf8')) as { model_type?: string }) : {};
  return chooseEngine(taskOf(task as TaskId), config.model_type).binding.head;
}

function hasHalfPorts({ dir }: ModelPlace): boolean {
  const graphs = filesIn(dir).filter((file) => file.endsWith('.onnx'));
  return graphs.some((file) => {
    const { inputs, outputs } = readGraph(file);
    // A TypeProto whose tensor_type begins with elem_type.
    return [...inputs, ...outputs].some(({ type }) => type[2] === 0x08 && type[3] === FLOAT16);
  });
}

const filesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
