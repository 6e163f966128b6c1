import { jest } from '@jest/globals';
import { difference } from '../parity/difference.js';
import { zooModel, type ZooModel } from '../parity/zoo.js';
import { modelEnv, type ServerProcess, startServer } from '../fakes/server.js';

/** Session threads over a graph that ONNX Runtime can't read in the form that it writes for sharing weights: SAM 2's. */

jest.setTimeout(120_000);

let model: ZooModel;
let server: ServerProcess;
beforeAll(async () => {
  model = await zooModel('mask-generation', 'sam2', 'zoo-own');
  const roles = ['vision_encoder', 'prompt_encoder_mask_decoder'];
  const graphs = Object.fromEntries(roles.map((role) => [role, `onnx/${role}.onnx`]));
  const env = await modelEnv(model.repo, { task: 'mask-generation', profile: 'vision', graphs });
  server = await startServer({ ...env, THREADS: '2', WORKERS: '2' });
  await server.ready();
});
afterAll(() => server.stop());

test('its masks are those of the Python library, also when all are asked for at once', async () => {
  const found = await Promise.all(
    [...model.cases, ...model.cases].map(async ({ request, expect: wanted, compare, name }) => {
      const { output } = (await (await server.run(request)).json()) as { output: unknown };
      return difference(output, wanted, compare, name);
    }),
  );
  expect(found.filter((problem) => problem !== null)).toEqual([]);
});
