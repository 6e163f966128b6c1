import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import type { DialectCall } from '../dialect.js';
import { EMBEDDING_TASKS } from '../embed.js';
import { neutral } from '../fields.js';
import { embeddingBody, sendEmbeddings } from '../openai/embeddings.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';

const wholeOr = (note: string) => z.int().min(0).nullish().describe(`${note}; 0: all`);

/** POST embeddings: OpenAI's, where 0 dimensions are all of them. */
export const infinityEmbeddingBody = embeddingBody.extend({
  dimensions: wholeOr('keep the first numbers only'),
  output_dimension: wholeOr('another name of dimensions, which litellm writes'),
  modality: neutral(['text'], 'texts are embedded'),
});

export async function embed(call: DialectCall): Promise<void> {
  const { dimensions, output_dimension, ...given } = await readRequest(call, infinityEmbeddingBody, {
    ...{ tasks: EMBEDDING_TASKS, batch: true },
  });
  if (dimensions && output_dimension && dimensions !== output_dimension)
    throw new RunError('invalid_input', 'output_dimension: contradicts dimensions');
  const model = requireModel(call.host, given.model, EMBEDDING_TASKS);
  await sendEmbeddings(call, model, { ...given, dimensions: dimensions || output_dimension || undefined });
}
