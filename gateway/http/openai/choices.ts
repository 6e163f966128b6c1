import type { Usage } from '../../../runtime/core/usage.js';
import { type TokenCounts, sumTokens } from '../usage-headers.js';
import type { ModelServer } from '../with-model.js';
import { requestAll, requestStream, type StreamPiece } from './container-requests.js';
import { readAnswers, type TextAnswer, type TextRequest } from './text-answers.js';

/** Prompts of one request that are with the model at the same time. */
const SIDE_BY_SIDE = 8;

export interface CompletionAnswers {
  answers: TextAnswer[];
  /** Nothing where the model doesn't count. */
  tokens: TokenCounts | undefined;
}

/** Every prompt's answers, in the order of the prompts. */
export async function completePrompts(
  { bodies, echoes }: TextRequest,
  { url, signal }: ModelServer,
): Promise<CompletionAnswers> {
  const all = await requestAll(url, bodies, { signal, sideBySide: SIDE_BY_SIDE });
  return {
    answers: all.flatMap(({ output, usage }, i) => readAnswers(output, usage, echoes[i])),
    tokens: sumTokens(all.map(({ usage }) => usage)),
  };
}

/** The choices of a stream's chunks, in their order. */
export interface ChoiceStream {
  choices: AsyncIterable<object> | Iterable<object>;
  /** Known once all choices are out. */
  tokens(): TokenCounts | undefined;
}

/**
 * A container streams one answer as text. Several answers, several prompts and probabilities have no place in that:
 * they come once they are complete.
 */
export function streamChoices(asked: TextRequest, server: ModelServer): Promise<ChoiceStream> {
  const { logprobs, num_return_sequences } = asked.bodies[0]!['params'] as Record<string, unknown>;
  const flows = asked.bodies.length === 1 && logprobs === undefined && num_return_sequences === undefined;
  return flows ? flowing(asked, server) : dammed(asked, server);
}

async function flowing({ bodies, echoes, shape }: TextRequest, server: ModelServer): Promise<ChoiceStream> {
  const told = await requestStream(server.url, { body: bodies[0]!, signal: server.signal });
  let usage: Usage | undefined;
  async function* choices(pieces: AsyncIterable<StreamPiece>): AsyncGenerator<object> {
    if (shape.begin) yield { index: 0, ...shape.begin() };
    if (echoes[0]) yield { index: 0, ...shape.piece(echoes[0]) };
    for await (const one of pieces) {
      if (one.text !== undefined) yield { index: 0, ...shape.piece(one.text) };
      else usage = one.usage;
    }
    yield { index: 0, ...shape.end(usage?.finish?.[0] ?? 'stop') };
  }
  return { choices: choices(told), tokens: () => sumTokens([usage]) };
}

async function dammed(asked: TextRequest, server: ModelServer): Promise<ChoiceStream> {
  const { answers, tokens } = await completePrompts(asked, server);
  const { shape } = asked;
  const choices = answers.flatMap(({ text, echo, logprobs, finish }, index) =>
    [...(shape.begin ? [shape.begin()] : []), shape.piece(echo + text, logprobs), shape.end(finish)].map(
      (choice) => ({ index, ...choice }),
    ),
  );
  return { choices, tokens: () => tokens };
}
