import type { Readable } from 'node:stream';
import { RunError } from '../../runtime/core/errors.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import type { Usage } from '../../runtime/core/usage.js';
import type { AnswerPiece, ModelAnswer } from '../../runtime/dialects/host.js';
import { readBody } from '../../runtime/tasks/body.js';
import { TASKS } from '../../runtime/tasks/registry.js';
import { parseNumbers, stringifyNumbers } from '../../runtime/wire/python-numbers.js';
import type { ContainerClient, RunCall } from '../upstream/upstream.js';
import { translateMessages } from './anthropic/messages.js';
import { collectWhole, streamedAnswer, wholeAnswer } from './answer.js';
import { readServerEvents } from './events.js';
import type { RemoteCall, RemoteRequest, RemoteStream, Translate } from './kind.js';
import { translateChat } from './openai/chat.js';
import { translateCompletion } from './openai/completion.js';
import { translateEmbedding } from './openai/embedding.js';
import { askedParams } from './params.js';
import { type Provider, type ProviderAnswer, silence } from './provider.js';
import { parseAnswer, readText } from './read-json.js';
import { requireNoError } from './refusals.js';

const OPENAI: Readonly<Partial<Record<TaskId, Translate>>> = {
  chat: translateChat,
  'image-text-to-text': translateChat,
  'text-generation': translateCompletion,
  'feature-extraction': translateEmbedding,
  'sentence-similarity': translateEmbedding,
};

/**
 * Asks a provider as POST /run of a container would be asked.
 * @param opened is told each connection that an answer comes over, for the end of the call
 */
export function translatingClient(
  provider: Provider,
  task: TaskId,
  opened: (body: Readable) => void,
): ContainerClient {
  const translate = provider.remote.kind === 'anthropic' ? translateMessages : OPENAI[task]!;
  return {
    async run({ body, headers, signal, onUsage }) {
      const call = readCall(provider, task, body);
      const request = await translate(call);
      const isStreamed = request.read === undefined;
      const answer = await provider.ask(
        {
          path: request.path,
          body: stringifyNumbers(request.body),
          headers: { accept: isStreamed ? 'text/event-stream' : 'application/json' },
        },
        signal,
      );
      opened(answer.body);
      const reading: Reading = { provider, answer, signal, onUsage };
      if (!call.stream || !request.stream) return wholeAnswer(await readWhole(request, reading));
      return streamedAnswer({
        form: prefersEvents(headers) ? 'events' : 'text',
        pieces: readPieces(request.stream, reading),
        output: request.stream.output,
      });
    },
  };
}

interface Reading extends Pick<RunCall, 'signal' | 'onUsage'> {
  provider: Provider;
  answer: ProviderAnswer;
}

/** @throws RunError 400 that names what is wrong in the body, or what can't be asked */
function readCall({ modelId, remote }: Provider, task: TaskId, body: Buffer | string): RemoteCall {
  const definition = TASKS[task];
  const text = body.toString();
  const json: unknown = definition.modality === 'messages' ? parseNumbers(text) : JSON.parse(text);
  const { input, stream } = readBody(task, definition, json);
  const { params = {}, ...rest } = input as { params?: Record<string, unknown> };
  return { modelId, task, remote, input: rest, stream, params: askedParams({ modelId, remote }, params) };
}

function prefersEvents({ accept }: Record<string, string>): boolean {
  return accept !== undefined && /\btext\/event-stream\b/i.test(accept);
}

/** A whole answer, also where the provider was asked for a stream. */
async function readWhole({ read, stream }: RemoteRequest, reading: Reading): Promise<ModelAnswer> {
  const { provider, answer } = reading;
  if (!read) return collect(stream!, readPieces(stream!, reading));
  try {
    const json = parseAnswer(await readText(answer.body, provider.modelId), provider.modelId);
    requireNoError(json, provider.modelId);
    const found = read(json);
    answer.attempt.succeeded();
    tellUsage(found.usage, reading);
    return found;
  } catch (error) {
    throw faultOf(error, reading);
  }
}

async function collect(
  { output }: RemoteStream,
  pieces: AsyncGenerator<AnswerPiece, void>,
): Promise<ModelAnswer> {
  const whole = collectWhole();
  let usage: Usage | undefined;
  for await (const piece of pieces) {
    if ('usage' in piece) usage = piece.usage;
    else whole.add(piece);
  }
  return { output: output(whole.all()), usage };
}

/** The pieces of a stream. Where the reader stops before its end, the connection is closed. */
async function* readPieces(stream: RemoteStream, reading: Reading): AsyncGenerator<AnswerPiece, void> {
  const { provider, answer } = reading;
  const { body, attempt } = answer;
  try {
    for await (const piece of stream.pieces(readServerEvents(body, provider.modelId))) {
      attempt.answers();
      if ('usage' in piece) tellUsage(piece.usage, reading);
      yield piece;
    }
    attempt.succeeded();
  } catch (error) {
    throw faultOf(error, reading);
  } finally {
    attempt.abandoned();
    body.destroy();
  }
}

function tellUsage(usage: Usage | undefined, { provider, onUsage }: Reading): void {
  if (usage) onUsage?.(usage);
  else provider.uncounted();
}

/** What the caller gets for an answer that broke off, or can't be read. */
function faultOf(error: unknown, { provider, answer, signal }: Reading): unknown {
  const { modelId, remote } = provider;
  const { attempt, clean } = answer;
  if (error instanceof RunError && error.status < 500) attempt.succeeded();
  else attempt.failed();
  if (signal.aborted) return signal.reason;
  if (error instanceof RunError) {
    const { code, message, cause, retryAfter } = error;
    return new RunError(code, clean(message), { cause, ...(retryAfter === undefined ? {} : { retryAfter }) });
  }
  const silent = silence(modelId, remote, error);
  if (silent.code === 'timeout') return silent;
  // Another message than that of a provider that has not begun, which is asked once more.
  return new RunError('engine_crashed', `the provider of ${modelId} broke off; try again`, { cause: error });
}
