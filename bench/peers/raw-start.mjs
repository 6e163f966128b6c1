/**
 * Opens one session and runs it once: node raw-start.mjs FOLDER GRAPH, where GRAPH is { path } of a file in the folder or a
 * graph of model.json ({ content }).
 */
process.env.ORT_DISABLE_TELEMETRY = '1';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
const { default: ort } = await import('onnxruntime-node');

const [, , folder, graph] = process.argv;
const { path, content } = JSON.parse(graph);
const session = await ort.InferenceSession.create(
  content ? Buffer.from(content, 'base64') : join(folder, path),
  {
    intraOpNumThreads: availableParallelism(),
    extra: {
      session: {
        intra_op: { allow_spinning: '0' },
        ...(content && { model_external_initializers_file_folder_path: folder }),
      },
    },
  },
);

/** Ten tokens or an image of 224 x 224, or what the graph wants of them: names are those of exports. */
const TOKENS = 10;
const LONG = 'int64';
const sizes = { batch_size: 1, batch: 1 };
const image = { num_channels: 3, channels: 3, height: 224, width: 224 };
const feeds = Object.fromEntries(
  session.inputMetadata.map(({ name, type, shape }) => {
    const past = name.startsWith('past_key_values');
    const dims = shape.map((size, i) =>
      typeof size === 'number' ? size : i === 0 ? (sizes[size] ?? 1) : past ? 0 : (image[size] ?? TOKENS),
    );
    const length = dims.reduce((product, size) => product * size, 1);
    const data = type === LONG ? new BigInt64Array(length).fill(1n) : new Float32Array(length);
    return [name, new ort.Tensor(type, data, dims)];
  }),
);
await session.run(feeds);
