import * as z from 'zod';
import { sendJson } from '../../wire/respond.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { modelField } from '../fields.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { answerOf } from './answer.js';

export const CLASSIFYING_TASKS = ['text-classification'] as const;

const MAX_INPUTS = 2048;

/** POST classify. */
export const classifyBody = z.strictObject({
  model: modelField,
  input: z.array(z.string()).min(1).max(MAX_INPUTS),
  raw_scores: z.boolean().nullish().describe('the model’s own scores, without softmax or sigmoid'),
});

/** All labels of each text, the likeliest first. */
export async function classify(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, classifyBody, { tasks: CLASSIFYING_TASKS, batch: true });
  const model = requireModel(host, given.model, CLASSIFYING_TASKS);
  const params = { top_k: null, ...(given.raw_scores ? { function_to_apply: 'none' } : {}) };
  const bodies = given.input.map((text) => ({ text, params }));
  await answerAll(call, { model, bodies, names: { text: 'input' } }, (all, tokens) => {
    const data = all.map(({ output }) => output);
    sendJson(response, 200, JSON.stringify({ ...answerOf('classify', model, tokens), data }));
  });
}
