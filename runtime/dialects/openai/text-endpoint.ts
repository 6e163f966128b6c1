import { randomUUID } from 'node:crypto';
import type { Response } from 'express';
import type { z } from 'zod';
import type { FinishReason } from '../../core/usage.js';
import { readJsonBody } from '../../wire/json-body.js';
import { sendJson } from '../../wire/respond.js';
import { askModel, setModelHeaders } from '../ask.js';
import { tellHints } from '../fields.js';
import type { DialectRoute } from '../dialect.js';
import type { AskedModel, DialectHost, TokenCounts } from '../host.js';
import { completePrompts, streamChoices } from './choices.js';
import { sendEvents } from './events.js';
import { bodyTasks, type Endpoint } from './models.js';
import type { TextRequest } from './text-answers.js';

/** A text endpoint: reads the body, finds the model, checks the parameters, asks the model, answers in OpenAI's shape. */
export function textEndpoint<Answer extends { finish: FinishReason }>(
  endpoint: Endpoint,
  { body, read }: { body: z.ZodObject; read: (json: unknown, host: DialectHost) => TextRequest<Answer> },
): DialectRoute['handle'] {
  return async ({ request, response, host }) => {
    const { json } = await readJsonBody(request, response, {
      ...host.bodyOptions(bodyTasks(endpoint)),
      pythonNumbers: endpoint === '/chat/completions',
    });
    const textRequest = read(json, host);
    tellHints(response, body.shape, json as object);
    const send = textRequest.stream ? sendStream : sendWhole;
    await askModel(host, response, textRequest, (asked) => send(textRequest, { response, host, asked }));
  };
}

interface Answering {
  response: Response;
  host: DialectHost;
  asked: AskedModel;
}

async function sendWhole<Answer extends { finish: FinishReason }>(
  textRequest: TextRequest<Answer>,
  answering: Answering,
): Promise<void> {
  const { response, asked } = answering;
  const { answers, tokens } = await completePrompts(textRequest, asked);
  setModelHeaders(response, asked);
  const choices = answers.map((answer, index) => ({ index, ...textRequest.shape.choice(answer) }));
  const usage = recordUsage(answering, tokens);
  sendJson(
    response,
    200,
    JSON.stringify({
      ...headOf(textRequest, textRequest.shape.object),
      ...{ choices, usage },
      ...textRequest.shape.beside?.(answers),
    }),
  );
}

async function sendStream<Answer extends { finish: FinishReason }>(
  textRequest: TextRequest<Answer>,
  answering: Answering,
): Promise<void> {
  const { response, asked } = answering;
  const { choices, tokens } = await streamChoices(textRequest, asked, response);
  setModelHeaders(response, asked);
  const common = {
    ...headOf(textRequest, textRequest.shape.chunk),
    ...(textRequest.includeUsage ? { usage: null } : {}),
  };
  async function* chunks() {
    for await (const choice of choices) yield { ...common, choices: [choice] };
    const usage = recordUsage(answering, tokens());
    if (textRequest.includeUsage) yield { ...common, choices: [], usage: usage ?? null };
  }
  await sendEvents(response, chunks());
}

/** @returns the usage in OpenAI's shape */
function recordUsage({ host, response }: Answering, tokens: TokenCounts | undefined): object | undefined {
  if (!tokens) return undefined;
  host.count(response, tokens);
  const { in: prompt_tokens, out: completion_tokens, reasoning } = tokens;
  const details =
    reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } };
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens, ...details };
}

function headOf<Answer extends { finish: FinishReason }>(
  { model, shape }: TextRequest<Answer>,
  object: string,
): object {
  const created = Math.floor(Date.now() / 1000);
  return { id: `${shape.prefix}-${randomUUID()}`, object, created, model: model.modelId };
}
