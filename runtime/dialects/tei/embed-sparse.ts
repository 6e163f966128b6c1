import * as z from 'zod';
import { sendJson } from '../../wire/respond.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { textOrTexts } from '../fields.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { cutting, MAX_BATCH } from './embed.js';

export const SPARSE_TASKS = ['fill-mask'] as const;

/** POST embed_sparse. */
export const embedSparseBody = z.strictObject({
  inputs: textOrTexts(MAX_BATCH, 'must be a text or several: ids of tokens are not supported'),
  prompt_name: z.string().nullish().describe('name of a prompt in the repository'),
  ...cutting,
});

export async function embedSparse(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, embedSparseBody, { tasks: SPARSE_TASKS, batch: true });
  const { inputs, truncate, prompt_name } = given;
  const model = requireModel(host, undefined, SPARSE_TASKS);
  const params = {
    sparse: true,
    ...(prompt_name == null ? {} : { prompt_name }),
    ...(truncate === false ? { tokenizer_kwargs: { truncation: false } } : {}),
  };
  const bodies = [inputs].flat().map((text) => ({ text, params }));
  const names = { text: 'inputs', sparse: 'inputs', prompt_name: 'prompt_name' };
  await answerAll(call, { model, bodies, names }, (all) =>
    sendJson(response, 200, JSON.stringify(all.map(({ output }) => output))),
  );
}
