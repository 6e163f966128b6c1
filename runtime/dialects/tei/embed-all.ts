import * as z from 'zod';
import { isEncodedJson } from '../../core/encoded-json.js';
import { writeChunk } from '../../wire/lifetime.js';
import { JSON_TYPE } from '../../wire/respond.js';
import { askModel, setModelHeaders, sumTokens } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { EMBEDDING_TASKS } from '../embed.js';
import { textOrTexts } from '../fields.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { cutting } from './embed.js';

/** As many as Text Embeddings Inference takes: each text has a vector for every token. */
const MAX_TEXTS = 32;

/** POST embed_all. */
export const embedAllBody = z.strictObject({
  inputs: textOrTexts(MAX_TEXTS, 'must be a text or several: ids of tokens are not supported'),
  prompt_name: z.string().nullish().describe('name of a prompt in the repository'),
  ...cutting,
});

/** One answer after the other is asked for and sent: together they may be hundreds of megabytes. */
export async function embedAll(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, embedAllBody, { tasks: EMBEDDING_TASKS, batch: true });
  const model = requireModel(host, undefined, EMBEDDING_TASKS);
  const params = {
    ...(model.task === 'sentence-similarity' ? { output_value: 'token_embeddings' } : { pooling: 'none' }),
    ...(given.prompt_name == null ? {} : { prompt_name: given.prompt_name }),
    ...(given.truncate === false ? { truncation: false } : {}),
  };
  const bodies = [given.inputs].flat().map((text) => ({ text, params }));
  await askModel(host, response, { model, bodies, names: { text: 'inputs' } }, async (asked) => {
    const usages = [];
    for (const [i, body] of bodies.entries()) {
      const { output, usage } = await asked.ask(body, asked.signal);
      usages.push(usage);
      setModelHeaders(response, asked);
      if (i === 0) response.setHeader('Content-Type', JSON_TYPE);
      await writeChunk(response, i === 0 ? '[' : ',');
      const pieces = isEncodedJson(output) ? output.encodedJson : [JSON.stringify(output)];
      for (const piece of pieces)
        await writeChunk(response, typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8'));
    }
    const tokens = sumTokens(usages);
    if (tokens) host.count(response, tokens);
    response.end(']');
  });
}
