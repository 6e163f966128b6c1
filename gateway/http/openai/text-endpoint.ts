import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { readJsonBody } from '../../../runtime/wire/json-body.js';
import { sendJson } from '../../../runtime/wire/respond.js';
import type { Catalog } from '../../catalog/entry.js';
import { bodyFor } from '../body.js';
import { callContext } from '../call-context.js';
import type { RunParts } from '../run.js';
import type { TokenCounts } from '../usage-headers.js';
import type { ModelServer } from '../with-model.js';
import { askModel } from './ask-model.js';
import { completePrompts, streamChoices } from './choices.js';
import { sendEvents } from './events.js';
import { type Endpoint, ENDPOINTS } from './models.js';
import type { TextRequest } from './text-answers.js';

/** A text endpoint: reads the body, finds the model, checks the parameters, asks a server, answers in OpenAI's shape. */
export function textEndpoint(
  endpoint: Endpoint,
  read: (json: unknown, catalog: Catalog) => TextRequest,
  parts: RunParts,
): RequestHandler {
  const body = bodyFor(ENDPOINTS[endpoint], parts.body);
  return async (request, response) => {
    const { json } = await readJsonBody(request, response, {
      ...body,
      pythonNumbers: endpoint === '/chat/completions',
    });
    const textRequest = read(json, parts.catalog);
    await askModel(textRequest, response, parts, (server) =>
      textRequest.stream
        ? sendStream(textRequest, response, server)
        : sendWhole(textRequest, response, server),
    );
  };
}

async function sendWhole(textRequest: TextRequest, response: Response, server: ModelServer): Promise<void> {
  const { answers, tokens } = await completePrompts(textRequest, server);
  setHeaders(response, server);
  const choices = answers.map((answer, index) => ({ index, ...textRequest.shape.choice(answer) }));
  const usage = recordUsage(response, tokens);
  sendJson(
    response,
    200,
    JSON.stringify({ ...headOf(textRequest, textRequest.shape.object), choices, usage }),
  );
}

async function sendStream(textRequest: TextRequest, response: Response, server: ModelServer): Promise<void> {
  const { choices, tokens } = await streamChoices(textRequest, server);
  setHeaders(response, server);
  const common = {
    ...headOf(textRequest, textRequest.shape.chunk),
    ...(textRequest.includeUsage ? { usage: null } : {}),
  };
  async function* chunks() {
    for await (const choice of choices) yield { ...common, choices: [choice] };
    const usage = recordUsage(response, tokens());
    if (textRequest.includeUsage) yield { ...common, choices: [], usage: usage ?? null };
  }
  await sendEvents(response, chunks());
}

/** Records the tokens in the call's context. @returns the usage in OpenAI's shape */
function recordUsage(response: Response, tokens: TokenCounts | undefined): object | undefined {
  if (!tokens) return undefined;
  callContext(response).tokens = tokens;
  const total = tokens.in + tokens.out;
  return { prompt_tokens: tokens.in, completion_tokens: tokens.out, total_tokens: total };
}

function headOf({ entry, shape }: TextRequest, object: string): object {
  const created = Math.floor(Date.now() / 1000);
  return { id: `${shape.prefix}-${randomUUID()}`, object, created, model: entry.modelId };
}

/** Sets the cost headers, as other routes do. */
export function setHeaders(response: Response, server: ModelServer): void {
  for (const [name, value] of Object.entries(server.headers())) response.setHeader(name, value);
}
