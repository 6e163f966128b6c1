import { setMaxListeners } from 'node:events';
import type { Response } from 'express';
import pLimit from 'p-limit';
import { RunError } from '../core/errors.js';
import type { Usage } from '../core/usage.js';
import type { DialectCall } from './dialect.js';
import { type FieldNames, fieldOf, inCallersWords } from './field-names.js';
import type { AskedModel, DialectHost, ModelAnswer, ModelRequest, TokenCounts } from './host.js';

/**
 * Makes the model ready for `use`.
 * @param names how the caller calls the fields of the bodies, where it is not as they do
 * @throws RunError for a body that the task does not accept, before any model is started
 */
export async function askModel(
  host: DialectHost,
  response: Response,
  { names, ...request }: ModelRequest & { names: FieldNames },
  use: (asked: AskedModel) => Promise<void>,
): Promise<void> {
  try {
    await host.withModel(request, response, use);
  } catch (error) {
    throw inCallersWords(error, names);
  }
}

/**
 * Asks for the answers to several bodies, a few at a time, in their order. The first failure aborts the others.
 * @throws RunError of the first body that fails
 */
export async function askAll(
  asked: AskedModel,
  bodies: readonly Record<string, unknown>[],
  concurrency: number,
): Promise<ModelAnswer[]> {
  if (bodies.length === 1) return [await asked.ask(bodies[0]!, asked.signal)];
  const limit = pLimit(concurrency);
  const failed = new AbortController();
  const signal = AbortSignal.any([asked.signal, failed.signal]);
  setMaxListeners(0, signal);
  const work = bodies.map((body) =>
    limit(() => {
      signal.throwIfAborted();
      return asked.ask(body, signal);
    }),
  );
  try {
    return await Promise.all(work);
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(work);
    throw error;
  }
}

/** Inputs of one request that are sent to the model at the same time, so that it can batch rows of similar length. */
const MAX_CONCURRENT = 16;

/**
 * Asks for the answers to all bodies, counts their tokens, and gives both to `send`, in the order of the bodies.
 * @throws RunError as `askModel` does, or of the first body that fails
 */
export async function answerAll(
  { host, response }: DialectCall,
  request: ModelRequest & { names: FieldNames },
  send: (answers: ModelAnswer[], tokens: TokenCounts | undefined) => void | Promise<void>,
): Promise<void> {
  await askModel(host, response, request, async (asked) => {
    const answers = await askAll(asked, request.bodies, MAX_CONCURRENT);
    setModelHeaders(response, asked);
    const tokens = sumTokens(answers.map(({ usage }) => usage));
    if (tokens) host.count(response, tokens);
    await send(answers, tokens);
  });
}

/**
 * Counts the tokens of the prompt that a body of POST /run becomes, without running the model.
 * @throws RunError as POST /run does
 */
export async function countTokens(asked: AskedModel, body: Record<string, unknown>): Promise<number> {
  const params = { ...(body['params'] as object | undefined), count_only: true };
  const { usage } = await asked.ask({ ...body, params }, asked.signal);
  return usage?.tokensIn ?? 0;
}

/** As `countTokens`; undefined for a model that can't count without writing, as others serve some. */
export async function countTokensIfPossible(
  asked: AskedModel,
  body: Record<string, unknown>,
): Promise<number | undefined> {
  try {
    return await countTokens(asked, body);
  } catch (error) {
    if (error instanceof RunError && fieldOf(error)?.field === 'count_only') return undefined;
    throw error;
  }
}

/** Sums the tokens of several answers; undefined if one of them has no count. */
export function sumTokens(all: readonly (Usage | undefined)[]): TokenCounts | undefined {
  const tokens: TokenCounts = { in: 0, out: 0 };
  for (const usage of all) {
    if (!usage) return undefined;
    tokens.in += usage.tokensIn;
    tokens.out += usage.tokensOut ?? 0;
    if (usage.reasoningTokens !== undefined)
      tokens.reasoning = (tokens.reasoning ?? 0) + usage.reasoningTokens;
  }
  return tokens;
}

/** Sets the headers that answers of the model get, unless the answer has begun. */
export function setModelHeaders(response: Response, asked: AskedModel): void {
  if (response.headersSent) return;
  for (const [name, value] of Object.entries(asked.headers())) response.setHeader(name, value);
}
