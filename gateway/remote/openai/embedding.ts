import * as z from 'zod';
import { RunError } from '../../../runtime/core/errors.js';
import { malformed } from '../faults.js';
import type { Params, Translate } from '../kind.js';
import { usageField, usageOf } from './usage.js';

const answer = z.object({
  data: z.array(z.object({ embedding: z.array(z.number()).min(1) })).length(1),
  usage: usageField,
});

/** Params that embeddings have. */
const OURS = new Set([
  ...['normalize', 'normalize_embeddings', 'dimensions', 'truncate_dim', 'prompt', 'truncation'],
]);

/** Asks embeddings. */
export const translateEmbedding: Translate = (call) => {
  const { modelId, remote, input, params } = call;
  const stranger = Object.keys(params).find((name) => !OURS.has(name) || params[name] === false);
  if (stranger !== undefined)
    throw new RunError('invalid_input', `params.${stranger}: can't be given to ${modelId}; leave it out`);
  const { dimensions, prompt = '' } = params as { dimensions?: number; prompt?: string };
  if (dimensions !== undefined && params['truncate_dim'] !== undefined)
    throw new RunError('invalid_input', 'params.dimensions: give it or truncate_dim');
  return {
    path: '/embeddings',
    body: {
      model: remote.model,
      input: prompt + (input['text'] as string),
      encoding_format: 'float',
      ...(dimensions === undefined ? {} : { dimensions }),
    },
    read(json) {
      const parsed = answer.safeParse(json);
      if (!parsed.success)
        throw malformed(modelId, 'answers with something else than OpenAI’s interface has');
      const { data, usage } = parsed.data;
      return { output: vectorOf(data[0]!.embedding, params), usage: usageOf(usage) };
    },
  };
};

function vectorOf(vector: number[], params: Params): number[] {
  const cut = vector.slice(0, params['truncate_dim'] as number | undefined);
  if (!params['normalize'] && !params['normalize_embeddings']) return cut;
  const length = Math.sqrt(cut.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? cut : cut.map((value) => value / length);
}
