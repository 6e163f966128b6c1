import * as z from 'zod';
import { sendJson } from '../../wire/respond.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { EMBEDDING_TASKS, embeddingBodies, vectorsOf } from '../embed.js';
import { hint, neutral, textOrTexts } from '../fields.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { modelName, taggedName } from './names.js';

const fields = {
  model: z.string().nullish(),
  truncate: neutral([true], 'long texts are always cut'),
  options: hint(),
  keep_alive: hint(),
};

export const embedBody = z.strictObject({
  ...fields,
  input: textOrTexts(2048, 'must be a text or several'),
  dimensions: z.int().min(1).nullish(),
});

/** The older route, for one text. */
export const embeddingsBody = z.strictObject({ ...fields, prompt: z.string() });

const NANOSECONDS = 1e6;

/** POST api/embed. */
export async function embed(call: DialectCall): Promise<void> {
  const arrived = performance.now();
  const { response, host } = call;
  const given = await readRequest(call, embedBody, { tasks: EMBEDDING_TASKS, batch: true });
  const model = requireModel(host, modelName(given.model), EMBEDDING_TASKS);
  const { dimensions } = given;
  const bodies = embeddingBodies(model, [given.input].flat(), { normalize: true, dimensions });
  await answerAll(call, { model, bodies, names: { text: 'input' } }, (all, tokens) => {
    const body = {
      ...{ model: taggedName(model.modelId), embeddings: vectorsOf(all) },
      total_duration: Math.round((performance.now() - arrived) * NANOSECONDS),
      ...{ load_duration: 0, prompt_eval_count: tokens?.in ?? 0 },
    };
    sendJson(response, 200, JSON.stringify(body));
  });
}

/** POST api/embeddings. */
export async function embeddings(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, embeddingsBody, { tasks: EMBEDDING_TASKS });
  const model = requireModel(host, modelName(given.model), EMBEDDING_TASKS);
  const bodies = embeddingBodies(model, [given.prompt]);
  await answerAll(call, { model, bodies, names: { text: 'prompt' } }, (all) =>
    sendJson(response, 200, JSON.stringify({ embedding: vectorsOf(all)[0] })),
  );
}
