import { jest } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelSpec } from '../../runtime/core/spec.js';
import { poisonedModel, type Poison } from '../fakes/poisoned-model.js';
import { modelEnv, ROOT, type ServerProcess, startServer, waitFor } from '../fakes/server.js';

/** Networks with one weight that is NaN, as servers. */

jest.setTimeout(60_000);

const ZOO = join(ROOT, 'test/fixtures/zoo');

async function start(model: string, poison: Poison, spec: Partial<ModelSpec> = {}): Promise<ServerProcess> {
  const repo = await poisonedModel(join(ZOO, model, 'repo'), poison);
  const task = model.split('/')[0] as ModelSpec['task'];
  return startServer({ ...(await modelEnv(repo, { task, ...spec })), THREADS: '2', WORKERS: '2' });
}

const SPEECH: Partial<ModelSpec> = {
  ...{ engine: 'generation', profile: 'vision' },
  graphs: {
    encoder_model: 'onnx/encoder_model.onnx',
    decoder_model_merged: 'onnx/decoder_model_merged.onnx',
  },
};

describe('a weight that every answer needs: the server is never ready, and /health has the reason', () => {
  test.each<[string, Poison, Partial<ModelSpec>]>([
    ['text-classification/distilbert', { weight: 'classifier.weight' }, {}],
    ['sentence-similarity/sbert-mean', {}, {}],
    ['text-generation/llama', {}, {}],
    ['object-detection/detr-tiny', {}, { profile: 'vision' }],
    ['automatic-speech-recognition/whisper-en', { graph: 'encoder_model' }, SPEECH],
  ])('%s', async (model, poison, spec) => {
    const server = await start(model, poison, spec);
    try {
      await waitFor(() => server.output().includes('not loaded'));
      const health = await fetch(`${server.url}/health`);
      const reason = expect.stringMatching(/not finite \(NaN or Infinity\).*dtype fp32.*another dtype/);
      expect([health.status, await health.json()]).toEqual([503, { error: reason, output: null }]);
      expect(server.output()).toContain('not finite');
      expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('slipway_ready 0');
    } finally {
      await server.stop();
    }
  });
});

/** A model whose vector of one token is NaN: what has that token fails. */
async function withPoisonedToken(
  model: string,
  { weight, token, width }: { weight: string; token: string; width: number },
): Promise<ServerProcess> {
  const text = await readFile(join(ZOO, model, 'repo/tokenizer.json'), 'utf8');
  const { vocab } = (JSON.parse(text) as { model: { vocab: Record<string, number> } }).model;
  const server = await start(model, { weight, at: vocab[token]! * width + 3 });
  await server.ready();
  return server;
}

const WORDS = { weight: 'embeddings.word_embeddings.weight', token: 'brid', width: 32 };

describe('a weight that some answers need: those fail, and no others', () => {
  test.each([
    [
      'text-classification/distilbert',
      { ...WORDS, weight: `distilbert.${WORDS.weight}` },
      'brid',
      { top_k: 3 },
    ],
    ['sentence-similarity/sbert-mean', WORDS, 'brid', {}],
    [
      'text-generation/llama',
      { weight: 'model.embed_tokens.weight', token: 'Q', width: 48 },
      'Q',
      { max_new_tokens: 8 },
    ],
  ])('%s', async (model, poison, bad, params) => {
    const server = await withPoisonedToken(model, poison);
    try {
      const good = (i: number) => ({ text: `the train was under ${'a'.repeat((i % 3) + 1)}`, params });
      const alone = await (await server.run(good(1))).json();
      const ask = (i: number) => server.run(i % 4 === 2 ? { text: `the ${bad}`, params } : good(i));
      const answers = await Promise.all(
        Array.from({ length: 24 }, async (_, i) => {
          const response = await ask(i);
          return { i, status: response.status, body: (await response.json()) as { error: string | null } };
        }),
      );
      for (const { i, status, body } of answers) {
        if (i % 4 === 2)
          expect([status, body]).toEqual([
            500,
            { error: expect.stringMatching(/not finite \(NaN or Infinity\).*\(request /), output: null },
          ]);
        else expect([status, body.error]).toEqual([200, null]);
      }
      // What shared a run with those that failed left nothing behind.
      expect(await (await server.run(good(1))).json()).toEqual(alone);
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      expect(metrics).toContain('slipway_not_finite_total 6');
      expect(metrics).toContain('slipway_requests_total{route="/run",status="500",code="engine_failed"} 6');
    } finally {
      await server.stop();
    }
  });

  test('a stream that has not begun is an ordinary answer, with beams as well as without', async () => {
    const poison = { weight: 'model.embed_tokens.weight', token: 'Q', width: 48 };
    const server = await withPoisonedToken('text-generation/llama', poison);
    try {
      for (const params of [{}, { num_beams: 2 }, { do_sample: true, top_k: 5 }, { guidance_scale: 2 }]) {
        const response = await server.run({
          text: 'Q',
          stream: true,
          params: { max_new_tokens: 4, ...params },
        });
        expect([response.status, await response.text()]).toEqual([
          500,
          expect.stringContaining('not finite'),
        ]);
      }
    } finally {
      await server.stop();
    }
  });
});
