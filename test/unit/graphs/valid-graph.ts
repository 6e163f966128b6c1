import { initializerShapes, readGraphBytes, tensorShape } from '../../../runtime/onnx/graph.js';
import { bytesReader, contentBytes, fieldsOf, varint } from '../../../runtime/onnx/protobuf.js';
import { externalLocations } from '../../../runtime/store/external-data.js';
import type { WeightIndex } from '../../../runtime/weights/index.js';

/** Floats that a graph holds itself, of the bytes of a TensorProto. */
function ownFloats(tensor: Uint8Array): Float32Array {
  const reader = bytesReader(tensor);
  const fields = [...fieldsOf(reader)];
  const element = fields.find(({ number }) => number === 2)!;
  const raw = fields.find(({ number }) => number === 9);
  if (!raw || varint(reader, element.start).value !== 1) return new Float32Array(0);
  return new Float32Array(Uint8Array.from(contentBytes(reader, raw)).buffer);
}

/**
 * A graph whose nodes read what is there, whose weights have the checkpoint's shapes and lie in its files, and whose
 * sizes and constants are numbers.
 * @param files where weights may lie; those of the index if absent
 */
export function expectValid(bytes: Uint8Array, index: WeightIndex, files?: readonly string[]): void {
  const graph = readGraphBytes(bytes);
  const shapes = initializerShapes(graph);
  for (const [name, shape] of shapes) {
    const stored = index.get(name);
    if (stored && stored.shape.join() !== shape.join())
      throw new Error(`${name} is [${shape.join()}], not [${stored.shape.join()}]`);
    if (!shape.every(Number.isSafeInteger)) throw new Error(`${name} is [${shape.join()}]`);
  }
  for (const value of [...graph.inputs, ...graph.outputs])
    if (tensorShape(value).some((size) => size === 0)) throw new Error(`${value.name} has an empty axis`);
  for (const tensor of graph.initializers)
    if (!ownFloats(tensor).every(Number.isFinite)) throw new Error('a constant is no number');
  const known = new Set(['', ...shapes.keys(), ...graph.inputs.map(({ name }) => name)]);
  for (const { op, inputs, outputs } of graph.nodes) {
    for (const name of inputs)
      if (!known.has(name)) throw new Error(`${op} reads ${name}, which nothing gives`);
    for (const name of outputs) known.add(name);
  }
  for (const { name } of graph.outputs) if (!known.has(name)) throw new Error(`nothing gives ${name}`);
  const allowed = new Set(files ?? [...index.values()].map(({ file }) => file));
  for (const file of externalLocations(bytesReader(bytes)))
    if (!allowed.has(file)) throw new Error(`weights lie in ${file}`);
}
