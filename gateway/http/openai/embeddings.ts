import type { RequestHandler } from 'express';
import { z } from 'zod';
import { RunError } from '../../../runtime/core/errors.js';
import { readJson } from '../../../runtime/wire/json-body.js';
import { sendJson } from '../../../runtime/wire/respond.js';
import { bodyFor } from '../body.js';
import { callOf } from '../call.js';
import { checkRequest, type RunParts } from '../run.js';
import { tokensOf } from '../usage.js';
import { withModel } from '../with-model.js';
import { setHeaders } from './answer-text.js';
import { askAll } from './ask.js';
import { readFields } from './fields.js';
import { ENDPOINTS, modelFor } from './models.js';

/** Texts of one request that are with the model at the same time: it computes rows of like length together. */
const SIDE_BY_SIDE = 16;

const NO_TOKENS = 'must be a text or several: token ids are not supported';

/** POST embeddings. */
export const embeddingBody = z.strictObject({
  model: z.string(),
  input: z.union(
    [
      z.string(),
      z
        .array(z.string({ error: NO_TOKENS }))
        .min(1)
        .max(2048),
    ],
    {
      error: NO_TOKENS,
    },
  ),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z
    .int()
    .min(1)
    .nullish()
    .describe('keep the first numbers only, at most as many as the model gives'),
  user: z.string().nullish().describe('changes nothing'),
});

export function embed(parts: RunParts): RequestHandler {
  const rules = bodyFor(ENDPOINTS['/embeddings'], parts.body);
  return async (request, response) => {
    const { json } = await readJson(request, response, rules);
    const { model, input, encoding_format, dimensions } = readFields(embeddingBody, json);
    const entry = modelFor('/embeddings', model, parts.catalog);
    const params = dimensions == null ? {} : { params: { truncate_dim: dimensions } };
    const bodies = [input].flat().map((text) => ({ text, ...params }));
    for (const body of bodies) checkRequest(entry, body);
    await withModel(entry, response, parts, async (server) => {
      const all = await askAll(server.url, bodies, { signal: server.signal, sideBySide: SIDE_BY_SIDE });
      const vectors = all.map(({ output }) => output as Vector);
      checkLength(vectors[0]!.length, dimensions);
      setHeaders(response, server);
      const data = vectors.map((vector, index) => ({
        ...{ object: 'embedding', index },
        embedding: encoding_format === 'base64' ? base64(vector) : vector,
      }));
      const tokens = tokensOf(all.map(({ usage }) => usage));
      callOf(response).tokens = tokens;
      const usage = tokens && { prompt_tokens: tokens.in, total_tokens: tokens.in };
      sendJson(response, 200, JSON.stringify({ object: 'list', data, model: entry.modelId, usage }));
    });
  };
}

type Vector = readonly (number | null)[];

function checkLength(length: number, wanted: number | null | undefined): void {
  if (wanted == null || wanted === length) return;
  throw new RunError('invalid_input', `dimensions: this model gives ${length} at most`);
}

/** 32-bit floats, little end first: numpy.frombuffer(…, float32) reads them. */
function base64(vector: Vector): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, i) => bytes.writeFloatLE(value ?? Number.NaN, i * 4));
  return bytes.toString('base64');
}
