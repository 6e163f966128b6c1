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

/** An endpoint that writes text: body -> model -> the tasks' own checks -> a server -> OpenAI's words. */
export function textEndpoint(
  endpoint: Endpoint,
  read: (json: unknown, catalog: Catalog) => TextRequest,
  parts: RunParts,
): RequestHandler {
  const body = bodyFor(ENDPOINTS[endpoint], parts.body);
  return async (request, response) => {
    const { json } = await readJsonBody(request, response, body);
    const asked = read(json, parts.catalog);
    await askModel(asked, response, parts, (server) =>
      asked.stream ? streamed(asked, response, server) : whole(asked, response, server),
    );
  };
}

async function whole(asked: TextRequest, response: Response, server: ModelServer): Promise<void> {
  const { answers, tokens } = await completePrompts(asked, server);
  setHeaders(response, server);
  const choices = answers.map((answer, index) => ({ index, ...asked.shape.choice(answer) }));
  const usage = usageOf(response, tokens);
  sendJson(response, 200, JSON.stringify({ ...head(asked, asked.shape.object), choices, usage }));
}

async function streamed(asked: TextRequest, response: Response, server: ModelServer): Promise<void> {
  const { choices, tokens } = await streamChoices(asked, server);
  setHeaders(response, server);
  const common = { ...head(asked, asked.shape.chunk), ...(asked.includeUsage ? { usage: null } : {}) };
  async function* chunks() {
    for await (const choice of choices) yield { ...common, choices: [choice] };
    const usage = usageOf(response, tokens());
    if (asked.includeUsage) yield { ...common, choices: [], usage: usage ?? null };
  }
  await sendEvents(response, chunks());
}

/** Usage in OpenAI's words, for the caller; in ours for those who count. */
function usageOf(response: Response, tokens: TokenCounts | undefined): object | undefined {
  if (!tokens) return undefined;
  callContext(response).tokens = tokens;
  const total = tokens.in + tokens.out;
  return { prompt_tokens: tokens.in, completion_tokens: tokens.out, total_tokens: total };
}

function head({ entry, shape }: TextRequest, object: string): object {
  const created = Math.floor(Date.now() / 1000);
  return { id: `${shape.prefix}-${randomUUID()}`, object, created, model: entry.modelId };
}

/** What the call costs, as on every other route. */
export function setHeaders(response: Response, server: ModelServer): void {
  for (const [name, value] of Object.entries(server.headers())) response.setHeader(name, value);
}
