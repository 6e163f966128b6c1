import type { Response } from 'express';
import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import { writeChunk } from '../../wire/lifetime.js';
import { JSON_TYPE, sendJson } from '../../wire/respond.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { embeddingBodies } from '../embed.js';
import { hint, modelField, textOrTexts } from '../fields.js';
import type { ServedModel } from '../host.js';
import { readRequest } from '../read-request.js';
import { ENDPOINTS, findModel } from './models.js';

/** As many as OpenAI takes. */
const MAX_INPUTS = 2048;

const NO_TOKENS =
  'must be a text or several: token ids are not supported (LangChain sends those of another model; set check_embedding_ctx_length=False there)';

/** POST embeddings. */
export const embeddingBody = z.strictObject({
  model: modelField,
  input: textOrTexts(MAX_INPUTS, NO_TOKENS),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z
    .int()
    .min(1)
    .nullish()
    .describe(
      'keep the first numbers only, at most as many as the model gives; of length 1 again where the model’s vectors are',
    ),
  user: hint(),
  input_type: hint('changes nothing: the model’s own prompts are not chosen by it'),
});

export async function embed(call: DialectCall): Promise<void> {
  const given = await readRequest(call, embeddingBody, { tasks: ENDPOINTS['/embeddings'], batch: true });
  const model = findModel('/embeddings', given.model ?? undefined, call.host);
  await sendEmbeddings(call, model, given);
}

type EmbeddingRequest = Pick<z.output<typeof embeddingBody>, 'input' | 'encoding_format' | 'dimensions'>;

/** Embeds the texts of a request and sends OpenAI's answer. */
export async function sendEmbeddings(
  call: DialectCall,
  model: ServedModel,
  { input, encoding_format, dimensions }: EmbeddingRequest,
): Promise<void> {
  const { response } = call;
  const bodies = embeddingBodies(model, [input].flat(), { dimensions });
  await answerAll(call, { model, bodies, names: { text: 'input' } }, async (all, tokens) => {
    const vectors = all.map(({ output }) => output as Vector);
    checkLength(vectors[0]!.length, dimensions);
    const usage = tokens && { prompt_tokens: tokens.in, total_tokens: tokens.in };
    const row = (vector: Vector, index: number) => {
      const embedding = encoding_format === 'base64' ? base64(vector) : vector;
      return JSON.stringify({ object: 'embedding', index, embedding });
    };
    await sendList(response, {
      rows: vectors.map((vector, i) => () => row(vector, i)),
      rest: { model: model.modelId, usage },
    });
  });
}

/** Characters formatted before the event loop serves others. */
const CHUNK_LENGTH = 2 ** 17;

/** Sends in chunks with backpressure: 2000 vectors are 40 MB of JSON. */
async function sendList(
  response: Response,
  { rows, rest }: { rows: readonly (() => string)[]; rest: object },
): Promise<void> {
  let text = '{"object":"list","data":[';
  for (const [i, row] of rows.entries()) {
    text += (i === 0 ? '' : ',') + row();
    if (text.length < CHUNK_LENGTH) continue;
    if (!response.headersSent) response.setHeader('Content-Type', JSON_TYPE);
    await writeChunk(response, text);
    text = '';
  }
  const end = `],${JSON.stringify(rest).slice(1)}`;
  if (response.headersSent) response.end(text + end);
  else sendJson(response, 200, text + end);
}

type Vector = readonly (number | null)[];

function checkLength(length: number, wanted: number | null | undefined): void {
  if (wanted == null || wanted === length) return;
  throw new RunError('invalid_input', `dimensions: this model gives ${length} at most`);
}

/** Little-endian 32-bit floats, as numpy.frombuffer(…, float32) reads them. */
function base64(vector: Vector): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, i) => bytes.writeFloatLE(value ?? Number.NaN, i * 4));
  return bytes.toString('base64');
}
