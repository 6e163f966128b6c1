import { typeOfElements } from '../../../../runtime/onnx/make.js';
import { writeField, writeNumber } from '../../../../runtime/onnx/protobuf.js';

/** What an exporter leaves behind of a network: an ONNX model with names and traces, and its weights in a file beside it. */
export interface ExportedGraph {
  weights: Record<string, { dims: readonly number[]; values: Float32Array }>;
  nodes: { op: string; inputs: readonly string[]; outputs: readonly string[] }[];
  /** Element type, and axes by their names, numbers included, as the exporter writes them. */
  inputs: Record<string, [type: number, axes: readonly string[]]>;
  outputs: Record<string, [type: number, axes: readonly string[]]>;
}

const metadata = (number: number) =>
  writeField(number, writeField(1, 'pkg.torch.stack_trace'), writeField(2, 'File "/home/me/torch-says.py"'));

export function exportedGraph({ weights, nodes, inputs, outputs }: ExportedGraph): {
  model: Uint8Array;
  data: Uint8Array;
} {
  const parts: Uint8Array[] = [];
  let end = 0;
  const tensors = Object.entries(weights).map(([name, { dims, values }]) => {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    parts.push(bytes);
    const tensor = Buffer.concat([
      ...dims.map((size) => writeNumber(1, size)),
      ...[writeNumber(2, 1), writeField(8, name), writeField(12, 'a note'), metadata(16)],
      ...Object.entries({ location: 'model.onnx.data', offset: end, length: bytes.length }).map(
        ([key, value]) => writeField(13, writeField(1, key), writeField(2, String(value))),
      ),
      writeNumber(14, 1),
    ]);
    end += bytes.length;
    return writeField(5, tensor);
  });
  const graph = Buffer.concat([
    ...nodes.map(({ op, inputs: reads, outputs: gives }, i) =>
      writeField(
        1,
        ...reads.map((name) => writeField(1, name)),
        ...gives.map((name) => writeField(2, name)),
        ...[writeField(3, `node_name_${i}`), writeField(4, op), writeField(6, 'a note'), metadata(9)],
      ),
    ),
    writeField(2, 'main_graph of /home/me'),
    ...tensors,
    ...Object.entries(inputs).map((port) => writeField(11, portOf(port))),
    ...Object.entries(outputs).map((port) => writeField(12, portOf(port))),
  ]);
  const model = Buffer.concat([
    ...[writeNumber(1, 10), writeField(2, 'pytorch'), writeField(3, '2.15.0'), writeField(7, graph)],
    ...[writeField(8, writeNumber(2, 20)), metadata(14)],
  ]);
  return { model, data: Buffer.concat(parts) };
}

function portOf([name, [type, axes]]: [string, [number, readonly string[]]]): Uint8Array {
  const shape = writeField(2, ...axes.map((axis) => writeField(1, writeField(2, axis))));
  const tensor = typeOfElements(type).subarray(2);
  return Buffer.concat([writeField(1, name), writeField(2, writeField(1, tensor, shape)), metadata(4)]);
}

/** A checkpoint as safetensors writes it. */
export function safetensors(
  tensors: Record<string, { type: string; shape: readonly number[]; bytes: Uint8Array }>,
): Uint8Array {
  let end = 0;
  const header = JSON.stringify(
    Object.fromEntries(
      Object.entries(tensors).map(([name, { type, shape, bytes }]) => {
        const offsets = [end, (end += bytes.length)];
        return [name, { dtype: type, shape, data_offsets: offsets }];
      }),
    ),
  );
  const padded = header.padEnd(Math.ceil(header.length / 8) * 8);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, Buffer.from(padded), ...Object.values(tensors).map(({ bytes }) => bytes)]);
}
