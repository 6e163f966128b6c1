import * as z from 'zod';
import { sendJson } from '../../wire/respond.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { cutting, MAX_BATCH } from './embed.js';

const pair = z.tuple([z.string(), z.string()]);
const single = z.tuple([z.string()]);

/** POST predict. A list of two texts is one pair; several inputs are lists of one or two texts each. */
export const predictBody = z.strictObject({
  inputs: z.union([
    z.string(),
    pair,
    z
      .array(z.union([single, pair]))
      .min(1)
      .max(MAX_BATCH),
  ]),
  raw_scores: z.boolean().nullish().describe('the model’s own scores, without softmax or sigmoid'),
  ...cutting,
});

const TASKS = ['text-classification'] as const;

export async function predict(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const { inputs, raw_scores, truncate } = await readRequest(call, predictBody, {
    tasks: TASKS,
    batch: true,
  });
  const model = requireModel(host, undefined, TASKS);
  const isBatch = Array.isArray(inputs) && Array.isArray(inputs[0]);
  const rows = (isBatch ? inputs : [[inputs].flat()]) as readonly (readonly string[])[];
  const bodies = rows.map(([text, text_pair]) => ({
    text,
    params: {
      ...{ top_k: null, text_pair },
      ...(raw_scores ? { function_to_apply: 'none' } : {}),
      ...(truncate === false ? { truncation: false } : {}),
    },
  }));
  const names = { text: 'inputs', text_pair: 'inputs' };
  await answerAll(call, { model, bodies, names }, (all) => {
    const answers = all.map(({ output }) => output);
    sendJson(response, 200, JSON.stringify(isBatch ? answers : answers[0]));
  });
}
