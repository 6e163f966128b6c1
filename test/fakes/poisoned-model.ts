import { cp, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readGraphBytes, writeGraph } from '../../runtime/onnx/graph.js';
import { bytesReader, contentText, fieldsOf } from '../../runtime/onnx/protobuf.js';

/** Fields of TensorProto. */
const [NAME, RAW_DATA] = [8, 9];

interface Weights {
  name: string;
  /** Little-endian floats, in the memory of the tensor. */
  data: Uint8Array;
}

function weightsOf(tensor: Uint8Array): Weights {
  const reader = bytesReader(tensor);
  const fields = [...fieldsOf(reader)];
  const content = (number: number) => fields.find((field) => field.number === number);
  const [name, data] = [content(NAME), content(RAW_DATA)];
  return {
    name: name ? contentText(reader, name) : '',
    data: data ? tensor.subarray(data.start, data.end) : new Uint8Array(),
  };
}

export interface Poison {
  /** Of the graph, without its ending; all graphs if absent. */
  graph?: string;
  /** Name of an initializer; the last large one if absent. */
  weight?: string;
  /** Which number of it. */
  at?: number;
}

/** A copy of a repository of ONNX exports in which one weight of a graph is NaN. */
export async function poisonedModel(repo: string, { graph, weight, at = 5 }: Poison = {}): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'poisoned-'));
  await cp(repo, copy, { recursive: true });
  const paths = (await readdir(copy, { recursive: true })).filter((path) => path.endsWith('.onnx'));
  for (const path of paths) {
    if (graph !== undefined && !path.endsWith(`/${graph}.onnx`)) continue;
    const network = readGraphBytes(await readFile(join(copy, path)));
    const all = network.initializers.map(weightsOf);
    const found = all.findLast(({ name, data }) =>
      weight === undefined ? data.length > 400 : name === weight,
    );
    if (!found) throw new Error(`${path} has no weight ${weight}`);
    new DataView(found.data.buffer, found.data.byteOffset).setFloat32(4 * at, NaN, true);
    await writeFile(join(copy, path), writeGraph(network));
  }
  return copy;
}
