import * as z from 'zod';
import { sendJson } from '../../wire/respond.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { EMBEDDING_TASKS, embeddingBodies, vectorsOf } from '../embed.js';
import { neutral, textOrTexts } from '../fields.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';

/** Texts of one request. Text Embeddings Inference takes 32 unless told otherwise. */
export const MAX_BATCH = 2048;

const NO_IDS = 'must be a text or several: ids of tokens are not supported';

/** How long texts are cut. */
export const cutting = {
  truncate: z.boolean().nullish().describe('false: a text that is too long is refused; by default it is cut'),
  truncation_direction: neutral(['Right', 'right'], 'long texts are cut at their end'),
};

/** POST embed. */
export const embedBody = z.strictObject({
  inputs: textOrTexts(MAX_BATCH, NO_IDS),
  normalize: z.boolean().nullish().describe('to length 1, as by default'),
  dimensions: z.int().min(1).nullish().describe('keep the first numbers only'),
  prompt_name: z.string().nullish().describe('name of a prompt in the repository'),
  ...cutting,
});

export async function embed(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, embedBody, { tasks: EMBEDDING_TASKS, batch: true });
  const { inputs, normalize, dimensions, prompt_name: promptName, truncate } = given;
  const model = requireModel(host, undefined, EMBEDDING_TASKS);
  const options = { normalize: normalize ?? true, dimensions, promptName, truncate };
  const bodies = embeddingBodies(model, [inputs].flat(), options);
  await answerAll(call, { model, bodies, names: { text: 'inputs', prompt_name: 'prompt_name' } }, (all) =>
    sendJson(response, 200, JSON.stringify(vectorsOf(all))),
  );
}
