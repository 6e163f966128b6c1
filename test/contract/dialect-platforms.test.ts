import type { TaskId } from '../../runtime/core/task-ids.js';
import type { ServiceStatus } from '../../runtime/http/service.js';
import { closeServers, secret } from '../fakes/gateway.js';
import { mounted, MOUNTS } from '../fakes/dialects.js';

afterEach(closeServers);

const seen: Record<string, unknown>[] = [];
beforeEach(() => seen.splice(0));

const headers = { authorization: secret, 'content-type': 'application/json' };

async function ask(url: string, body?: object) {
  const answer = await fetch(url, {
    headers,
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  });
  return { status: answer.status, content: (await answer.json()) as Record<string, unknown> };
}

describe.each(MOUNTS)('Open Inference Protocol, %s', (mount) => {
  const model = (task: TaskId, output: unknown) =>
    mounted(mount, {
      task,
      async run(input) {
        seen.push(input);
        return output;
      },
    });

  const texts = (...data: string[]) => ({ name: 'text', shape: [data.length], datatype: 'BYTES', data });

  test('vectors are numbers', async () => {
    const base = await model('feature-extraction', [1, 2]);
    const body = { id: 'x', inputs: [texts('a', 'b')], parameters: { normalize: true } };
    const { status, content } = await ask(`${base}/v2/models/test/model/infer`, body);
    expect([status, content]).toEqual([
      200,
      {
        ...{ model_name: 'test/model', id: 'x' },
        outputs: [{ name: 'embedding', datatype: 'FP32', shape: [2, 2], data: [1, 2, 1, 2] }],
      },
    ]);
    expect(seen).toMatchObject([{ text: 'a', params: { normalize: true } }, { text: 'b' }]);
  });

  test('all else is text or JSON', async () => {
    const rows = [{ label: 'a', score: 1 }];
    const base = await model('text-classification', rows);
    const { content } = await ask(`${base}/v2/models/test/model/versions/1/infer`, { inputs: [texts('a')] });
    expect(content['outputs']).toEqual([
      { name: 'output', datatype: 'BYTES', shape: [1], data: [JSON.stringify(rows)] },
    ]);
  });

  test('health and metadata', async () => {
    const base = await model('feature-extraction', [1]);
    expect((await ask(`${base}/v2`)).content).toMatchObject({ name: 'slipway' });
    expect((await ask(`${base}/v2/health/live`)).content).toEqual({ live: true });
    expect((await ask(`${base}/v2/health/ready`)).content).toEqual({ ready: true });
    expect((await ask(`${base}/v2/models/test/model`)).content).toMatchObject({
      ...{ name: 'test/model', inputs: [{ name: 'text', datatype: 'BYTES' }] },
      outputs: [{ datatype: 'FP32' }],
    });
    expect((await ask(`${base}/v2/models/test/model/ready`)).content).toMatchObject({ ready: true });
  });

  test.each([
    { inputs: [{ ...texts('a'), datatype: 'FP32' }] },
    { inputs: [{ ...texts('a'), shape: [2] }] },
    { inputs: [texts('a', 'b'), { ...texts('c'), name: 'question' }] },
    { inputs: [] },
  ])('%j is refused', async (body) => {
    const base = await model('feature-extraction', [1]);
    const { status, content } = await ask(`${base}/v2/models/test/model/infer`, body);
    expect([status, Object.keys(content), seen]).toEqual([400, ['error'], []]);
  });
});

describe.each(['container', 'below the model’s address'] as const)('Vertex AI, %s', (mount) => {
  const rows = [{ label: 'a', score: 1 }];

  test('instances become predictions, with the parameters of all and of each', async () => {
    const asked: unknown[] = [];
    const base = await mounted(mount, {
      task: 'text-classification',
      async run(input) {
        asked.push(input);
        return rows;
      },
    });
    const instances = ['x', { inputs: 'y', parameters: { top_k: 2 } }, { inputs: ['z', 'w'] }];
    const { status, content } = await ask(`${base}/vertex`, { instances, parameters: { top_k: 1 } });
    expect([status, content]).toEqual([200, { predictions: [rows, rows, [rows, rows]] }]);
    expect(asked).toMatchObject([
      { text: 'x', params: { top_k: 1 } },
      { text: 'y', params: { top_k: 2 } },
      { text: 'z', params: { top_k: 1 } },
      { text: 'w' },
    ]);
  });

  test('media are data URLs', async () => {
    const run = async () => ({ mediaType: 'image/png', media: Uint8Array.of(1) });
    const base = await mounted(mount, { task: 'text-to-image', run });
    expect((await ask(`${base}/vertex`, { instances: ['a cat'] })).content).toEqual({
      predictions: ['data:image/png;base64,AQ=='],
    });
  });

  test.each([
    { instances: [] },
    {},
    { instances: ['x'], more: 1 },
    { instances: [{ inputs: 'x', stream: true }] },
  ])('%j is refused', async (body) => {
    const base = await mounted(mount, { task: 'text-generation', run: async () => 'x' });
    expect((await ask(`${base}/vertex`, body)).status).toBe(400);
  });
});

test('/version of a container and of the gateway', async () => {
  const container = await mounted('container', { task: 'chat' });
  expect((await ask(`${container}/version`)).content).toEqual({
    version: expect.stringMatching(/^\d+\.\d+/),
  });
  const hosted = await mounted('gateway', { task: 'chat' });
  expect((await (await fetch(`${hosted}/version`)).json()) as object).toEqual({
    version: expect.stringMatching(/^\d+\.\d+/),
  });
});

describe('SageMaker', () => {
  test('invocations', async () => {
    const base = await mounted('container', {
      task: 'text-classification',
      run: async () => [{ label: 'a', score: 1 }],
    });
    expect((await ask(`${base}/invocations`, { inputs: 'x' })).content).toEqual([[{ label: 'a', score: 1 }]]);
    expect((await ask(`${base}/ping`)).status).toBe(200);
  });

  test.each<[ServiceStatus['state'], number]>([
    ['loading', 503],
    ['ready', 200],
  ])('a probe while the model is %s: %d, without a key', async (state, status) => {
    const base = await mounted('container', {
      ...{ task: 'chat', requiredKey: 'k', status: () => ({ state, details: {} }) },
    });
    expect((await fetch(`${base}/ping`)).status).toBe(status);
    expect((await fetch(`${base}/v2/health/ready`)).status).toBe(status);
    expect((await fetch(`${base}/v2`)).status).toBe(401);
  });
});
