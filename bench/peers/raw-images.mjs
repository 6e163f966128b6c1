/**
 * A session without a server, in a process of its own: node raw-images.mjs FOLDER GRAPH THREADS. A job is
 * { size: pixels of an edge, batch: images a run, seconds }; the tensors are there before the clock starts.
 */
process.env.ORT_DISABLE_TELEMETRY = '1';
const { default: ort } = await import('onnxruntime-node');

const [, , , file, threads] = process.argv;
const session = await ort.InferenceSession.create(file, {
  ...{ intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: 'sequential' },
});

async function throughput({ size, batch, seconds }) {
  const values = Float32Array.from({ length: batch * 3 * size * size }, (_, i) => Math.sin(i));
  const feeds = { pixel_values: new ort.Tensor('float32', values, [batch, 3, size, size]) };
  await session.run(feeds);
  const started = performance.now();
  const cpu = process.cpuUsage();
  let items = 0;
  for (; performance.now() - started < seconds * 1000; items += batch) await session.run(feeds);
  const { user, system } = process.cpuUsage(cpu);
  return { items, rate: (items * 1000) / (performance.now() - started), cpuSeconds: (user + system) / 1e6 };
}

process.on('message', async (job) => process.send(await throughput(job)));
