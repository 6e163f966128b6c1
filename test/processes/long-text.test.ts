import { jest } from '@jest/globals';
import { join } from 'node:path';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { modelEnv, ROOT, startServer } from '../fakes/server.js';

jest.setTimeout(120_000);

/** Of a sort that takes seconds. */
const LONG = '東京都 '.repeat(2 ** 16).slice(0, 2 ** 18);

const SUMMARY = {
  engine: 'generation',
  graphs: {
    encoder_model: 'onnx/encoder_model.onnx',
    decoder_model_merged: 'onnx/decoder_model_merged.onnx',
  },
} as const;

test.each<[TaskId, string]>([
  ['text-classification', 'distilbert'],
  ['token-classification', 'bert-ner'],
  ['summarization', 't5-summary'],
])('%s: short texts are answered while a long one is tokenised', async (task, name) => {
  const repo = join(ROOT, 'test/fixtures/zoo', task, name, 'repo');
  const isSummary = task === 'summarization';
  const server = await startServer(await modelEnv(repo, { task, ...(isSummary ? SUMMARY : {}) }));
  const params = isSummary ? { max_new_tokens: 2, min_new_tokens: 1 } : {};
  const answerTo = async (text: string) => {
    const answer = await server.run({ text, params });
    return { status: answer.status, body: (await answer.json()) as { output: unknown } };
  };
  try {
    await server.ready();
    const waits = { isAnswered: false };
    const long = answerTo(LONG).finally(() => (waits.isAnswered = true));
    await new Promise((resolve) => setTimeout(resolve, 50));
    // All but the last one were answered before the long text was in tokens.
    let answers = 0;
    while (!waits.isAnswered) {
      expect((await answerTo('a quiet river')).status).toBe(200);
      answers += 1;
    }
    expect(answers).toBeGreaterThan(3);
    const { status, body } = await long;
    expect(status).toBe(200);
    // The model reads the beginning, which is short enough for the thread of the model itself.
    expect(body.output).toEqual((await answerTo(LONG.slice(0, 8000))).body.output);
  } finally {
    await server.stop();
  }
});
