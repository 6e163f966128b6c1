import { floatsOf } from '../../../runtime/weights/index.js';
import type { ModelTensor } from './model-tensor.js';

/** A tensor before it is written. */
interface Stack {
  name: string;
  shape: number[];
  values: Float32Array;
}

const EXPERTS = /^model\.layers\.(\d+)\.mlp\.experts\.(gate_up|down)_proj(_bias)?$/;

export const isStack = (name: string): boolean => EXPERTS.test(name);

/** Experts of gpt-oss as llama.cpp's converter writes them: gates and values apart, outputs before inputs. */
export function expertStacks(tensors: ReadonlyMap<string, ModelTensor>): Stack[] {
  return [...tensors].flatMap(([name, { bytes, shape, type }]) => {
    const [, layer, part, bias] = EXPERTS.exec(name) ?? [];
    if (layer === undefined) return [];
    const read = floatsOf(bytes, type);
    const [values, own] = bias
      ? [read, [...shape]]
      : [outputsFirst(read, shape), [shape[0]!, shape[2]!, shape[1]!]];
    const nameOf = (matrix: string) => `blk.${layer}.ffn_${matrix}_exps.${bias ? 'bias' : 'weight'}`;
    if (part === 'down') return [{ name: nameOf('down'), shape: own, values }];
    const width = bias ? 1 : own[2]!;
    const half = [own[0]!, own[1]! / 2, ...own.slice(2)];
    return ['gate', 'up'].map((matrix, odd) => ({
      ...{ name: nameOf(matrix), shape: half },
      values: everySecond(values, width, odd),
    }));
  });
}

/** [experts, inputs, outputs] as [experts, outputs, inputs]. */
function outputsFirst(
  values: Float32Array,
  [experts = 0, inputs = 0, outputs = 0]: readonly number[],
): Float32Array {
  const found = new Float32Array(values.length);
  for (let expert = 0; expert < experts; expert++)
    for (let i = 0; i < inputs; i++)
      for (let o = 0; o < outputs; o++)
        found[(expert * outputs + o) * inputs + i] = values[(expert * inputs + i) * outputs + o]!;
  return found;
}

/** Every second row of `width` numbers. */
function everySecond(values: Float32Array, width: number, odd: number): Float32Array {
  const found = new Float32Array(values.length / 2);
  for (let row = odd; row * width < values.length; row += 2)
    found.set(values.subarray(row * width, (row + 1) * width), ((row - odd) / 2) * width);
  return found;
}
