import { jest } from '@jest/globals';
import { zooModel } from '../parity/zoo.js';
import { modelEnv, type ServerProcess, startServer, waitFor } from '../fakes/server.js';

/** How far an image is that the model process makes: in events, in /status and in the log. */

jest.setTimeout(60_000);

let server: ServerProcess;
beforeAll(async () => {
  const { repo } = await zooModel('unconditional-image-generation', 'ddpm-grey', 'zoo-own');
  const env = await modelEnv(repo, {
    task: 'unconditional-image-generation',
    engine: 'diffusion',
    graphs: { unet: 'unet/model.onnx' },
  });
  server = await startServer(env);
  await server.ready();
});
afterAll(() => server.stop());

const make = (steps: number, more: object = {}, accept = 'text/event-stream', signal?: AbortSignal) =>
  fetch(`${server.url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ params: { num_inference_steps: steps, seed: 1 }, stream: true, ...more }),
    ...(signal ? { signal } : {}),
  });

test('events of all steps, then what the envelope holds', async () => {
  const events = (await (await make(10)).text()).trimEnd().split('\n\n');
  const [final, steps] = [events.pop()!, events];
  const told = Array.from({ length: 11 }, (_, step) => `event: progress\ndata: {"step":${step},"steps":10}`);
  expect(steps).toEqual(told);
  const whole = (await (await make(10, {}, 'application/json')).json()) as { output: string };
  expect(final).toBe(`event: final\ndata: {"output":"${whole.output}"}`);
  await waitFor(() => server.output().includes('"step":10,"steps":10'));
});

test('/status has the steps of what is under way, and no more once its caller has left', async () => {
  const caller = new AbortController();
  const answer = await make(1000, {}, 'text/event-stream', caller.signal);
  const { steps } = (await server.status()) as { steps: { step: number; steps: number }[] };
  expect(steps).toEqual([{ step: expect.any(Number), steps: 1000 }]);
  expect(steps[0]!.step).toBeLessThan(1000);
  caller.abort();
  await expect(answer.text()).rejects.toThrow();
  await waitFor(async () => (await server.status())['running'] === 0);
  expect((await server.status())['steps']).toEqual([]);
});
