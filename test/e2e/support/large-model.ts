import { randomFillSync } from 'node:crypto';
import { appendFile, cp } from 'node:fs/promises';
import path from 'node:path';
import { zooModel } from '../../parity/zoo.js';

/** Field numbers of the ONNX format; all are fields with a length but the first two of a tensor. */
const MODEL = { graph: 7 };
const GRAPH = { initializer: 5 };
const TENSOR = { dims: 1, dataType: 2, name: 8, rawData: 9 };
const FLOAT = 1;

/**
 * A reference model in `folder` with one tensor more, of random bytes that no compression shortens. No node uses it: the
 * answers stay what they were. Parts of a graph that stand apart in a file belong together, by the rules of protobuf.
 */
export async function makeLargeModel(folder: string, bytes: number): Promise<string> {
  const { repo } = await zooModel('text-classification', 'distilbert');
  await cp(repo, folder, { recursive: true });
  const about = [
    ...number(TENSOR.dims, bytes / 4),
    ...number(TENSOR.dataType, FLOAT),
    ...prefix(TENSOR.name, 7),
    ...Buffer.from('ballast'),
    ...prefix(TENSOR.rawData, bytes),
  ];
  const tensor = [...prefix(GRAPH.initializer, about.length + bytes), ...about];
  const file = path.join(folder, 'onnx/model.onnx');
  await appendFile(file, Buffer.from([...prefix(MODEL.graph, tensor.length + bytes), ...tensor]));
  const chunk = Buffer.allocUnsafe(10_000_000);
  for (let left = bytes; left > 0; left -= chunk.length)
    await appendFile(file, randomFillSync(chunk).subarray(0, Math.min(left, chunk.length)));
  return 'zoo-large/distilbert';
}

/** What stands before a field's bytes. */
function prefix(field: number, length: number): number[] {
  return [(field << 3) | 2, ...varint(length)];
}

function number(field: number, value: number): number[] {
  return [field << 3, ...varint(value)];
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}
