import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { sendJson } from '../../wire/respond.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { EMBEDDING_TASKS, embeddingBodies, vectorsOf } from '../embed.js';
import { hint, modelField, neutral } from '../fields.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';

/** Cohere's POST v2/embed. */
export const cohereEmbedBody = z.strictObject({
  model: modelField,
  texts: z.array(z.string()).min(1).max(2048),
  input_type: hint('changes nothing: the model’s own prompts are not chosen by it'),
  embedding_types: z.array(z.literal('float', { error: 'can only be float' })).nullish(),
  output_dimension: z.int().min(1).nullish(),
  truncate: neutral(['END'], 'long texts are cut at their end'),
  max_tokens: hint(),
});

export async function cohereEmbed(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, cohereEmbedBody, { tasks: EMBEDDING_TASKS, batch: true });
  const model = requireModel(host, given.model, EMBEDDING_TASKS);
  const { texts, output_dimension: dimensions } = given;
  const bodies = embeddingBodies(model, texts, { dimensions });
  const names = { text: 'texts', dimensions: 'output_dimension' };
  await answerAll(call, { model, bodies, names }, (all, tokens) => {
    const embeddings = { float: vectorsOf(all) };
    const meta = { api_version: { version: '2' }, billed_units: { input_tokens: tokens?.in ?? 0 } };
    sendJson(response, 200, JSON.stringify({ id: randomUUID(), embeddings, texts, meta }));
  });
}
