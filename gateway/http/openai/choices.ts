import type { Usage } from '../../../runtime/core/usage.js';
import { type TokenCounts, sumTokens } from '../usage-headers.js';
import type { ModelServer } from '../with-model.js';
import { requestAll, requestStream, type StreamPiece } from './container-requests.js';
import { readAnswers, type TextAnswer, type TextRequest } from './text-answers.js';

/** Prompts of one request that are sent to the model at the same time. */
const MAX_CONCURRENT = 8;

export interface CompletionAnswers {
  answers: TextAnswer[];
  /** Undefined when the model does not count tokens. */
  tokens: TokenCounts | undefined;
}

/** The answers to all prompts, in the order of the prompts. */
export async function completePrompts(
  { bodies, echoes }: TextRequest,
  server: ModelServer,
): Promise<CompletionAnswers> {
  const all = await requestAll(server, bodies, {
    signal: server.signal,
    concurrency: MAX_CONCURRENT,
  });
  return {
    answers: all.flatMap(({ output, usage }, i) => readAnswers(output, usage, echoes[i])),
    tokens: sumTokens(all.map(({ usage }) => usage)),
  };
}

/** The choices of a stream's chunks, in order. */
export interface ChoiceStream {
  choices: AsyncIterable<object> | Iterable<object>;
  /** Known after the last choice. */
  tokens(): TokenCounts | undefined;
}

/**
 * A container can stream only one answer, and only its text. Requests with several answers, several prompts or
 * probabilities are computed completely and then sent as chunks.
 */
export function streamChoices(request: TextRequest, server: ModelServer): Promise<ChoiceStream> {
  const { logprobs, num_return_sequences } = request.bodies[0]!['params'] as Record<string, unknown>;
  const canStream =
    request.bodies.length === 1 && logprobs === undefined && num_return_sequences === undefined;
  return canStream ? streamAnswer(request, server) : chunkAnswers(request, server);
}

async function streamAnswer(
  { bodies, echoes, shape }: TextRequest,
  server: ModelServer,
): Promise<ChoiceStream> {
  const stream = await requestStream(server, { body: bodies[0]!, signal: server.signal });
  let usage: Usage | undefined;
  async function* choices(pieces: AsyncIterable<StreamPiece>): AsyncGenerator<object> {
    if (shape.begin) yield { index: 0, ...shape.begin() };
    if (echoes[0]) yield { index: 0, ...shape.piece(echoes[0]) };
    for await (const piece of pieces) {
      if (piece.text !== undefined) yield { index: 0, ...shape.piece(piece.text) };
      else usage = piece.usage;
    }
    yield { index: 0, ...shape.end(usage?.finish?.[0] ?? 'stop') };
  }
  return { choices: choices(stream), tokens: () => sumTokens([usage]) };
}

async function chunkAnswers(request: TextRequest, server: ModelServer): Promise<ChoiceStream> {
  const { answers, tokens } = await completePrompts(request, server);
  const { shape } = request;
  const choices = answers.flatMap(({ text, echo, logprobs, finish }, index) =>
    [...(shape.begin ? [shape.begin()] : []), shape.piece(echo + text, logprobs), shape.end(finish)].map(
      (choice) => ({ index, ...choice }),
    ),
  );
  return { choices, tokens: () => tokens };
}
