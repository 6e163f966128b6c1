import type { Usage } from '../../core/usage.js';
import { askAll, sumTokens } from '../ask.js';
import type { AnswerPiece, AskedModel, TokenCounts } from '../host.js';
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
  asked: AskedModel,
): Promise<CompletionAnswers> {
  const all = await askAll(asked, bodies, MAX_CONCURRENT);
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
export function streamChoices(request: TextRequest, asked: AskedModel): Promise<ChoiceStream> {
  const { logprobs, num_return_sequences } = request.bodies[0]!['params'] as Record<string, unknown>;
  const canStream =
    request.bodies.length === 1 && logprobs === undefined && num_return_sequences === undefined;
  return canStream ? streamAnswer(request, asked) : chunkAnswers(request, asked);
}

async function streamAnswer(
  { bodies, echoes, shape }: TextRequest,
  asked: AskedModel,
): Promise<ChoiceStream> {
  const stream = await asked.stream(bodies[0]!);
  let usage: Usage | undefined;
  async function* choices(pieces: AsyncIterable<AnswerPiece>): AsyncGenerator<object> {
    if (shape.begin) yield { index: 0, ...shape.begin() };
    if (echoes[0]) yield { index: 0, ...shape.piece(echoes[0]) };
    for await (const piece of pieces) {
      if ('text' in piece) yield { index: 0, ...shape.piece(piece.text) };
      else if ('usage' in piece) usage = piece.usage;
    }
    yield { index: 0, ...shape.end(usage?.finish?.[0] ?? 'stop') };
  }
  return { choices: choices(stream), tokens: () => sumTokens([usage]) };
}

async function chunkAnswers(request: TextRequest, asked: AskedModel): Promise<ChoiceStream> {
  const { answers, tokens } = await completePrompts(request, asked);
  const { shape } = request;
  const choices = answers.flatMap(({ text, echo, logprobs, finish }, index) =>
    [...(shape.begin ? [shape.begin()] : []), shape.piece(echo + text, logprobs), shape.end(finish)].map(
      (choice) => ({ index, ...choice }),
    ),
  );
  return { choices, tokens: () => tokens };
}
