/**
 * Runs of a diffusion network without a pipeline, in a process of its own: node raw-unet.mjs FOLDER GRAPH THREADS. A job is
 * { sample: [channels, height, width], context: [tokens, width], seconds }; as many runs as fit, of two rows each.
 */
process.env.ORT_DISABLE_TELEMETRY = '1';
const { default: ort } = await import('onnxruntime-node');

const [, , , file, threads] = process.argv;
const session = await ort.InferenceSession.create(file, {
  ...{ intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: 'sequential' },
});

/** The negative prompt and the prompt. */
const ROWS = 2;

function tensor(dims) {
  const length = dims.reduce((product, size) => product * size, 1);
  return new ort.Tensor(
    'float32',
    Float32Array.from({ length }, (_, i) => Math.sin(i)),
    dims,
  );
}

async function throughput({ sample, context, seconds }) {
  const feeds = {
    sample: tensor([ROWS, ...sample]),
    timestep: new ort.Tensor('int64', BigInt64Array.of(500n), []),
    encoder_hidden_states: tensor([ROWS, ...context]),
  };
  await session.run(feeds);
  const started = performance.now();
  const cpu = process.cpuUsage();
  let items = 0;
  for (; performance.now() - started < seconds * 1000; items++) await session.run(feeds);
  const { user, system } = process.cpuUsage(cpu);
  return { items, rate: (items * 1000) / (performance.now() - started), cpuSeconds: (user + system) / 1e6 };
}

process.on('message', async (job) => process.send(await throughput(job)));
