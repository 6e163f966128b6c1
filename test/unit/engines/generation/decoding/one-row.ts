import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Graph, readGraph, writeGraph } from '../../../../../runtime/onnx/graph.js';
import { writeField, writeNumber } from '../../../../../runtime/onnx/protobuf.js';

/** Runs with a folder like that of a graph, in which `single` is the graph with `input_ids` of the shape [1, tokens]. */
export async function withOneRow(
  path: string,
  run: (folder: string, single: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'one-row-'));
  try {
    await cp(dirname(path), folder, { recursive: true });
    await writeFile(join(folder, 'single.onnx'), writeGraph(narrowed(readGraph(path))));
    await run(folder, 'single.onnx');
  } finally {
    await rm(folder, { recursive: true });
  }
}

function narrowed(graph: Graph): Graph {
  const [one, tokens] = [writeNumber(1, 1), writeField(2, 'tokens')];
  const shape = writeField(2, writeField(1, one), writeField(1, tokens));
  const type = writeField(1, writeNumber(1, 7), shape);
  const inputs = graph.inputs.map((value) => (value.name === 'input_ids' ? { ...value, type } : value));
  return { ...graph, inputs };
}
