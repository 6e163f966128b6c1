import type { Response } from 'express';
import type { FinishReason, Usage } from '../../core/usage.js';
import { askAll, sumTokens } from '../ask.js';
import { streamEvents } from '../events.js';
import type { AnswerPiece, AskedModel, TokenCounts } from '../host.js';
import type { TextRequest } from './text-answers.js';

/** Prompts of one request that are sent to the model at the same time. */
const MAX_CONCURRENT = 8;

interface Finished {
  finish: FinishReason;
}

export interface CompletionAnswers<Answer> {
  answers: Answer[];
  /** Undefined when the model does not count tokens. */
  tokens: TokenCounts | undefined;
}

/** The answers to all prompts, in the order of the prompts. */
export async function completePrompts<Answer extends Finished>(
  { bodies, echoes, shape }: TextRequest<Answer>,
  asked: AskedModel,
): Promise<CompletionAnswers<Answer>> {
  const all = await askAll(asked, bodies, MAX_CONCURRENT);
  return {
    answers: all.flatMap(({ output, usage }, i) => shape.read(output, usage, echoes[i]!)),
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
export function streamChoices<Answer extends Finished>(
  request: TextRequest<Answer>,
  asked: AskedModel,
  response: Response,
): Promise<ChoiceStream> {
  const { logprobs, num_return_sequences } = request.bodies[0]!['params'] as Record<string, unknown>;
  const canStream =
    request.bodies.length === 1 &&
    !request.isWhole &&
    logprobs === undefined &&
    num_return_sequences === undefined;
  return canStream ? streamAnswer(request, asked, response) : chunkAnswers(request, asked);
}

async function streamAnswer<Answer extends Finished>(
  { bodies, echoes, shape }: TextRequest<Answer>,
  asked: AskedModel,
  response: Response,
): Promise<ChoiceStream> {
  const stream = await streamEvents(response, asked, bodies[0]!);
  let usage: Usage | undefined;
  async function* choices(pieces: AsyncIterable<AnswerPiece>): AsyncGenerator<object> {
    if (shape.begin) yield { index: 0, ...shape.begin() };
    if (echoes[0]) yield { index: 0, ...shape.piece({ text: echoes[0] }) };
    for await (const piece of pieces) {
      if ('usage' in piece) usage = piece.usage;
      else yield { index: 0, ...shape.piece(piece) };
    }
    yield { index: 0, ...shape.end(usage?.finish?.[0] ?? 'stop') };
  }
  return { choices: choices(stream), tokens: () => sumTokens([usage]) };
}

async function chunkAnswers<Answer extends Finished>(
  request: TextRequest<Answer>,
  asked: AskedModel,
): Promise<ChoiceStream> {
  const { answers, tokens } = await completePrompts(request, asked);
  const { shape } = request;
  function* chunks(): Generator<object> {
    for (const [index, answer] of answers.entries()) {
      if (shape.begin) yield { index, ...shape.begin() };
      for (const chunk of shape.chunks(answer)) yield { index, ...chunk };
      yield { index, ...shape.end(answer.finish) };
    }
  }
  return { choices: chunks(), tokens: () => tokens };
}
